// Mirrors: aten/src/ATen/native/Math.h
//
// Special functions that the C library lacks: the inverse of erf, the derivatives of log Gamma, the Hurwitz zeta
// function. The folder special/ has further functions: Bessel, incomplete gamma, normal distribution, polynomials.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace reftorch::at::native {

// Returns y with erf(y) = x. The first guess (M. Giles, Approximating the erfinv function, 2010) has seven correct
// digits except very close to -1 and 1; Newton's method then usually takes two steps. For |x| > 1/2 the steps compute
// the error with erfc and 1 - |x|, which is exact, because erf(y) - |x| would lose digits there.
C10_HOST_DEVICE inline double calc_erfinv(double x) {
  const double distance = 1 - std::fabs(x); // the distance to the nearer end, -1 or 1
  if (!(distance > 0)) {
    return distance == 0 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                         : std::numeric_limits<double>::quiet_NaN();
  }
  double w = -std::log(distance * (1 + std::fabs(x))), p;
  if (w < 5) {
    static constexpr double c[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                   -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
    p = 0;
    for (double coefficient : c) {
      p = p * (w - 2.5) + coefficient;
    }
  } else {
    static constexpr double c[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                   -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
    p = 0;
    for (double coefficient : c) {
      p = p * (std::sqrt(w) - 3) + coefficient;
    }
  }
  double y = p * std::fabs(x);
  for (int steps = 0; steps < 20; steps++) {
    const double error = std::fabs(x) > 0.5 ? distance - std::erfc(y) : std::erf(y) - std::fabs(x);
    const double step = error * (0.5 * std::sqrt(M_PI)) * std::exp(y * y); // error / erf'(y)
    y -= step;
    if (std::fabs(step) <= 1e-15 * y) {
      break;
    }
  }
  return std::copysign(y, x);
}

// psi(x) = d/dx log Gamma(x). A negative x is reflected: psi(1 - x) - psi(x) = pi / tan(pi x). A small x is moved up by
// psi(x + 1) = psi(x) + 1/x. For large x the asymptotic series, with coefficients B_2k / 2k, is accurate.
C10_HOST_DEVICE inline double calc_digamma(double x) {
  if (x == 0) {
    return std::copysign(std::numeric_limits<double>::infinity(), -x);
  }
  double result = 0;
  if (x < 0) {
    const double fraction = x - std::trunc(x);
    if (!(fraction != 0)) { // a pole, or x is minus infinity
      return std::numeric_limits<double>::quiet_NaN();
    }
    result = -M_PI / std::tan(M_PI * fraction);
    x = 1 - x;
  }
  for (; x < 10; x += 1) {
    result -= 1 / x;
  }
  const double z = 1 / (x * x);
  const double series =
      z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

// psi'(x), computed in the same three steps as psi.
template <typename T>
C10_HOST_DEVICE T trigamma(T x) {
  T sign = 1, result = 0;
  if (x < T(0.5)) {
    const T sine = std::sin(T(M_PI) * x);
    sign = -1;
    result = -T(M_PI * M_PI) / (sine * sine);
    x = 1 - x;
  }
  for (int i = 0; i < 6; i++, x += 1) {
    result += 1 / (x * x);
  }
  const T z = 1 / (x * x);
  result += (1 + 1 / (2 * x) + z * (T(1) / 6 - z * (T(1) / 30 - z * (T(1) / 42 - z / 30)))) / x;
  return sign * result;
}

// The Hurwitz zeta function zeta(s, q) = sum over k >= 0 of (k + q)^-s, by the Euler-Maclaurin formula: the first terms
// are added one by one; the rest is the integral, half a term, and corrections B_2j / (2j)! s (s + 1) ... (s + 2j - 2)
// w^(-s - 2j + 1).
C10_HOST_DEVICE inline double zeta(double s, double q) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  if (s == 1) {
    return inf;
  }
  if (s < 1 || std::isnan(q)) {
    return nan;
  }
  if (q <= 0) {
    if (q == std::floor(q)) {
      return inf; // a pole
    }
    if (s != std::floor(s)) {
      return nan; // undefined: a power of a negative number
    }
  }
  if (std::isnan(s)) {
    return nan;
  }
  double sum = 0, w = q;
  for (int k = 0; k < 10 || w < 10; k++, w += 1) {
    const double term = std::pow(w, -s);
    sum += term;
    if (std::fabs(term) < std::numeric_limits<double>::epsilon() * std::fabs(sum) && w > 0) {
      return sum;
    }
  }
  const double power = std::pow(w, -s);
  sum += power * w / (s - 1) + 0.5 * power;
  static constexpr double b[] = {1. / 6,  -1. / 30,     1. / 42, -1. / 30,
                                 5. / 66, -691. / 2730, 7. / 6,  -3617. / 510}; // B_2j
  double factor = s / (2 * w) * power; // the factor of B_2j, which is s / 2! times the power at first
  for (int j = 1; j <= 8; j++) {
    sum += b[j - 1] * factor;
    factor *= (s + 2 * j - 1) * (s + 2 * j) / ((2 * j + 1) * (2 * j + 2) * w * w);
  }
  return sum;
}

// The n-th derivative of psi, n >= 2.
C10_HOST_DEVICE inline double calc_polygamma(double x, int64_t n) {
  const double order = static_cast<double>(n);
  return (n % 2 ? 1. : -1.) * std::exp(std::lgamma(order + 1)) * zeta(order + 1, x);
}

// The greatest common divisor, never negative; gcd(0, 0) is 0.
template <typename T>
C10_HOST_DEVICE T calc_gcd(T a, T b) {
  auto magnitude = [](T value) { return std::is_signed_v<T> && value < 0 ? static_cast<T>(T(0) - value) : value; };
  a = magnitude(a);
  b = magnitude(b);
  while (a != 0) {
    const T rest = b % a;
    b = a;
    a = rest;
  }
  return b;
}

} // namespace reftorch::at::native
