// Mirrors: aten/src/ATen/native/cuda/BinaryDivTrueKernel.cu, aten/src/ATen/native/cuda/BinaryDivTruncKernel.cu, aten/src/ATen/native/cuda/BinaryDivFloorKernel.cu, aten/src/ATen/native/cuda/BinaryRemainderKernel.cu
//
// Division: true, rounded toward zero, rounded down, and the remainders of the last two. On a GPU, dividing an integer
// by zero raises no error and its result is undefined; these kernels return a number with all bits set.
#include <ATen/native/BinaryInternal.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

enum class Division { Trunc, Floor, Remainder, Fmod };

// One functor serves all four, so that the kernel is compiled once for each dtype.
template <typename scalar_t>
struct DivisionFunctor {
  using opmath_t = opmath_type<scalar_t>;
  Division division;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_integral_v<scalar_t>) {
      if (b == 0) {
        return static_cast<scalar_t>(~scalar_t(0));
      }
      return division == Division::Trunc       ? div_trunc_integer(a, b)
             : division == Division::Floor     ? div_floor_integer(a, b)
             : division == Division::Remainder ? remainder_integer(a, b)
                                               : fmod_integer(a, b);
    } else {
      if (division == Division::Trunc) {
        const scalar_t quotient = a / b; // rounded to 16 bits first, as in PyTorch: 17.98 becomes 18
        return std::trunc(opmath_t(quotient));
      }
      const opmath_t mod = std::fmod(a, b);
      return division == Division::Floor       ? div_floor_floating(a, b, mod)
             : division == Division::Remainder ? signed_as_divisor(mod, b)
                                               : mod;
    }
  }
};

void division_kernel(TensorIterator& iter, Division division, const char* name) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), name, [&] { gpu_kernel<scalar_t>(iter, DivisionFunctor<scalar_t>{division}); });
}

void div_true_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "div_true_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(iter, [] GPU_LAMBDA(opmath_t a, opmath_t b) -> opmath_t { return a / b; });
  });
}
void div_trunc_kernel_cuda(TensorIterator& iter) {
  division_kernel(iter, Division::Trunc, "div_trunc_cuda");
}
void div_floor_kernel_cuda(TensorIterator& iter) {
  division_kernel(iter, Division::Floor, "div_floor_cuda");
}
void remainder_kernel_cuda(TensorIterator& iter) {
  division_kernel(iter, Division::Remainder, "remainder_cuda");
}
void fmod_kernel_cuda(TensorIterator& iter) {
  division_kernel(iter, Division::Fmod, "fmod_cuda");
}

} // namespace

REGISTER_CUDA_DISPATCH(div_true_stub, div_true_kernel_cuda)
REGISTER_CUDA_DISPATCH(div_trunc_stub, div_trunc_kernel_cuda)
REGISTER_CUDA_DISPATCH(div_floor_stub, div_floor_kernel_cuda)
REGISTER_CUDA_DISPATCH(remainder_stub, remainder_kernel_cuda)
REGISTER_CUDA_DISPATCH(fmod_stub, fmod_kernel_cuda)

} // namespace reftorch::at::native
