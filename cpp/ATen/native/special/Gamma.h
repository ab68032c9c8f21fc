// Mirrors: aten/src/ATen/native/Math.h (igamma, igammac)
//
// The regularized incomplete gamma functions: P(a, x) = 1 / Gamma(a) times the integral of t^(a - 1) e^-t from 0 to x,
// and Q = 1 - P. Left out: PyTorch's asymptotic series for large a, which only saves terms.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native {

// x^a e^-x / Gamma(a + 1), the factor that the series and the continued fraction share.
C10_HOST_DEVICE inline double igamma_factor(double a, double x) {
  return std::exp(a * std::log(x) - x - std::lgamma(a + 1));
}

// P where x is not much larger than a: factor * (1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...).
C10_HOST_DEVICE inline double igamma_series(double a, double x) {
  double sum = 1, term = 1;
  for (double n = a + 1; term > std::numeric_limits<double>::epsilon() * sum; n += 1) {
    term *= x / n;
    sum += term;
  }
  return igamma_factor(a, x) * sum;
}

// Q where x is larger than a: a continued fraction, evaluated from the front by Lentz's method.
C10_HOST_DEVICE inline double igammac_continued_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int n = 1; n < 100000; n++) {
    const double numerator = -n * (n - a);
    b += 2;
    d = numerator * d + b;
    d = 1 / (std::fabs(d) < tiny ? tiny : d);
    c = b + numerator / c;
    c = std::fabs(c) < tiny ? tiny : c;
    h *= c * d;
    if (std::fabs(c * d - 1) < std::numeric_limits<double>::epsilon()) {
      break;
    }
  }
  return igamma_factor(a, x) * a * h;
}

// P, or Q if `upper`. The special cases are checked in PyTorch's order: P(0, x) = 1 for x > 0; then P(a, 0) = 0,
// P(inf, x) = 0 and P(a, inf) = 1, also where the other argument is NaN.
C10_HOST_DEVICE inline double regularized_gamma(double a, double x, bool upper) {
  if (x < 0 || a < 0 || (a == 0 && !(x > 0)) || (std::isinf(a) && std::isinf(x))) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (a != 0 && (x == 0 || std::isinf(a))) {
    return upper ? 1 : 0;
  }
  if (a == 0 || std::isinf(x)) {
    return upper ? 0 : 1;
  }
  if (std::isnan(a) || std::isnan(x)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (x < a + 1) {
    const double lower = igamma_series(a, x);
    return upper ? 1 - lower : lower;
  }
  const double rest = igammac_continued_fraction(a, x);
  return upper ? rest : 1 - rest;
}

C10_HOST_DEVICE inline double calc_igamma(double a, double x) {
  return regularized_gamma(a, x, /*upper=*/false);
}
C10_HOST_DEVICE inline double calc_igammac(double a, double x) {
  return regularized_gamma(a, x, /*upper=*/true);
}

} // namespace reftorch::at::native
