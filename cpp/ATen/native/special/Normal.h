// Mirrors: aten/src/ATen/native/Math.h (erfcx, log_ndtr, ndtri)
//
// Functions of the normal distribution that stay accurate where the tail is too small for a double.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native {

// e^(x^2) erfc(x), which decreases only as slowly as 1 / x.
C10_HOST_DEVICE inline double calc_erfcx(double x) {
  if (x < 25) {
    return std::exp(x * x) * std::erfc(x); // infinite below -26.6
  }
  const double s = 1 / (2 * x * x); // the asymptotic series 1 - s + 3 s^2 - 15 s^3 ...
  return (1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s)))) / (x * std::sqrt(M_PI));
}

// The logarithm of the normal distribution function.
C10_HOST_DEVICE inline double calc_log_ndtr(double x) {
  const double t = x * M_SQRT1_2;
  return x < -1 ? std::log(calc_erfcx(-t) / 2) - t * t : std::log1p(-std::erfc(t) / 2);
}

// Returns x with ndtr(x) = p. The first guess (P. Acklam, 2003) has nine correct digits; Halley's method refines it.
C10_HOST_DEVICE inline double calc_ndtri(double p) {
  if (!(p > 0 && p < 1)) {
    const double inf = std::numeric_limits<double>::infinity();
    return p == 0 ? -inf : p == 1 ? inf : std::numeric_limits<double>::quiet_NaN();
  }
  if (p > 0.5) {
    return -calc_ndtri(1 - p);
  }
  double x = 0;
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    x = (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) * q -
           2.549732539343734e+00) *
              q +
          4.374664141464968e+00) *
             q +
         2.938163982698783e+00) /
        ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q +
          3.754408661907416e+00) *
             q +
         1);
  } else {
    const double q = p - 0.5, r = q * q;
    x = (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
           1.383577518672690e+02) *
              r -
          3.066479806614716e+01) *
             r +
         2.506628277459239e+00) *
        q /
        (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
           6.680131188771972e+01) *
              r -
          1.328068155288572e+01) *
             r +
         1);
  }
  for (int steps = 0; steps < 2; steps++) {
    // (ndtr(x) - p) / density(x), written so that no factor underflows.
    const double error = (calc_erfcx(-x * M_SQRT1_2) / 2 - p * std::exp(x * x / 2)) * std::sqrt(2 * M_PI);
    x -= error / (1 + x * error / 2);
  }
  return x;
}

} // namespace reftorch::at::native
