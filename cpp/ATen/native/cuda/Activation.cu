// Mirrors: aten/src/ATen/native/cuda/ActivationThresholdKernel.cu, aten/src/ATen/native/cuda/ActivationLeakyReluKernel.cu
//
// The activation functions that networks use most. Left out so far: the others of native/cpu/Activation.cpp and
// ActivationSmooth.cpp.
#include <ATen/native/Activation.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

void relu_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "relu_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t a) -> opmath_t { return a < opmath_t(0) ? opmath_t(0) : a; });
  });
}

void threshold_kernel_cuda(TensorIterator& iter, const Scalar& threshold_scalar, const Scalar& value_scalar) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "threshold_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto threshold = threshold_scalar.to<opmath_t>();
    const auto value = value_scalar.to<opmath_t>();
    gpu_kernel<scalar_t>(iter, [threshold, value] GPU_LAMBDA(opmath_t self, opmath_t other) -> opmath_t {
      return self <= threshold ? value : other;
    });
  });
}

void leaky_relu_kernel_cuda(TensorIterator& iter, const Scalar& negative_slope) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "leaky_relu_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto slope = negative_slope.to<opmath_t>();
    gpu_kernel<scalar_t>(iter, [slope] GPU_LAMBDA(opmath_t x) -> opmath_t { return x > opmath_t(0) ? x : x * slope; });
  });
}

void leaky_relu_backward_kernel_cuda(TensorIterator& iter, const Scalar& negative_slope) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "leaky_relu_backward_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto slope = negative_slope.to<opmath_t>();
    gpu_kernel<scalar_t>(iter, [slope] GPU_LAMBDA(opmath_t x, opmath_t grad) -> opmath_t {
      return x > opmath_t(0) ? grad : grad * slope;
    });
  });
}

void prelu_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "prelu_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(
        iter, [] GPU_LAMBDA(opmath_t x, opmath_t weight) -> opmath_t { return x > opmath_t(0) ? x : weight * x; });
  });
}

void prelu_backward_self_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "prelu_backward_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t x, opmath_t weight, opmath_t grad) -> opmath_t {
      return x > opmath_t(0) ? grad : weight * grad;
    });
  });
}

void prelu_backward_weight_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "prelu_backward_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t x, opmath_t grad) -> opmath_t {
      return x > opmath_t(0) ? opmath_t(0) : x * grad;
    });
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(relu_stub, relu_kernel_cuda)
REGISTER_CUDA_DISPATCH(threshold_stub, threshold_kernel_cuda)
REGISTER_CUDA_DISPATCH(leaky_relu_stub, leaky_relu_kernel_cuda)
REGISTER_CUDA_DISPATCH(leaky_relu_backward_stub, leaky_relu_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(prelu_stub, prelu_kernel_cuda)
REGISTER_CUDA_DISPATCH(prelu_backward_self_stub, prelu_backward_self_kernel_cuda)
REGISTER_CUDA_DISPATCH(prelu_backward_weight_stub, prelu_backward_weight_kernel_cuda)

} // namespace reftorch::at::native
