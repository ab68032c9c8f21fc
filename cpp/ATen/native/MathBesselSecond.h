// Mirrors: aten/src/ATen/native/Math.h (airy_ai_forward, bessel_j0_forward ... scaled_modified_bessel_k1_forward, spherical_bessel_j0_forward)
//
// Bessel functions of real numbers, and the Airy function, which is composed of them. The oscillating functions of
// order 0 and 1 come from the C library; this file adds PyTorch's results at the ends of the domain. K decays like e^-x
// / sqrt(x): for x > 2, sqrt(x) e^x K(x) is a Chebyshev series in 4 / x - 1, whose coefficients were computed to 50
// digits and end where a double has no more digits.
#pragma once

#include <ATen/native/MathBessel.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native {

namespace bessel {
constexpr double kK0Far[] = {
    1.2201515410329777,     -0.031448101311964501,   0.0015698838857300534,  -0.00012849549581627803,
    1.3949813718876499e-5,  -1.8317555227191195e-6,  2.7668136394450151e-7,  -4.6604898976879477e-8,
    8.5740340174142261e-9,  -1.6975345093890615e-9,  3.5773972814003284e-10, -7.957489244477397e-11,
    1.8559491149549266e-11, -4.5145978833745192e-12, 1.1403405882073442e-12, -2.9800969231481784e-13,
    8.0328907750683744e-14, -2.2275133267462964e-14, 6.340076476276646e-15,  -1.8485933779209072e-15,
    5.5120559994043334e-16, -1.6782311257549006e-16, 5.2103917776435541e-17, -1.6475805939842633e-17};
constexpr double kK1Far[] = {
    1.3603130952422213,      0.10392373657681724,    -0.0028578168596227794,  0.00019521551847135163,
    -1.936197974166083e-5,   2.4064849478372171e-6,  -3.5019606030878125e-7,  5.7410841254500493e-8,
    -1.0345762465678097e-8,  2.0150497551970346e-9,  -4.1903547593419256e-10, 9.2183151876053141e-11,
    -2.129967838427791e-11,  5.1396396734823435e-12, -1.2891739609498229e-12, 3.3484196660522431e-13,
    -8.9767051820101461e-14, 2.4771544242195987e-14, -7.0198370892147689e-15, 2.0387031662398609e-15,
    -6.0570472706430178e-16, 1.8380935752430454e-16, -5.6894628491936484e-17, 1.7940510478863573e-17};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
} // namespace bessel

// The limit at infinity is 0, but the result is NaN, as in PyTorch, whose asymptotic formula takes the cosine of
// infinity.
inline double calc_bessel_j0(double x) {
  return std::isinf(x) ? bessel::kNaN : ::j0(x);
}
inline double calc_bessel_j1(double x) {
  return std::isinf(x) ? bessel::kNaN : ::j1(x);
}

// Of the second kind: -infinity at 0, and NaN for x < 0. At infinity the result is NaN for the reason above.
inline double calc_bessel_y0(double x) {
  return x == 0 ? -bessel::kInfinity : x < 0 || std::isinf(x) ? bessel::kNaN : ::y0(x);
}
inline double calc_bessel_y1(double x) {
  return x == 0 ? -bessel::kInfinity : x < 0 || std::isinf(x) ? bessel::kNaN : ::y1(x);
}

// e^x K_order(x). For x > 2, `far` holds the series of sqrt(x) e^x K(x).
template <size_t n>
double scaled_modified_bessel_k(int order, const double (&far)[n], double x) {
  if (x == 0) {
    return bessel::kInfinity;
  }
  if (!(x > 0)) {
    return bessel::kNaN;
  }
  return x <= 2 ? std::exp(x) * std::cyl_bessel_k(order, x) : chebyshev(far, 4 / x - 1) / std::sqrt(x);
}
inline double calc_scaled_modified_bessel_k0(double x) {
  return scaled_modified_bessel_k(0, bessel::kK0Far, x);
}
inline double calc_scaled_modified_bessel_k1(double x) {
  return scaled_modified_bessel_k(1, bessel::kK1Far, x);
}
inline double calc_modified_bessel_k0(double x) {
  return std::exp(-x) * calc_scaled_modified_bessel_k0(x);
}
inline double calc_modified_bessel_k1(double x) {
  return std::exp(-x) * calc_scaled_modified_bessel_k1(x);
}

// sin(x) / x
inline double calc_spherical_bessel_j0(double x) {
  return std::isinf(x) ? 0 : x == 0 ? 1 : std::sin(x) / x;
}

// Ai(x), composed of Bessel functions of order 1/3 at z = 2/3 |x|^(3/2): modified Bessel functions of the second kind
// for x > 0, where Ai decays, and Bessel functions of both kinds for x < 0, where Ai oscillates.
inline double calc_airy_ai(double x) {
  constexpr double at_zero = 0.35502805388781724, slope_at_zero = -0.25881940379280680;
  constexpr double underflows = 103.892, third = 1.0 / 3;
  if (!std::isfinite(x)) {
    return bessel::kNaN;
  }
  if (std::fabs(x) < 1e-8) {
    return at_zero + slope_at_zero * x;
  }
  if (x > underflows) {
    return 0;
  }
  const double root = std::sqrt(std::fabs(x)), z = 2 * third * root * root * root;
  if (x > 0) {
    return root / (M_PI * std::sqrt(3.0)) * std::cyl_bessel_k(third, z);
  }
  return root / 2 * (std::cyl_bessel_j(third, z) - std::cyl_neumann(third, z) / std::sqrt(3.0));
}

} // namespace reftorch::at::native
