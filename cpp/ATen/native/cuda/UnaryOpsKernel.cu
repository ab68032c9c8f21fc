// Mirrors: aten/src/ATen/native/cuda/UnarySignKernels.cu, aten/src/ATen/native/cuda/UnaryFractionKernels.cu, aten/src/ATen/native/cuda/AbsKernel.cu
//
// Functions whose result has the dtype of the input. Functions of real numbers are in UnaryOpsFloatKernel.cu.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/UnaryOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

// frexp has a kernel of its own, because it has two outputs and the op of gpu_kernel has one. Operands: mantissa,
// exponent, self.
template <typename scalar_t>
struct FrexpFunctor {
  Operands<3> operands;
  __device__ void operator()(int64_t i) const {
    int64_t places[3];
    operands.offsets(i, places);
    const opmath_type<scalar_t> number = c10::load<scalar_t>(operands.at(2, places[2]));
    int exponent;
    *reinterpret_cast<scalar_t*>(operands.data[0] + places[0]) = static_cast<scalar_t>(std::frexp(number, &exponent));
    *reinterpret_cast<int32_t*>(operands.data[1] + places[1]) = exponent;
  }
};

void frexp_kernel_cuda(TensorIterator& iter) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "frexp_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_for_each(iter.tensor(0).device(), iter.numel(), FrexpFunctor<scalar_t>{Operands<3>(iter)});
  });
}

} // namespace

REGISTER_CUDA_ELEMENTWISE(neg_stub, neg_kernel_cuda, NegFunctor, "neg_cuda")
REGISTER_CUDA_ELEMENTWISE(abs_stub, abs_kernel_cuda, AbsFunctor, "abs_cuda")
REGISTER_CUDA_ELEMENTWISE(sign_stub, sign_kernel_cuda, SignFunctor, "sign_cuda")
REGISTER_CUDA_ELEMENTWISE(bitwise_not_stub, bitwise_not_kernel_cuda, BitwiseNotFunctor, "bitwise_not_cuda")
REGISTER_CUDA_ELEMENTWISE(logical_not_stub, logical_not_kernel_cuda, LogicalNotFunctor, "logical_not_cuda")
REGISTER_CUDA_ELEMENTWISE(floor_stub, floor_kernel_cuda, FloorFunctor, "floor_cuda")
REGISTER_CUDA_ELEMENTWISE(ceil_stub, ceil_kernel_cuda, CeilFunctor, "ceil_cuda")
REGISTER_CUDA_ELEMENTWISE(round_stub, round_kernel_cuda, RoundFunctor, "round_cuda")
REGISTER_CUDA_ELEMENTWISE(trunc_stub, trunc_kernel_cuda, TruncFunctor, "trunc_cuda")
REGISTER_CUDA_ELEMENTWISE(frac_stub, frac_kernel_cuda, FracFunctor, "frac_cuda")
REGISTER_CUDA_ELEMENTWISE(round_decimals_stub, round_decimals_kernel_cuda, RoundDecimalsFunctor, "round_cuda")
REGISTER_CUDA_ELEMENTWISE(signbit_stub, signbit_kernel_cuda, SignbitFunctor, "signbit_cuda")
REGISTER_CUDA_ELEMENTWISE(nan_to_num_stub, nan_to_num_kernel_cuda, NanToNumFunctor, "nan_to_num_cuda")
REGISTER_CUDA_DISPATCH(frexp_stub, frexp_kernel_cuda)

} // namespace reftorch::at::native
