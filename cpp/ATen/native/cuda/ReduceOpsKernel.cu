// Mirrors: aten/src/ATen/native/cuda/ReduceSumProdKernel.cu, aten/src/ATen/native/cuda/ReduceLogicKernel.cu, aten/src/ATen/native/cuda/ReduceMomentKernel.cu
//
// Products, all and any, variance. Norms are in ReduceOpsNormKernel.cu.
#include <ATen/native/ReduceOps.h>
#include <ATen/native/cuda/Reduce.cuh>

namespace reftorch::at::native {
namespace {

void prod_kernel_cuda(TensorIterator& iter) {
  if (iter.dtype() == kBool) {
    gpu_reduce_kernel<bool, bool>(iter, AndOps());
    return;
  }
  dispatch<AllNumbers>(iter.dtype(), "prod_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using acc_t = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, scalar_t>;
    gpu_reduce_kernel<scalar_t, scalar_t>(iter, ProdOps<scalar_t, acc_t>());
  });
}

void and_kernel_cuda(TensorIterator& iter) {
  gpu_reduce_kernel<bool, bool>(iter, AndOps());
}

void or_kernel_cuda(TensorIterator& iter) {
  gpu_reduce_kernel<bool, bool>(iter, OrOps());
}

void std_var_kernel_cuda(TensorIterator& iter, double correction, bool take_sqrt) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "std_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_reduce_kernel<scalar_t, scalar_t>(iter, WelfordOps<scalar_t>{correction, take_sqrt});
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(prod_stub, prod_kernel_cuda)
REGISTER_CUDA_DISPATCH(and_stub, and_kernel_cuda)
REGISTER_CUDA_DISPATCH(or_stub, or_kernel_cuda)
REGISTER_CUDA_DISPATCH(std_var_stub, std_var_kernel_cuda)

} // namespace reftorch::at::native
