// Mirrors: aten/src/ATen/native/cuda/UnaryLogKernels.cu, aten/src/ATen/native/cuda/UnaryGeometricAsinKernel.cu and kin
//
// Functions of real numbers from the C library: powers and logarithms of other bases, trigonometric and hyperbolic
// functions, erf.
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

UNARY_FLOAT_KERNEL(exp2, std::exp2(a))
UNARY_FLOAT_KERNEL(log2, std::log2(a))
UNARY_FLOAT_KERNEL(log10, std::log10(a))
UNARY_FLOAT_KERNEL(asin, std::asin(a))
UNARY_FLOAT_KERNEL(acos, std::acos(a))
UNARY_FLOAT_KERNEL(atan, std::atan(a))
UNARY_FLOAT_KERNEL(sinh, std::sinh(a))
UNARY_FLOAT_KERNEL(cosh, std::cosh(a))
UNARY_FLOAT_KERNEL(asinh, std::asinh(a))
UNARY_FLOAT_KERNEL(acosh, std::acosh(a))
UNARY_FLOAT_KERNEL(atanh, std::atanh(a))
UNARY_FLOAT_KERNEL(erf, std::erf(a))
UNARY_FLOAT_KERNEL(erfc, std::erfc(a))

} // namespace reftorch::at::native

#undef UNARY_FLOAT_KERNEL
