// Mirrors: aten/src/ATen/native/cpu/ReduceOpsKernel.cpp
//
// Products, truth values (all, any) and variance. Norms are in ReduceOpsNormKernel.cpp.
#include <ATen/native/ReduceOps.h>
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/cpu/Reduce.h>

namespace reftorch::at::native {
namespace {

void prod_kernel(TensorIterator& iter) {
  if (iter.dtype() == kBool) {
    binary_kernel_reduce<bool, bool>(iter, AndOps());
    return;
  }
  dispatch<AllNumbers>(iter.dtype(), "prod_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using acc_t = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, scalar_t>;
    binary_kernel_reduce<scalar_t, scalar_t>(iter, ProdOps<scalar_t, acc_t>());
  });
}

void and_kernel(TensorIterator& iter) {
  binary_kernel_reduce<bool, bool>(iter, AndOps());
}

void or_kernel(TensorIterator& iter) {
  binary_kernel_reduce<bool, bool>(iter, OrOps());
}

void std_var_kernel(TensorIterator& iter, double correction, bool take_sqrt) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "std_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    binary_kernel_reduce<scalar_t, scalar_t>(iter, WelfordOps<scalar_t>{correction, take_sqrt});
  });
}

} // namespace

REGISTER_CPU_DISPATCH(prod_stub, prod_kernel)
REGISTER_CPU_DISPATCH(and_stub, and_kernel)
REGISTER_CPU_DISPATCH(or_stub, or_kernel)
REGISTER_CPU_DISPATCH(std_var_stub, std_var_kernel)

} // namespace reftorch::at::native
