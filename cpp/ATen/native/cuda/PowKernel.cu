// Mirrors: aten/src/ATen/native/cuda/PowKernel.cu
#include <ATen/native/Pow.h>
#include <ATen/native/cuda/Loops.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

template <typename scalar_t>
struct PowFunctor {
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_integral_v<scalar_t>) {
      return powi(a, b);
    } else {
      return std::pow(a, b);
    }
  }
};

template <typename scalar_t>
struct PowScalarFunctor {
  using opmath_t = opmath_type<scalar_t>;
  opmath_t exponent;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    if constexpr (std::is_integral_v<scalar_t>) {
      return powi(a, exponent);
    } else { // squares, cubes, roots and reciprocals need no pow()
      return exponent == opmath_t(2)      ? a * a
             : exponent == opmath_t(3)    ? a * a * a
             : exponent == opmath_t(0.5)  ? std::sqrt(a)
             : exponent == opmath_t(-0.5) ? opmath_t(1) / std::sqrt(a)
             : exponent == opmath_t(-1)   ? opmath_t(1) / a
                                          : std::pow(a, exponent);
    }
  }
};

void pow_tensor_tensor_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "pow_cuda", [&] { gpu_kernel<scalar_t>(iter, PowFunctor<scalar_t>()); });
}

void pow_tensor_scalar_kernel_cuda(TensorIterator& iter, const Scalar& exponent) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "pow_cuda", [&] {
    gpu_kernel<scalar_t>(iter, PowScalarFunctor<scalar_t>{exponent.to<opmath_type<scalar_t>>()});
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(pow_tensor_tensor_stub, pow_tensor_tensor_kernel_cuda)
REGISTER_CUDA_DISPATCH(pow_tensor_scalar_stub, pow_tensor_scalar_kernel_cuda)

} // namespace reftorch::at::native
