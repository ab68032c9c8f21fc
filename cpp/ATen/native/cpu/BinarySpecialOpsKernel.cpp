// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Special functions of two numbers, computed in double for every dtype: the formulas are in native/Math.h and
// MathGamma.h.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/Math.h>
#include <ATen/native/MathGamma.h>
#include <ATen/native/cpu/Loops.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

template <typename Op>
void in_double(TensorIterator& iter, const char* name, const Op& op) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), name, [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [op](opmath_t a, opmath_t b) -> opmath_t {
      return static_cast<opmath_t>(op(static_cast<double>(a), static_cast<double>(b)));
    });
  });
}

void igamma_kernel(TensorIterator& iter) {
  in_double(iter, "igamma", [](double a, double x) { return calc_igamma(a, x, /*upper=*/false); });
}
void igammac_kernel(TensorIterator& iter) {
  in_double(iter, "igammac", [](double a, double x) { return calc_igamma(a, x, /*upper=*/true); });
}

// Only for float and double, as in PyTorch.
void zeta_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES(iter.dtype(), "zeta", [&] {
    cpu_kernel(iter, [](scalar_t s, scalar_t q) { return static_cast<scalar_t>(zeta(s, q)); });
  });
}

// a log(1 + b); where a is zero and b is not NaN, the result is zero.
void xlog1py_kernel(TensorIterator& iter) {
  in_double(iter, "xlog1py_cpu", [](double a, double b) { return a == 0 && b == b ? 0 : a * std::log1p(b); });
}

} // namespace

REGISTER_CPU_DISPATCH(igamma_stub, igamma_kernel)
REGISTER_CPU_DISPATCH(igammac_stub, igammac_kernel)
REGISTER_CPU_DISPATCH(special_zeta_stub, zeta_kernel)
REGISTER_CPU_DISPATCH(special_xlog1py_stub, xlog1py_kernel)

} // namespace reftorch::at::native
