// Mirrors: aten/src/ATen/native/cuda/PointwiseOpsKernel.cu, aten/src/ATen/native/cuda/Lerp.cu
#include <ATen/native/Lerp.h>
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

void addcmul_kernel_cuda(TensorIterator& iter, const Scalar& value) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "addcmul_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto factor = value.to<opmath_t>();
    gpu_kernel<scalar_t>(iter, [factor] GPU_LAMBDA(opmath_t self, opmath_t t1, opmath_t t2) -> opmath_t {
      return self + factor * t1 * t2;
    });
  });
}

void addcdiv_kernel_cuda(TensorIterator& iter, const Scalar& value) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "addcdiv_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto factor = value.to<opmath_t>();
    gpu_kernel<scalar_t>(iter, [factor] GPU_LAMBDA(opmath_t self, opmath_t t1, opmath_t t2) -> opmath_t {
      return self + factor * t1 / t2;
    });
  });
}

void lerp_scalar_kernel_cuda(TensorIterator& iter, const Scalar& weight) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "lerp_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto w = weight.to<opmath_t>();
    gpu_kernel<scalar_t>(iter, [w] GPU_LAMBDA(opmath_t self, opmath_t end) -> opmath_t { return lerp(self, end, w); });
  });
}

void lerp_tensor_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "lerp_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t self, opmath_t end, opmath_t weight) -> opmath_t {
      return lerp(self, end, weight);
    });
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(addcmul_stub, addcmul_kernel_cuda)
REGISTER_CUDA_DISPATCH(addcdiv_stub, addcdiv_kernel_cuda)
REGISTER_CUDA_DISPATCH(lerp_kernel_scalar_weight, lerp_scalar_kernel_cuda)
REGISTER_CUDA_DISPATCH(lerp_kernel_tensor_weight, lerp_tensor_kernel_cuda)

} // namespace reftorch::at::native
