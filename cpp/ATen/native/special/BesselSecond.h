// Mirrors: aten/src/ATen/native/Math.h (airy_ai_forward, bessel_j0_forward ... scaled_modified_bessel_k1_forward, spherical_bessel_j0_forward)
//
// Bessel functions of real numbers, and the Airy function. The oscillating functions of order 0 and 1 come from the C
// library, and on a GPU from CUDA's; this file adds PyTorch's results at the ends of the domain. K and the Airy
// function are series. The coefficients of the Chebyshev series were computed to 50 digits, and the series end where a
// double has no more digits.
#pragma once

#include <ATen/native/special/Bessel.h>
#include <c10/macros/Macros.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native {

namespace bessel {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kEuler = 0.57721566490153286;
constexpr int kTerms = 14; // of a power series in x^2 / 4 <= 1
} // namespace bessel

// The limit at infinity is 0, but the result is NaN, as in PyTorch, whose asymptotic formula takes the cosine of
// infinity.
C10_HOST_DEVICE inline double calc_bessel_j0(double x) {
  return std::isinf(x) ? bessel::kNaN : ::j0(x);
}
C10_HOST_DEVICE inline double calc_bessel_j1(double x) {
  return std::isinf(x) ? bessel::kNaN : ::j1(x);
}

// The functions of the second kind return -infinity at 0 and NaN for x < 0. At infinity they return NaN, like j0 above.
C10_HOST_DEVICE inline double calc_bessel_y0(double x) {
  return x == 0 ? -bessel::kInfinity : x < 0 || std::isinf(x) ? bessel::kNaN : ::y0(x);
}
C10_HOST_DEVICE inline double calc_bessel_y1(double x) {
  return x == 0 ? -bessel::kInfinity : x < 0 || std::isinf(x) ? bessel::kNaN : ::y1(x);
}

// K_0(x) for 0 < x <= 2: a power series in q = x^2 / 4. `harmonic` is 1 + 1/2 + ... + 1/k minus Euler's constant.
C10_HOST_DEVICE inline double modified_bessel_k0_series(double x) {
  const double q = x * x / 4, logarithm = std::log(x / 2);
  double term = 1, harmonic = -bessel::kEuler, sum = harmonic - logarithm;
  for (int k = 1; k <= bessel::kTerms; k++) {
    term *= q / (k * k); // q^k / (k!)^2
    harmonic += 1. / k;
    sum += term * (harmonic - logarithm);
  }
  return sum;
}

// K_1(x) for 0 < x <= 2: 1 / x, and a series like the one above. `harmonic` is the mean of its values for k and k + 1.
C10_HOST_DEVICE inline double modified_bessel_k1_series(double x) {
  const double q = x * x / 4, logarithm = std::log(x / 2);
  double term = x / 2, harmonic = 0.5 - bessel::kEuler, sum = term * (logarithm - harmonic);
  for (int k = 1; k <= bessel::kTerms; k++) {
    term *= q / (k * (k + 1)); // x / 2 q^k / (k! (k + 1)!)
    harmonic += 0.5 / k + 0.5 / (k + 1);
    sum += term * (logarithm - harmonic);
  }
  return 1 / x + sum;
}

// e^x K(x). K decays like e^-x / sqrt(x): for x > 2, sqrt(x) e^x K(x) is a Chebyshev series in 4 / x - 1.
C10_HOST_DEVICE inline double calc_scaled_modified_bessel_k0(double x) {
  static constexpr double far[] = {
      1.2201515410329777,     -0.031448101311964501,   0.0015698838857300534,  -0.00012849549581627803,
      1.3949813718876499e-5,  -1.8317555227191195e-6,  2.7668136394450151e-7,  -4.6604898976879477e-8,
      8.5740340174142261e-9,  -1.6975345093890615e-9,  3.5773972814003284e-10, -7.957489244477397e-11,
      1.8559491149549266e-11, -4.5145978833745192e-12, 1.1403405882073442e-12, -2.9800969231481784e-13,
      8.0328907750683744e-14, -2.2275133267462964e-14, 6.340076476276646e-15,  -1.8485933779209072e-15,
      5.5120559994043334e-16, -1.6782311257549006e-16, 5.2103917776435541e-17, -1.6475805939842633e-17};
  if (!(x > 0)) {
    return x == 0 ? bessel::kInfinity : bessel::kNaN;
  }
  return x <= 2 ? std::exp(x) * modified_bessel_k0_series(x) : chebyshev(far, 4 / x - 1) / std::sqrt(x);
}
C10_HOST_DEVICE inline double calc_scaled_modified_bessel_k1(double x) {
  static constexpr double far[] = {
      1.3603130952422213,      0.10392373657681724,    -0.0028578168596227794,  0.00019521551847135163,
      -1.936197974166083e-5,   2.4064849478372171e-6,  -3.5019606030878125e-7,  5.7410841254500493e-8,
      -1.0345762465678097e-8,  2.0150497551970346e-9,  -4.1903547593419256e-10, 9.2183151876053141e-11,
      -2.129967838427791e-11,  5.1396396734823435e-12, -1.2891739609498229e-12, 3.3484196660522431e-13,
      -8.9767051820101461e-14, 2.4771544242195987e-14, -7.0198370892147689e-15, 2.0387031662398609e-15,
      -6.0570472706430178e-16, 1.8380935752430454e-16, -5.6894628491936484e-17, 1.7940510478863573e-17};
  if (!(x > 0)) {
    return x == 0 ? bessel::kInfinity : bessel::kNaN;
  }
  return x <= 2 ? std::exp(x) * modified_bessel_k1_series(x) : chebyshev(far, 4 / x - 1) / std::sqrt(x);
}
C10_HOST_DEVICE inline double calc_modified_bessel_k0(double x) {
  return std::exp(-x) * calc_scaled_modified_bessel_k0(x);
}
C10_HOST_DEVICE inline double calc_modified_bessel_k1(double x) {
  return std::exp(-x) * calc_scaled_modified_bessel_k1(x);
}

// sin(x) / x
C10_HOST_DEVICE inline double calc_spherical_bessel_j0(double x) {
  return std::isinf(x) ? 0 : x == 0 ? 1 : std::sin(x) / x;
}

// The Airy function Ai(x). From -5 to 2, Ai is a Chebyshev series in x. For x > 2, where Ai decays, x^(1/4)
// e^z Ai(x) with z = 2/3 |x|^(3/2) is a Chebyshev series in 1 / z. For x < -5, where Ai oscillates, |x|^(1/4) Ai(x) is
// a sum of the cosine and the sine of z - pi / 4, whose factors are series in 1 / z^2.
C10_HOST_DEVICE inline double calc_airy_ai(double x) {
  static constexpr double near[] = {
      0.15168947628223672,     -0.005228692408472365,   -0.0071830075633421232,  -0.27500858251700784,
      0.15267285652736612,     0.11299722901833571,     -0.12930163519980793,    0.021717950423082667,
      0.024911850702736413,    -0.01433585742189573,    0.00069668945163959804,  0.001974398933529019,
      -0.00072303939722521993, -1.6112414526177466e-5,  8.1332736732499393e-5,   -2.0775365813975461e-5,
      -1.6054762687164758e-6,  2.0560158255601388e-6,   -3.825520517284178e-7,   -4.9138705961841781e-8,
      3.5141686420518919e-8,   -4.8463850108604963e-9,  -8.897812059422213e-10,  4.3297862486488076e-10,
      -4.4147455974393014e-11, -1.1096862995764342e-11, 4.0248320287978321e-12,  -2.9609936249846452e-13,
      -1.0257635127287476e-13, 2.920579876829024e-14,   -1.4619955511486231e-15, -7.3550505309176696e-16,
      1.6986548408182805e-16,  -5.0563208224652942e-18, -4.2234448483626644e-18};
  static constexpr double far[] = {
      0.27769560951170592,    -0.0041729675620459231,  0.00020669586013998012, -1.7280997841068206e-5,
      1.928052166797157e-6,   -2.6057743987762617e-7,  4.051516883512395e-8,   -7.0222404409862229e-9,
      1.3286081997701028e-9,  -2.7035580371292888e-10, 5.8522977828389983e-11, -1.3363584416519756e-11,
      3.1978547149289155e-12, -7.9768135595596025e-13, 2.0651347541109666e-13, -5.5289997821597799e-14,
      1.5261656190101811e-14, -4.3319793049558053e-15, 1.2616239319898748e-15, -3.7626070399357593e-16,
      1.1471616156264617e-16, -3.5701443651092083e-17, 1.1326462271400219e-17, -3.658761589006902e-18};
  static constexpr double cosine[] = {0.56400472206110485,     -0.00018367099145583688, 1.1677286575962032e-6,
                                      -2.1952400817017601e-8,  7.6989081774844808e-10,  -4.0991552108139972e-11,
                                      2.9533494631685906e-12,  -2.6797140097018199e-13, 2.918076618447258e-14,
                                      -3.6862597535091349e-15, 5.2691211497585313e-16,  -8.3631686686835159e-17,
                                      1.4525618473220514e-17,  -2.7289534540480614e-18};
  static constexpr double sine[] = {0.038994121266567941,   -0.00018342143931847842, 2.2262795400006554e-6,
                                    -6.0307865841936788e-8, 2.7082988459751482e-9,   -1.7315580405277182e-10,
                                    1.4396760940194539e-11, -1.467799418542445e-12,  1.7623403021316232e-13,
                                    -2.420556771671147e-14, 3.7217954039295803e-15,  -6.3010566705086125e-16,
                                    1.159485768746588e-16,  -2.2951263908877243e-17};
  constexpr double underflows = 103.892;
  if (!std::isfinite(x)) {
    return bessel::kNaN;
  }
  if (x > underflows) {
    return 0;
  }
  if (-5 <= x && x <= 2) {
    return chebyshev(near, (x + 1.5) / 3.5);
  }
  const double a = std::fabs(x), root = std::sqrt(a), z = 2 * a * root / 3;
  if (x > 0) {
    const double ratio = 2 / a;
    return std::exp(-z) / std::sqrt(root) * chebyshev(far, 2 * ratio * std::sqrt(ratio) - 1);
  }
  const double ratio = 5 / a, t = 2 * ratio * ratio * ratio - 1, angle = z - M_PI_4;
  return (chebyshev(cosine, t) * std::cos(angle) + chebyshev(sine, t) / z * std::sin(angle)) / std::sqrt(root);
}

} // namespace reftorch::at::native
