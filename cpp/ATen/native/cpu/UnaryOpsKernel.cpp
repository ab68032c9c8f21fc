// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
//
// Functions whose result has the dtype of the argument; functions of real numbers are in UnaryOpsFloatKernel.cpp.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/UnaryOpsFunctors.h>
#include <ATen/native/cpu/Loops.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

// frexp has a loop of its own, because it has two outputs and the op of cpu_kernel has one.
void frexp_kernel(TensorIterator& iter) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "frexp_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    iter.for_each([](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
      for (int64_t j = 0; j < size1; j++) {
        for (int64_t i = 0; i < size0; i++) {
          auto at = [&](int k) { return data[k] + j * strides[3 + k] + i * strides[k]; };
          const opmath_type<scalar_t> a = *reinterpret_cast<scalar_t*>(at(2));
          *reinterpret_cast<scalar_t*>(at(0)) = std::frexp(a, reinterpret_cast<int32_t*>(at(1)));
        }
      }
    });
  });
}

} // namespace

REGISTER_CPU_ELEMENTWISE(neg_stub, neg_kernel, NegFunctor, "neg_cpu")
REGISTER_CPU_ELEMENTWISE(abs_stub, abs_kernel, AbsFunctor, "abs_cpu")
REGISTER_CPU_ELEMENTWISE(sign_stub, sign_kernel, SignFunctor, "sign_cpu")
REGISTER_CPU_ELEMENTWISE(bitwise_not_stub, bitwise_not_kernel, BitwiseNotFunctor, "bitwise_not_cpu")
REGISTER_CPU_ELEMENTWISE(logical_not_stub, logical_not_kernel, LogicalNotFunctor, "logical_not_cpu")
REGISTER_CPU_ELEMENTWISE(floor_stub, floor_kernel, FloorFunctor, "floor_vml_cpu")
REGISTER_CPU_ELEMENTWISE(ceil_stub, ceil_kernel, CeilFunctor, "ceil_vml_cpu")
REGISTER_CPU_ELEMENTWISE(round_stub, round_kernel, RoundFunctor, "round_vml_cpu")
REGISTER_CPU_ELEMENTWISE(trunc_stub, trunc_kernel, TruncFunctor, "trunc_vml_cpu")
REGISTER_CPU_ELEMENTWISE(frac_stub, frac_kernel, FracFunctor, "frac_cpu")
REGISTER_CPU_ELEMENTWISE(round_decimals_stub, round_decimals_kernel, RoundDecimalsFunctor, "round_cpu")
REGISTER_CPU_ELEMENTWISE(signbit_stub, signbit_kernel, SignbitFunctor, "signbit_cpu")
REGISTER_CPU_ELEMENTWISE(nan_to_num_stub, nan_to_num_kernel, NanToNumFunctor, "nan_to_num")
REGISTER_CPU_DISPATCH(frexp_stub, frexp_kernel)

} // namespace reftorch::at::native
