// Mirrors: aten/src/ATen/native/Math.h (chebyshev_polynomial_t_forward ... shifted_chebyshev_polynomial_w_forward)
//
// Orthogonal polynomials of degree n at x, each computed by the recurrence that gives a degree from the two degrees
// below it. A negative degree or a NaN gives 0; a fractional degree is truncated.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace reftorch::at::native {

// Converts the degree as PyTorch does. A degree of 2^62 or more takes too many steps, so the result is then NaN.
C10_HOST_DEVICE inline int64_t polynomial_degree(double n) {
  return n > -1 ? static_cast<int64_t>(std::fmin(n, 0x1p62)) : -1;
}

// Computes p_n from p_0 = 1 and p_1 = `first` by p_(k+1) = next(k, p_k, p_(k-1)).
template <typename Next>
C10_HOST_DEVICE double polynomial(double first, double degree, const Next& next) {
  const int64_t n = polynomial_degree(degree);
  if (n <= 0) {
    return n < 0 ? 0 : 1;
  }
  if (n == int64_t(1) << 62) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double before = 1, current = first;
  for (int64_t k = 1; k < n && !std::isnan(current); k++) {
    const double after = next(static_cast<double>(k), current, before);
    before = current;
    current = after;
  }
  return current;
}

// The Chebyshev polynomials of four kinds. They share the recurrence p_(k+1) = 2 x p_k - p_(k-1) and differ in p_1. For
// x in (-1, 1) and a degree above kLoopUpTo, each is computed as cosines or sines of multiples of arccos x, which is as
// exact and needs no loop.

constexpr double kLoopUpTo = 8;

C10_HOST_DEVICE inline double chebyshev_recurrence(double x, double first, double n) {
  return polynomial(first, n, [x](double, double p, double before) { return 2 * x * p - before; });
}
C10_HOST_DEVICE inline bool by_angle(double x, double n) {
  return std::fabs(x) < 1 && n > kLoopUpTo && std::isfinite(n);
}

C10_HOST_DEVICE inline double chebyshev_polynomial_t(double x, double n) {
  return by_angle(x, n) ? std::cos(std::trunc(n) * std::acos(x)) : chebyshev_recurrence(x, x, n);
}
C10_HOST_DEVICE inline double chebyshev_polynomial_u(double x, double n) {
  const double angle = std::acos(x);
  return by_angle(x, n) ? std::sin((std::trunc(n) + 1) * angle) / std::sin(angle) : chebyshev_recurrence(x, 2 * x, n);
}
C10_HOST_DEVICE inline double chebyshev_polynomial_v(double x, double n) {
  const double angle = std::acos(x);
  return by_angle(x, n) ? std::cos((std::trunc(n) + 0.5) * angle) / std::cos(angle / 2)
                        : chebyshev_recurrence(x, 2 * x - 1, n);
}
C10_HOST_DEVICE inline double chebyshev_polynomial_w(double x, double n) {
  const double angle = std::acos(x);
  return by_angle(x, n) ? std::sin((std::trunc(n) + 0.5) * angle) / std::sin(angle / 2)
                        : chebyshev_recurrence(x, 2 * x + 1, n);
}

// Shifted polynomials: defined on [0, 1] instead of [-1, 1].
C10_HOST_DEVICE inline double shifted_chebyshev_polynomial_t(double x, double n) {
  return chebyshev_polynomial_t(2 * x - 1, n);
}
C10_HOST_DEVICE inline double shifted_chebyshev_polynomial_u(double x, double n) {
  return chebyshev_polynomial_u(2 * x - 1, n);
}
C10_HOST_DEVICE inline double shifted_chebyshev_polynomial_v(double x, double n) {
  return chebyshev_polynomial_v(2 * x - 1, n);
}
C10_HOST_DEVICE inline double shifted_chebyshev_polynomial_w(double x, double n) {
  return chebyshev_polynomial_w(2 * x - 1, n);
}

// The Hermite polynomials of physics (h) and of probability theory (he), the Laguerre and the Legendre polynomials.

C10_HOST_DEVICE inline double hermite_polynomial_h(double x, double n) {
  return polynomial(2 * x, n, [x](double k, double p, double before) { return 2 * x * p - 2 * k * before; });
}
C10_HOST_DEVICE inline double hermite_polynomial_he(double x, double n) {
  return polynomial(x, n, [x](double k, double p, double before) { return x * p - k * before; });
}
C10_HOST_DEVICE inline double laguerre_polynomial_l(double x, double n) {
  return polynomial(1 - x, n,
                    [x](double k, double p, double before) { return ((2 * k + 1 - x) * p - k * before) / (k + 1); });
}
C10_HOST_DEVICE inline double legendre_polynomial_p(double x, double n) {
  return polynomial(x, n,
                    [x](double k, double p, double before) { return ((2 * k + 1) * x * p - k * before) / (k + 1); });
}

} // namespace reftorch::at::native
