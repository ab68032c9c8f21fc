// Mirrors: aten/src/ATen/native/Distributions.h (standard_gamma_grad_one, dirichlet_grad_one)
//
// The derivatives of gamma and Dirichlet samples by their parameters: the element functions of the CPU and of CUDA.
//
// A sample x of a distribution with the cumulative distribution function F(x; a) and the density f is a differentiable
// function of the parameter a if the quantile F(x; a) is held constant: dx/da = -(dF/da) / f. Neither F nor dF/da has a
// closed form here, so the derivatives are approximations, each with a region of parameters where it is accurate. The
// coefficients of the rational approximations are those of PyTorch. All arithmetic is in double.
#pragma once

#include <ATen/native/InDouble.h>
#include <ATen/native/Math.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native {

// The derivative of the logarithm of the gamma function. At its poles, 0 and the negative integers, the formulas below
// take it for +inf, as PyTorch's do.
C10_HOST_DEVICE inline double digamma_or_pole(double x) {
  return x <= 0 && x == std::floor(x) ? std::numeric_limits<double>::infinity() : calc_digamma(x);
}

// --- the derivative of a gamma sample --------------------------------------------------------------------------------

// x is small: the first terms of the series of the incomplete gamma function, F = x^a / Gamma(a) sum (-x)^i / (i! (a +
// i)).
C10_HOST_DEVICE inline double gamma_grad_series(double alpha, double x) {
  double term = 1, sum = 1 / alpha, sum_of_squares = 1 / (alpha * alpha);
  for (int i = 1; i <= 5; i++) {
    term *= -x / i;
    sum += term / (alpha + i);
    sum_of_squares += term / ((alpha + i) * (alpha + i));
  }
  const double power = std::pow(x, alpha), density = std::pow(x, alpha - 1) * std::exp(-x);
  const double slope = (std::log(x) - digamma_or_pole(alpha)) * power * sum - power * sum_of_squares;
  const double result = -slope / density;
  return std::isnan(result) ? 0 : result;
}

// alpha is large: S. O. Rice's saddle point expansion, with a polynomial where the expansion has its singularity, x =
// alpha.
C10_HOST_DEVICE inline double gamma_grad_saddle_point(double alpha, double x) {
  if (0.9 * alpha <= x && x <= 1.1 * alpha) {
    const double first = 1 + 24 * alpha * (1 + 12 * alpha);
    const double second =
        1440 * (alpha * alpha) + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x);
    return first * second / (1244160 * (alpha * alpha) * (alpha * alpha));
  }
  const double root = std::sqrt(8 * alpha), distance = alpha - x, ratio = std::log(x / alpha);
  const double pole = root / distance, power = std::pow(x - alpha - alpha * ratio, -1.5);
  const double sum =
      ratio * (x < alpha ? pole - power : pole + power) - std::sqrt(2 / alpha) * (alpha + x) / (distance * distance);
  const double stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha));
  return -stirling * x * sum / root;
}

// Elsewhere: the exponential of a rational function of u = log(x / alpha), up to u^2, and of v = log(alpha), up to v^3.
// The first four columns are the numerator's powers of v, the others the denominator's.
C10_HOST_DEVICE inline double gamma_grad_rational(double alpha, double x) {
  static constexpr double kCoefficients[3][8] = {
      {0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084},
      {0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623},
      {0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367,
       -1.5247877e-07},
  };
  const double u = std::log(x / alpha), v = std::log(alpha);
  const auto coefficient = [&](int i) {
    return kCoefficients[0][i] + u * (kCoefficients[1][i] + u * kCoefficients[2][i]);
  };
  const auto cubic = [&](int i) {
    return coefficient(i) + v * (coefficient(i + 1) + v * (coefficient(i + 2) + v * coefficient(i + 3)));
  };
  return std::exp(cubic(0) / cubic(4));
}

C10_HOST_DEVICE inline double gamma_grad(double alpha, double x) {
  if (x < 0.8) {
    return gamma_grad_series(alpha, x);
  }
  return alpha > 8 ? gamma_grad_saddle_point(alpha, x) : gamma_grad_rational(alpha, x);
}

// --- the derivative of a Dirichlet sample ----------------------------------------------------------------------------

// An element of a Dirichlet sample has the beta distribution of alpha and beta = total - alpha. The functions below
// return -(dF/dalpha) / f / (1 - x) for that distribution.

// x is near 0: a series in x, by alpha.
C10_HOST_DEVICE inline double beta_grad_alpha_small(double x, double alpha, double beta) {
  const double factor = digamma_or_pole(alpha) - digamma_or_pole(alpha + beta) - std::log(x);
  double term = 1, series = 1 / alpha * (factor + 1 / alpha);
  for (int i = 1; i <= 10; i++) {
    term *= (i - beta) * x / i;
    series += term / (alpha + i) * (factor + 1 / (alpha + i));
  }
  const double result = x * std::pow(1 - x, -beta) * series;
  return std::isnan(result) ? 0 : result;
}

// x is near 0: the series by the other parameter. For an element near 1, 1 - x is such an x.
C10_HOST_DEVICE inline double beta_grad_beta_small(double x, double alpha, double beta) {
  const double factor = digamma_or_pole(alpha + beta) - digamma_or_pole(beta);
  double term = 1, product = 1, product_slope = 0, series = factor / alpha;
  for (int i = 1; i <= 8; i++) { // product = (beta - 1) ... (beta - i), and its derivative by beta
    term *= -x / i;
    product_slope = product_slope * (beta - i) + product;
    product *= beta - i;
    series += term / (alpha + i) * (product_slope + factor * product);
  }
  const double result = -std::pow(1 - x, 1 - beta) * series;
  return std::isnan(result) ? 0 : result;
}

// Both parameters are large: Rice's saddle point expansion, with a polynomial near its singularity, the mean.
C10_HOST_DEVICE inline double beta_grad_alpha_mid(double x, double alpha, double beta) {
  const double total = alpha + beta, mean = alpha / total;
  const double deviation = std::sqrt(alpha * beta / (total + 1)) / total;
  if (mean - 0.1 * deviation <= x && x <= mean + 0.1 * deviation) {
    const double beta2 = beta * beta;
    double polynomial = 8 * (1 - x) * (135 * beta - 11); // Horner's rule in alpha
    polynomial = (453 + 1620 * beta * (1 - x) - 455 * x) * beta + alpha * polynomial;
    polynomial = 3 * (59 + 180 * beta - 90 * x) * beta2 + alpha * polynomial;
    polynomial = (43 + 20 * (16 + 27 * beta) * x) * beta2 * beta + alpha * polynomial;
    polynomial = 47 * x * beta2 * beta2 + alpha * polynomial;
    const double numerator = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total);
    const double denominator = 12960 * alpha * alpha * alpha * beta2 * (1 + 12 * total);
    return numerator / (1 - x) * polynomial / denominator;
  }
  const auto stirling = [](double z) { return 1 + 1 / (12 * z) + 1 / (288 * z * z); };
  const double distance = alpha * (x - 1) + beta * x; // total (x - mean)
  const double first = (2 * alpha * alpha * (x - 1) + alpha * beta * (x - 1) - x * beta * beta) /
                       (std::sqrt(2 * alpha / beta) * std::pow(total, 1.5) * distance * distance);
  const double pole = std::sqrt(8 * alpha * beta / total) / distance;
  const double power =
      std::pow(beta * std::log(beta / (total * (1 - x))) + alpha * std::log(alpha / (total * x)), -1.5);
  const double second = 0.5 * std::log(alpha / (total * x)) * (pole + (x < mean ? power : -power));
  const double prefactor = -x / std::sqrt(2 * alpha * beta / total);
  return stirling(alpha) * stirling(beta) / stirling(total) * prefactor * (first + second);
}

// Elsewhere: x (digamma_or_pole(total) - digamma_or_pole(alpha)) / beta, times a rational function of u = log(x), a =
// log(alpha) - u and b = log(total) - a. kCoefficients[numerator or denominator][power of u][power of a][power of b].
C10_HOST_DEVICE inline double beta_grad_alpha_rational(double x, double alpha, double total) {
  static constexpr double kCoefficients[2][3][3][4] = {
      {{{1.003668233, -0.01061107488, -0.0657888334, 0.01201642863},
        {0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033},
        {-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013}},
       {{0.221950385, -0.3187676331, 0.01799915743, 0.01074823814},
        {-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057},
        {0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05}},
       {{-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565},
        {0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181},
        {0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05}}},
      {{{1, -0.02924021934, -0.04438342661, 0.007285809825},
        {0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521},
        {-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149}},
       {{0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273},
        {0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956},
        {-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05}},
       {{0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05},
        {0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05},
        {-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06}}},
  };
  const double u = std::log(x), a = std::log(alpha) - u, b = std::log(total) - a;
  const double powers_of_u[] = {1, u, u * u}, powers_of_a[] = {1, a, a * a};
  double sums[2] = {0, 0};
  for (int part = 0; part < 2; part++) {
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        const double* c = kCoefficients[part][i][j];
        sums[part] += powers_of_u[i] * powers_of_a[j] * (c[0] + b * (c[1] + b * (c[2] + b * c[3])));
      }
    }
  }
  const double approximation = x * (digamma_or_pole(total) - digamma_or_pole(alpha)) / (total - alpha);
  return sums[0] / sums[1] * approximation;
}

C10_HOST_DEVICE inline double dirichlet_grad(double x, double alpha, double total) {
  const double beta = total - alpha, boundary = total * x * (1 - x);
  if (x <= 0.5 && boundary < 2.5) {
    return beta_grad_alpha_small(x, alpha, beta);
  }
  if (x >= 0.5 && boundary < 0.75) {
    return -beta_grad_beta_small(1 - x, beta, alpha);
  }
  if (alpha > 6 && beta > 6) {
    return beta_grad_alpha_mid(x, alpha, beta);
  }
  return beta_grad_alpha_rational(x, alpha, total);
}

template <typename scalar_t>
using GammaGradFunctor = InDouble<scalar_t, FloatingTypes, gamma_grad>;
template <typename scalar_t>
using DirichletGradFunctor = InDouble<scalar_t, FloatingTypes, dirichlet_grad>;

} // namespace reftorch::at::native
