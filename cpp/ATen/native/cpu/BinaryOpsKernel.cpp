// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Sum, difference, product, maximum and minimum of two numbers. Division is in BinaryOpsDivKernel.cpp, comparisons in
// BinaryLogicOpsCompareKernel.cpp, bits in BinaryLogicOpsKernel.cpp.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/BinaryOpsFunctors.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/WideNumber.h>

namespace reftorch::at::native {
namespace {

// cpu_elementwise<AddFunctor>(iter, "add_cpu", alpha) would do the same; it is written out here once, to be read.
void add_kernel(TensorIterator& iter, const Scalar& alpha) {
  dispatch<AddFunctor<float>::dtypes>(iter.dtype(), "add_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    cpu_kernel<scalar_t>(iter, AddFunctor<scalar_t>(alpha));
  });
}

void mul_kernel(TensorIterator& iter) {
  if (!wide_number_kernel(iter, "mul_cpu_reduced_float", MulFunctor<float>())) {
    cpu_elementwise<MulFunctor>(iter, "mul_cpu");
  }
}

} // namespace

REGISTER_CPU_DISPATCH(add_stub, add_kernel)
REGISTER_CPU_DISPATCH(mul_stub, mul_kernel)
REGISTER_CPU_ELEMENTWISE(maximum_stub, maximum_kernel, MaximumFunctor, "maximum_cpu")
REGISTER_CPU_ELEMENTWISE(minimum_stub, minimum_kernel, MinimumFunctor, "minimum_cpu")
REGISTER_CPU_ELEMENTWISE(sigmoid_backward_stub, sigmoid_backward_kernel, SigmoidBackwardFunctor, "sigmoid_backward_cpu")
REGISTER_CPU_ELEMENTWISE(tanh_backward_stub, tanh_backward_kernel, TanhBackwardFunctor, "tanh_backward_cpu")
REGISTER_CPU_ELEMENTWISE(mse_stub, mse_kernel, MseFunctor, "mse_cpu")

} // namespace reftorch::at::native
