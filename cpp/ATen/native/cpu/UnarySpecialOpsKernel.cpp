// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
//
// Special functions. The formulas are in native/Math.h and native/MathBessel.h and are computed in double for every
// dtype, except where only the rounding of the dtype itself decides whether a pole is reached.
#include <ATen/native/Math.h>
#include <ATen/native/MathBessel.h>
#include <ATen/native/MathNormal.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cpu/TwoRungs.h>
#include <ATen/native/cpu/UnaryFloat.h>
#include <ATen/native/cpu/VectorMathWide.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

// The logarithm of x / (1 - x). For a 16-bit float, 1 - x and the quotient are each rounded to 16 bits, as in PyTorch.
template <typename scalar_t>
VECTOR_MATH opmath_type<scalar_t> log_odds(scalar_t x) {
  using opmath_t = opmath_type<scalar_t>;
  const auto rest = static_cast<scalar_t>(opmath_t(1) - opmath_t(x));
  return vec_log(opmath_t(static_cast<scalar_t>(opmath_t(x) / opmath_t(rest))));
}

void logit_kernel(TensorIterator& iter, std::optional<double> eps) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "logit_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    if (eps.value_or(-1) < 0) {
      cpu_kernel<scalar_t>(iter, [](scalar_t x) -> opmath_t { return log_odds(x); });
      return;
    }
    const auto low = static_cast<scalar_t>(static_cast<opmath_t>(*eps));
    const auto high = static_cast<scalar_t>(opmath_t(1) - opmath_t(low));
    cpu_kernel<scalar_t>(iter, [low, high](scalar_t x) -> opmath_t {
      return log_odds(opmath_t(x) < opmath_t(low) ? low : opmath_t(x) > opmath_t(high) ? high : x);
    });
  });
}

// sin(pi a) / (pi a)
void sinc_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "sinc_cpu", [](auto a) {
    const auto x = static_cast<decltype(a)>(M_PI) * a;
    return a == 0 ? decltype(a)(1) : std::sin(x) / x;
  });
}

void erfinv_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "erfinv_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    two_rungs_kernel<scalar_t>(
        iter, [](opmath_t a) { return std::is_same_v<opmath_t, float> || std::fabs(a) <= kLargestErfinv; },
        [](opmath_t a) -> opmath_t { return vec_erfinv(a); },
        [](opmath_t a) -> opmath_t { return static_cast<opmath_t>(calc_erfinv(a)); });
  });
}
void lgamma_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "lgamma_cpu", [](auto a) { return vec_lgamma(a); });
}
void digamma_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "digamma_cpu", [](auto a) { return static_cast<decltype(a)>(calc_digamma(a)); });
}

void polygamma_kernel(TensorIterator& iter, int64_t n) {
  if (n == 0) {
    digamma_kernel(iter);
  } else if (n == 1) {
    unary_float_kernel(iter, "trigamma_cpu", [](auto a) { return trigamma(a); });
  } else {
    unary_float_kernel(iter, "polygamma_cpu", [n](auto a) { return static_cast<decltype(a)>(calc_polygamma(a, n)); });
  }
}

// The logarithm of pi^(p (p - 1) / 4) times the product of Gamma(a - j / 2) for j = 0 ... p - 1.
void mvlgamma_kernel(TensorIterator& iter, int64_t p) {
  const double constant = 0.25 * static_cast<double>(p * (p - 1)) * std::log(M_PI);
  unary_float_kernel(iter, "mvlgamma_cpu", [p, constant](auto a) {
    double sum = constant;
    for (int64_t j = 0; j < p; j++) {
      sum += std::lgamma(a - 0.5 * static_cast<double>(j));
    }
    return static_cast<decltype(a)>(sum);
  });
}

void i0_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "i0_cpu", [](auto a) { return static_cast<decltype(a)>(calc_i0(a)); });
}
void special_i0e_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "i0e_cpu", [](auto a) { return static_cast<decltype(a)>(calc_i0e(a)); });
}
void special_i1_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "i1_cpu", [](auto a) { return static_cast<decltype(a)>(calc_i1(a)); });
}
void special_i1e_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "i1e_cpu", [](auto a) { return static_cast<decltype(a)>(calc_i1e(a)); });
}

// -a log(a)
void special_entr_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "entr_cpu", [](auto a) {
    return a > 0 ? -a * std::log(a) : a == 0 ? a : a < 0 ? -std::numeric_limits<decltype(a)>::infinity() : a;
  });
}
// Only for float and double, as in PyTorch.
template <double (*f)(double)>
void wide_float_kernel(TensorIterator& iter, const char* name) {
  AT_DISPATCH_FLOATING_TYPES(iter.dtype(), name,
                             [&] { cpu_kernel(iter, [](scalar_t a) { return static_cast<scalar_t>(f(a)); }); });
}
void special_erfcx_kernel(TensorIterator& iter) {
  wide_float_kernel<calc_erfcx>(iter, "erfcx_cpu");
}
void special_log_ndtr_kernel(TensorIterator& iter) {
  wide_float_kernel<calc_log_ndtr>(iter, "log_ndtr_cpu");
}
void special_ndtri_kernel(TensorIterator& iter) {
  wide_float_kernel<calc_ndtri>(iter, "ndtri_cpu");
}

} // namespace

REGISTER_CPU_DISPATCH(logit_stub, logit_kernel)
REGISTER_CPU_DISPATCH(sinc_stub, sinc_kernel)
REGISTER_CPU_DISPATCH(erfinv_stub, erfinv_kernel)
REGISTER_CPU_DISPATCH(lgamma_stub, lgamma_kernel)
REGISTER_CPU_DISPATCH(digamma_stub, digamma_kernel)
REGISTER_CPU_DISPATCH(polygamma_stub, polygamma_kernel)
REGISTER_CPU_DISPATCH(mvlgamma_stub, mvlgamma_kernel)
REGISTER_CPU_DISPATCH(i0_stub, i0_kernel)
REGISTER_CPU_DISPATCH(special_i0e_stub, special_i0e_kernel)
REGISTER_CPU_DISPATCH(special_i1_stub, special_i1_kernel)
REGISTER_CPU_DISPATCH(special_i1e_stub, special_i1e_kernel)
REGISTER_CPU_DISPATCH(special_entr_stub, special_entr_kernel)
REGISTER_CPU_DISPATCH(special_erfcx_stub, special_erfcx_kernel)
REGISTER_CPU_DISPATCH(special_log_ndtr_stub, special_log_ndtr_kernel)
REGISTER_CPU_DISPATCH(special_ndtri_stub, special_ndtri_kernel)

} // namespace reftorch::at::native
