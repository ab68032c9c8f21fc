// Mirrors: aten/src/ATen/native/cpu/ReduceOpsKernel.cpp (norm)
#include <ATen/native/ReduceOps.h>
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/cpu/Reduce.h>

namespace reftorch::at::native {
namespace {

// The common values of p have loops of their own, without pow().
void norm_kernel(TensorIterator& iter, double p) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "norm_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using acc_t = acc_type<scalar_t>;
    if (p == 0) {
      binary_kernel_reduce<scalar_t, scalar_t>(iter, NormZeroOps<scalar_t, acc_t>());
    } else if (p == 1) {
      binary_kernel_reduce<scalar_t, scalar_t>(iter, NormOneOps<scalar_t, acc_t>());
    } else if (p == 2) {
      binary_kernel_reduce<scalar_t, scalar_t>(iter, NormTwoOps<scalar_t, acc_t>());
    } else if (p == std::numeric_limits<double>::infinity()) {
      binary_kernel_reduce<scalar_t, scalar_t>(iter, AbsMaxOps<scalar_t, acc_t>());
    } else if (p == -std::numeric_limits<double>::infinity()) {
      binary_kernel_reduce<scalar_t, scalar_t>(iter, AbsMinOps<scalar_t, acc_t>());
    } else {
      binary_kernel_reduce<scalar_t, scalar_t>(iter, NormOps<scalar_t, acc_t>(static_cast<acc_t>(p)));
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(norm_stub, norm_kernel)

} // namespace reftorch::at::native
