// Mirrors: aten/src/ATen/native/Distributions.h (sample_binomial, sample_gamma), aten/src/ATen/native/Distributions.cpp (sample_poisson)
//
// Draws of distributions that need an unknown number of uniform or normal numbers. The kernels of the CPU and of CUDA
// run these functions; `uniform()` draws a double from [0, 1) and `normal()` a normal number, each from the generator
// of its device.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <cstdint>

namespace reftorch::at::native {

// Requires rate >= 0. For a rate below 10: counts how many uniform numbers can be multiplied before the product falls
// below e^-rate. For a larger rate: W. Hoermann's transformed rejection (PTRS, 1993), whose average number of draws
// does not grow with the rate.
template <typename Uniform>
C10_HOST_DEVICE int64_t sample_poisson(double rate, Uniform& uniform) {
  if (rate == 0) {
    return 0;
  }
  if (rate < 10) {
    const double limit = std::exp(-rate);
    int64_t events = 0;
    for (double product = uniform(); product > limit; product *= uniform()) {
      events++;
    }
    return events;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double log_inverse_alpha = std::log(1.1239 + 1.1328 / (b - 3.4)), v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = uniform() - 0.5, v = uniform(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) {
      return static_cast<int64_t>(k);
    }
    if (k < 0 || (us < 0.013 && v > us)) {
      continue;
    }
    if (std::log(v) + log_inverse_alpha - std::log(a / (us * us) + b) <=
        -rate + k * std::log(rate) - std::lgamma(k + 1)) {
      return static_cast<int64_t>(k);
    }
  }
}

// log(k!) minus Stirling's approximation of log(k!).
C10_HOST_DEVICE inline double stirling_approx_tail(double k) {
  constexpr double kTwoPi = 6.283185307179586;
  return std::lgamma(k + 1) - ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.5 * std::log(kTwoPi));
}

// Requires prob <= 1/2. If few successes are expected, the number of trials until each success is drawn, until all
// trials are used. If many are expected: W. Hoermann's transformed rejection (BTRS, 1993).
template <typename Uniform>
C10_HOST_DEVICE int64_t sample_binomial_of_half(double count, double prob, Uniform& uniform) {
  if (count * prob < 10) {
    int64_t successes = 0;
    for (double tries = 0;; successes++) {
      tries += std::ceil(std::log(uniform()) / std::log1p(-prob));
      if (tries > count) {
        return successes;
      }
    }
  }
  const double deviation = std::sqrt(count * prob * (1 - prob));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * prob, c = count * prob + 0.5;
  const double v_r = 0.92 - 4.2 / b, r = prob / (1 - prob), alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((count + 1) * prob);
  while (true) {
    const double u = uniform() - 0.5, v = uniform(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (k < 0 || k > count) {
      continue;
    }
    if (us >= 0.07 && v <= v_r) {
      return static_cast<int64_t>(k);
    }
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + stirling_approx_tail(m) +
                         stirling_approx_tail(count - m) - stirling_approx_tail(k) - stirling_approx_tail(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) {
      return static_cast<int64_t>(k);
    }
  }
}

template <typename Uniform>
C10_HOST_DEVICE double sample_binomial(double count, double prob, Uniform& uniform) {
  if (count <= 0 || prob <= 0) {
    return 0;
  }
  if (count != count || prob != prob) {
    return count + prob; // NaN
  }
  if (prob >= 1 || std::isinf(count)) {
    return count;
  }
  return prob <= 0.5 ? static_cast<double>(sample_binomial_of_half(count, prob, uniform))
                     : count - static_cast<double>(sample_binomial_of_half(count, 1 - prob, uniform));
}

// G. Marsaglia and W. W. Tsang's method (2000): v is the cube of a shifted normal variable, d v is close to a gamma
// variable, and a uniform number decides whether d v is accepted. The constants are float32, as in PyTorch: the same
// seed then gives the same numbers.
template <typename scalar_t, typename Uniform, typename Normal>
C10_HOST_DEVICE double sample_gamma(scalar_t alpha, Uniform& uniform, Normal& normal) {
  double scale = 1;
  if (alpha < 1) { // a variable of shape alpha + 1, times a power of a uniform number, has shape alpha
    if (alpha == 0) {
      return 0;
    }
    scale = std::pow(1 - uniform(), static_cast<double>(1 / alpha));
    alpha += 1;
  }
  const double d = alpha - 1.0f / 3.0f, c = 1 / std::sqrt(9 * d);
  while (true) {
    double x = 0, y = 0;
    do {
      x = normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - uniform(), xx = x * x;
    if (u < 1 - 0.0331f * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v))) {
      return scale * d * v;
    }
  }
}

} // namespace reftorch::at::native
