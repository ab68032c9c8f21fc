// Mirrors: aten/src/ATen/native/cuda/ReduceNormKernel.cu
#include <ATen/native/ReduceOps.h>
#include <ATen/native/cuda/Reduce.cuh>

namespace reftorch::at::native {
namespace {

// The usual values of p have their own loops, which do not call pow().
void norm_kernel_cuda(TensorIterator& iter, double p) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "norm_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using acc_t = acc_type<scalar_t>;
    if (p == 0) {
      gpu_reduce_kernel<scalar_t, scalar_t>(iter, NormZeroOps<scalar_t, acc_t>());
    } else if (p == 1) {
      gpu_reduce_kernel<scalar_t, scalar_t>(iter, NormOneOps<scalar_t, acc_t>());
    } else if (p == 2) {
      gpu_reduce_kernel<scalar_t, scalar_t>(iter, NormTwoOps<scalar_t, acc_t>());
    } else if (p == std::numeric_limits<double>::infinity()) {
      gpu_reduce_kernel<scalar_t, scalar_t>(iter, AbsMaxOps<scalar_t, acc_t>());
    } else if (p == -std::numeric_limits<double>::infinity()) {
      gpu_reduce_kernel<scalar_t, scalar_t>(iter, AbsMinOps<scalar_t, acc_t>());
    } else {
      gpu_reduce_kernel<scalar_t, scalar_t>(iter, NormOps<scalar_t, acc_t>(static_cast<acc_t>(p)));
    }
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(norm_stub, norm_kernel_cuda)

} // namespace reftorch::at::native
