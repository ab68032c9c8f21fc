// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Sum, difference, product, maximum and minimum of two numbers. Division is in BinaryOpsDivKernel.cpp, comparisons in
// BinaryLogicOpsCompareKernel.cpp, bits in BinaryLogicOpsKernel.cpp.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/WideNumber.h>

namespace reftorch::at::native {
namespace {

void add_kernel(TensorIterator& iter, const Scalar& alpha_scalar) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "add_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const opmath_t alpha = alpha_scalar.to<scalar_t>(); // rounded to scalar_t first, as in PyTorch
    cpu_kernel<scalar_t>(iter, [alpha](opmath_t a, opmath_t b) -> opmath_t { return a + alpha * b; });
  });
}

void mul_kernel(TensorIterator& iter) {
  if (iter.dtype() == kBool) {
    cpu_kernel(iter, [](bool a, bool b) -> bool { return a && b; });
    return;
  }
  if (wide_number_kernel(iter, "mul_cpu_reduced_float", [](float a, float b) { return a * b; })) {
    return;
  }
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "mul_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a, opmath_t b) -> opmath_t { return a * b; });
  });
}

// If an operand is NaN, the result is NaN. NaN is the one value that differs from itself.
void maximum_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "maximum_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a, opmath_t b) -> opmath_t { return (a > b) | (a != a) ? a : b; });
  });
}

void minimum_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "minimum_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a, opmath_t b) -> opmath_t { return (a < b) | (a != a) ? a : b; });
  });
}

void sigmoid_backward_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "sigmoid_backward_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t grad, opmath_t y) -> opmath_t { return grad * (opmath_t(1) - y) * y; });
  });
}

void tanh_backward_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "tanh_backward_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t grad, opmath_t y) -> opmath_t { return grad * (opmath_t(1) - y * y); });
  });
}

// (a - b)^2
void mse_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "mse_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a, opmath_t b) -> opmath_t {
      const opmath_t difference = a - b;
      return difference * difference;
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(add_stub, add_kernel)
REGISTER_CPU_DISPATCH(mul_stub, mul_kernel)
REGISTER_CPU_DISPATCH(maximum_stub, maximum_kernel)
REGISTER_CPU_DISPATCH(minimum_stub, minimum_kernel)
REGISTER_CPU_DISPATCH(sigmoid_backward_stub, sigmoid_backward_kernel)
REGISTER_CPU_DISPATCH(tanh_backward_stub, tanh_backward_kernel)
REGISTER_CPU_DISPATCH(mse_stub, mse_kernel)

} // namespace reftorch::at::native
