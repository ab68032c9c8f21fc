// Mirrors: aten/src/ATen/native/cpu/SumKernel.cpp
//
// Sums and means. 16-bit floats are summed in float, integers in int64.
#include <ATen/native/ReduceOps.h>
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/cpu/Reduce.h>

namespace reftorch::at::native {
namespace {

// Sums integers of any width, without a copy in int64.
void sum_integers(TensorIterator& iter) {
  dispatch<IntegralTypesAndBool>(iter.input_dtype(), "sum_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    binary_kernel_reduce<int64_t, scalar_t>(iter, SumOps<int64_t, int64_t>());
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
  dispatch<AllNumbers>(iter.dtype(), "sum_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    binary_kernel_reduce<scalar_t, scalar_t>(iter, SumOps<scalar_t, acc_type<scalar_t>>());
  });
}

// Integers have no NaN.
void nansum_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    return sum_kernel(iter);
  }
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "nansum_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    binary_kernel_reduce<scalar_t, scalar_t>(iter, NanSumOps<scalar_t, acc_type<scalar_t>>());
  });
}

void mean_kernel(TensorIterator& iter) {
  const int64_t count = ReducePlan(iter).num_reduced;
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "mean_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using acc_t = acc_type<scalar_t>;
    binary_kernel_reduce<scalar_t, scalar_t>(iter, MeanOps<scalar_t, acc_t>(static_cast<acc_t>(count)));
  });
}

} // namespace

REGISTER_CPU_DISPATCH(sum_stub, sum_kernel)
REGISTER_CPU_DISPATCH(nansum_stub, nansum_kernel)
REGISTER_CPU_DISPATCH(mean_stub, mean_kernel)

} // namespace reftorch::at::native
