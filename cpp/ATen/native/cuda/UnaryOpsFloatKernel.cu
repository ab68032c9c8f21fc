// Mirrors: aten/src/ATen/native/cuda/UnaryOpsKernel.cu, aten/src/ATen/native/cuda/UnaryGeometricTanhKernel.cu and kin
//
// The functions of real numbers that models use most; the others are in UnaryOpsMathKernel.cu. The iterator has
// converted integers to floats.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

#include <cmath>

// Computes out = formula(a) in opmath_t, which is float for the 16-bit floats.
#define UNARY_FLOAT_KERNEL(name, formula)                                                    \
  static void name##_kernel_cuda(TensorIterator& iter) {                                     \
    AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), #name "_cuda", [&] {                \
      using opmath_t = opmath_type<scalar_t>;                                                \
      gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t a) -> opmath_t { return formula; }); \
    });                                                                                      \
  }                                                                                          \
  REGISTER_CUDA_DISPATCH(name##_stub, name##_kernel_cuda)

namespace reftorch::at::native {

UNARY_FLOAT_KERNEL(sqrt, std::sqrt(a))
UNARY_FLOAT_KERNEL(rsqrt, opmath_t(1) / std::sqrt(a))
UNARY_FLOAT_KERNEL(reciprocal, opmath_t(1) / a)
UNARY_FLOAT_KERNEL(exp, std::exp(a))
UNARY_FLOAT_KERNEL(expm1, std::expm1(a))
UNARY_FLOAT_KERNEL(log, std::log(a))
UNARY_FLOAT_KERNEL(log1p, std::log1p(a))
UNARY_FLOAT_KERNEL(sin, std::sin(a))
UNARY_FLOAT_KERNEL(cos, std::cos(a))
UNARY_FLOAT_KERNEL(tan, std::tan(a))
UNARY_FLOAT_KERNEL(tanh, std::tanh(a))
UNARY_FLOAT_KERNEL(sigmoid, opmath_t(1) / (opmath_t(1) + std::exp(-a)))

} // namespace reftorch::at::native

#undef UNARY_FLOAT_KERNEL
