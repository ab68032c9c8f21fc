// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (chebyshev_polynomial_t_kernel, ...)
//
// The formulas are in native/MathPolynomials.h and are computed in double for both dtypes.
#include <ATen/native/MathPolynomials.h>
#include <ATen/native/PolynomialOps.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

// Only for float and double, as in PyTorch.
template <double (*f)(double x, double n)>
void polynomial_kernel(TensorIterator& iter, const char* name) {
  AT_DISPATCH_FLOATING_TYPES(iter.dtype(), name, [&] {
    cpu_kernel(iter, [](scalar_t x, scalar_t n) { return static_cast<scalar_t>(f(x, n)); });
  });
}

// A degree above the limit gives NaN, as in PyTorch: at such degrees the values at most points are outside the range of
// the dtype.
template <double (*f)(double x, double n)>
void hermite_kernel(TensorIterator& iter, const char* name) {
  AT_DISPATCH_FLOATING_TYPES(iter.dtype(), name, [&] {
    constexpr double limit = std::is_same_v<scalar_t, float> ? 128 : 512;
    cpu_kernel(iter, [](scalar_t x, scalar_t n) {
      return n > limit ? std::numeric_limits<scalar_t>::quiet_NaN() : static_cast<scalar_t>(f(x, n));
    });
  });
}

void chebyshev_polynomial_t_kernel(TensorIterator& iter) {
  polynomial_kernel<chebyshev_polynomial_t>(iter, "chebyshev_polynomial_t_cpu");
}
void chebyshev_polynomial_u_kernel(TensorIterator& iter) {
  polynomial_kernel<chebyshev_polynomial_u>(iter, "chebyshev_polynomial_u_cpu");
}
void chebyshev_polynomial_v_kernel(TensorIterator& iter) {
  polynomial_kernel<chebyshev_polynomial_v>(iter, "chebyshev_polynomial_v_cpu");
}
void chebyshev_polynomial_w_kernel(TensorIterator& iter) {
  polynomial_kernel<chebyshev_polynomial_w>(iter, "chebyshev_polynomial_w_cpu");
}
void hermite_polynomial_h_kernel(TensorIterator& iter) {
  hermite_kernel<hermite_polynomial_h>(iter, "hermite_polynomial_h_cpu");
}
void hermite_polynomial_he_kernel(TensorIterator& iter) {
  hermite_kernel<hermite_polynomial_he>(iter, "hermite_polynomial_he_cpu");
}
void laguerre_polynomial_l_kernel(TensorIterator& iter) {
  polynomial_kernel<laguerre_polynomial_l>(iter, "laguerre_polynomial_l_cpu");
}
void legendre_polynomial_p_kernel(TensorIterator& iter) {
  polynomial_kernel<legendre_polynomial_p>(iter, "legendre_polynomial_p_cpu");
}
void shifted_chebyshev_polynomial_t_kernel(TensorIterator& iter) {
  polynomial_kernel<shifted_chebyshev_polynomial_t>(iter, "shifted_chebyshev_polynomial_t_cpu");
}
void shifted_chebyshev_polynomial_u_kernel(TensorIterator& iter) {
  polynomial_kernel<shifted_chebyshev_polynomial_u>(iter, "shifted_chebyshev_polynomial_u_cpu");
}
void shifted_chebyshev_polynomial_v_kernel(TensorIterator& iter) {
  polynomial_kernel<shifted_chebyshev_polynomial_v>(iter, "shifted_chebyshev_polynomial_v_cpu");
}
void shifted_chebyshev_polynomial_w_kernel(TensorIterator& iter) {
  polynomial_kernel<shifted_chebyshev_polynomial_w>(iter, "shifted_chebyshev_polynomial_w_cpu");
}

} // namespace

REGISTER_CPU_DISPATCH(chebyshev_polynomial_t_stub, chebyshev_polynomial_t_kernel)
REGISTER_CPU_DISPATCH(chebyshev_polynomial_u_stub, chebyshev_polynomial_u_kernel)
REGISTER_CPU_DISPATCH(chebyshev_polynomial_v_stub, chebyshev_polynomial_v_kernel)
REGISTER_CPU_DISPATCH(chebyshev_polynomial_w_stub, chebyshev_polynomial_w_kernel)
REGISTER_CPU_DISPATCH(hermite_polynomial_h_stub, hermite_polynomial_h_kernel)
REGISTER_CPU_DISPATCH(hermite_polynomial_he_stub, hermite_polynomial_he_kernel)
REGISTER_CPU_DISPATCH(laguerre_polynomial_l_stub, laguerre_polynomial_l_kernel)
REGISTER_CPU_DISPATCH(legendre_polynomial_p_stub, legendre_polynomial_p_kernel)
REGISTER_CPU_DISPATCH(shifted_chebyshev_polynomial_t_stub, shifted_chebyshev_polynomial_t_kernel)
REGISTER_CPU_DISPATCH(shifted_chebyshev_polynomial_u_stub, shifted_chebyshev_polynomial_u_kernel)
REGISTER_CPU_DISPATCH(shifted_chebyshev_polynomial_v_stub, shifted_chebyshev_polynomial_v_kernel)
REGISTER_CPU_DISPATCH(shifted_chebyshev_polynomial_w_stub, shifted_chebyshev_polynomial_w_kernel)

} // namespace reftorch::at::native
