// Mirrors: aten/src/ATen/native/cuda/BinaryMulKernel.cu, aten/src/ATen/native/cuda/MaxMinElementwiseKernel.cu, aten/src/ATen/native/cuda/BinaryMiscBackwardOpsKernels.cu
//
// Sums, products, maximum and minimum. Division is in BinaryOpsDivKernel.cu, comparisons are in
// BinaryLogicOpsCompareKernel.cu, and bitwise operations in BinaryLogicOpsKernel.cu.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

void add_kernel_cuda(TensorIterator& iter, const Scalar& alpha_scalar) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "add_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const opmath_t alpha = alpha_scalar.to<scalar_t>(); // rounded to 16 bits for a 16-bit float, as in PyTorch
    gpu_kernel<scalar_t>(iter, [alpha] GPU_LAMBDA(opmath_t a, opmath_t b) -> opmath_t { return a + alpha * b; });
  });
}

void mul_kernel_cuda(TensorIterator& iter) {
  if (iter.dtype() == kBool) {
    gpu_kernel(iter, [] GPU_LAMBDA(bool a, bool b) -> bool { return a && b; });
    return;
  }
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "mul_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t a, opmath_t b) -> opmath_t { return a * b; });
  });
}

// NaN is the result if one operand is NaN. `a != a` is true only for NaN.
void maximum_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "max_elementwise_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter,
                         [] GPU_LAMBDA(opmath_t a, opmath_t b) -> opmath_t { return (a > b) | (a != a) ? a : b; });
  });
}

void minimum_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "min_elementwise_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter,
                         [] GPU_LAMBDA(opmath_t a, opmath_t b) -> opmath_t { return (a < b) | (a != a) ? a : b; });
  });
}

void sigmoid_backward_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "sigmoid_backward_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter,
                         [] GPU_LAMBDA(opmath_t grad, opmath_t y) -> opmath_t { return grad * (opmath_t(1) - y) * y; });
  });
}

void tanh_backward_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "tanh_backward_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter,
                         [] GPU_LAMBDA(opmath_t grad, opmath_t y) -> opmath_t { return grad * (opmath_t(1) - y * y); });
  });
}

// (a - b)^2
void mse_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "mse_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t a, opmath_t b) -> opmath_t { return (a - b) * (a - b); });
  });
}

void mse_backward_kernel_cuda(TensorIterator& iter, const Scalar& factor_scalar) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "mse_backward_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto factor = factor_scalar.to<opmath_t>();
    gpu_kernel<scalar_t>(iter, [factor] GPU_LAMBDA(opmath_t self, opmath_t target, opmath_t grad) -> opmath_t {
      return factor * (self - target) * grad;
    });
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(add_stub, add_kernel_cuda)
REGISTER_CUDA_DISPATCH(mul_stub, mul_kernel_cuda)
REGISTER_CUDA_DISPATCH(maximum_stub, maximum_kernel_cuda)
REGISTER_CUDA_DISPATCH(minimum_stub, minimum_kernel_cuda)
REGISTER_CUDA_DISPATCH(sigmoid_backward_stub, sigmoid_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(tanh_backward_stub, tanh_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(mse_stub, mse_kernel_cuda)
REGISTER_CUDA_DISPATCH(mse_backward_stub, mse_backward_kernel_cuda)

} // namespace reftorch::at::native
