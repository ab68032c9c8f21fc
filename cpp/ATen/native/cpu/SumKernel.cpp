// Mirrors: aten/src/ATen/native/cpu/SumKernel.cpp
//
// Sums and means. 16-bit floats are summed in float, integers in int64.
#include <ATen/native/ReduceOps.h>
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/cpu/Reduce.h>

namespace reftorch::at::native {
namespace {

// Sums integers of any width, without a copy in int64. A bool is read as the byte 0 or 1.
void sum_integers(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES_AND_BOOL(iter.input_dtype(), "sum_cpu", [&] {
    using in_t = std::conditional_t<std::is_same_v<scalar_t, bool>, uint8_t, scalar_t>;
    binary_kernel_reduce<int64_t, in_t>(iter, SumOps<int64_t, int64_t>());
  });
}

void sum_kernel(TensorIterator& iter) {
  if (iter.dtype() == kBool) {
    binary_kernel_reduce<bool, bool>(iter, OrOps());
    return;
  }
  if (iter.dtype() == kLong) {
    return sum_integers(iter);
  }
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "sum_cpu", [&] {
    binary_kernel_reduce<scalar_t, scalar_t>(iter, SumOps<scalar_t, acc_type<scalar_t>>());
  });
}

// Integers have no NaN.
void nansum_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    return sum_kernel(iter);
  }
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "nansum_cpu", [&] {
    binary_kernel_reduce<scalar_t, scalar_t>(iter, NanSumOps<scalar_t, acc_type<scalar_t>>());
  });
}

void mean_kernel(TensorIterator& iter) {
  const int64_t count = ReducePlan(iter).num_reduced;
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "mean_cpu", [&] {
    using acc_t = acc_type<scalar_t>;
    binary_kernel_reduce<scalar_t, scalar_t>(iter, MeanOps<scalar_t, acc_t>(static_cast<acc_t>(count)));
  });
}

} // namespace

REGISTER_CPU_DISPATCH(sum_stub, sum_kernel)
REGISTER_CPU_DISPATCH(nansum_stub, nansum_kernel)
REGISTER_CPU_DISPATCH(mean_stub, mean_kernel)

} // namespace reftorch::at::native
