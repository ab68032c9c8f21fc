// Mirrors: aten/src/ATen/native/cuda/ReduceSumProdKernel.cu, aten/src/ATen/native/cuda/ReduceMomentKernel.cu
//
// Sums and means. 16-bit floats are summed in float, integers in int64.
#include <ATen/native/ReduceOps.h>
#include <ATen/native/cuda/Reduce.cuh>

namespace reftorch::at::native {
namespace {

void sum_kernel_cuda(TensorIterator& iter) {
  if (iter.dtype() == kBool) {
    gpu_reduce_kernel<bool, bool>(iter, OrOps());
    return;
  }
  if (iter.dtype() == kLong) { // reads integers of any width, so that no wider copy is needed
    dispatch<IntegralTypesAndBool>(iter.input_dtype(), "sum_cuda", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      gpu_reduce_kernel<int64_t, scalar_t>(iter, SumOps<int64_t, int64_t>());
    });
    return;
  }
  dispatch<AllNumbers>(iter.dtype(), "sum_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_reduce_kernel<scalar_t, scalar_t>(iter, SumOps<scalar_t, acc_type<scalar_t>>());
  });
}

void nansum_kernel_cuda(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    return sum_kernel_cuda(iter); // integers have no NaN
  }
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "nansum_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_reduce_kernel<scalar_t, scalar_t>(iter, NanSumOps<scalar_t, acc_type<scalar_t>>());
  });
}

void mean_kernel_cuda(TensorIterator& iter) {
  const int64_t count = ReduceConfig(iter).num_reduced;
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "mean_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using acc_t = acc_type<scalar_t>;
    gpu_reduce_kernel<scalar_t, scalar_t>(iter, MeanOps<scalar_t, acc_t>(static_cast<acc_t>(count)));
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(sum_stub, sum_kernel_cuda)
REGISTER_CUDA_DISPATCH(nansum_stub, nansum_kernel_cuda)
REGISTER_CUDA_DISPATCH(mean_stub, mean_kernel_cuda)

} // namespace reftorch::at::native
