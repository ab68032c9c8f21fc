// Mirrors: aten/src/ATen/native/cuda/UnarySignKernels.cu, aten/src/ATen/native/cuda/UnaryFractionKernels.cu, aten/src/ATen/native/cuda/AbsKernel.cu
//
// Functions whose result has the dtype of the input. Functions of real numbers are in UnaryOpsFloatKernel.cu.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

void neg_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "neg_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t a) -> opmath_t { return -a; });
  });
}

void abs_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "abs_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t a) -> opmath_t {
      if constexpr (std::is_floating_point_v<opmath_t>) {
        return std::fabs(a); // a comparison would keep the sign of -0
      } else {
        return a < 0 ? -a : a;
      }
    });
  });
}

// Returns -1, 0 or 1, and 0 for NaN.
void sign_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "sign_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t a) -> opmath_t { return (opmath_t(0) < a) - (a < opmath_t(0)); });
  });
}

void bitwise_not_kernel_cuda(TensorIterator& iter) {
  if (iter.dtype() == kBool) {
    gpu_kernel(iter, [] GPU_LAMBDA(bool a) -> bool { return !a; });
    return;
  }
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "bitwise_not_cuda",
                             [&] { gpu_kernel(iter, [] GPU_LAMBDA(scalar_t a) -> scalar_t { return ~a; }); });
}

void logical_not_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.input_dtype(), "logical_not_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t a) -> bool { return a == opmath_t(0); });
  });
}

enum class Rounding { Floor, Ceil, Round, Trunc, Frac };

template <typename opmath_t>
struct RoundingFunctor {
  Rounding rounding;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    switch (rounding) {
      case Rounding::Floor: return std::floor(a);
      case Rounding::Ceil: return std::ceil(a);
      case Rounding::Round: return std::nearbyint(a); // a number half way between two integers goes to the even one
      case Rounding::Trunc: return std::trunc(a);
      default: return a - std::trunc(a);
    }
  }
};

template <Rounding rounding>
void rounding_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "rounding_cuda", [&] {
    gpu_kernel<scalar_t>(iter, RoundingFunctor<opmath_type<scalar_t>>{rounding});
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(neg_stub, neg_kernel_cuda)
REGISTER_CUDA_DISPATCH(abs_stub, abs_kernel_cuda)
REGISTER_CUDA_DISPATCH(sign_stub, sign_kernel_cuda)
REGISTER_CUDA_DISPATCH(bitwise_not_stub, bitwise_not_kernel_cuda)
REGISTER_CUDA_DISPATCH(logical_not_stub, logical_not_kernel_cuda)
REGISTER_CUDA_DISPATCH(floor_stub, rounding_kernel_cuda<Rounding::Floor>)
REGISTER_CUDA_DISPATCH(ceil_stub, rounding_kernel_cuda<Rounding::Ceil>)
REGISTER_CUDA_DISPATCH(round_stub, rounding_kernel_cuda<Rounding::Round>)
REGISTER_CUDA_DISPATCH(trunc_stub, rounding_kernel_cuda<Rounding::Trunc>)
REGISTER_CUDA_DISPATCH(frac_stub, rounding_kernel_cuda<Rounding::Frac>)

} // namespace reftorch::at::native
