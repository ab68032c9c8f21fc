// Mirrors: aten/src/ATen/core/DistributionsHelper.h, aten/src/ATen/core/TransformationHelper.h
//
// Turns the random bits of a generator into numbers of a distribution. Each draw uses exactly the bits that PyTorch's
// draw uses, so that a seed gives the same numbers. Poisson numbers are drawn in
// native/cpu/DistributionsMoreKernel.cpp. Left out: binomial, gamma and Dirichlet.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Dispatch.h>

#include <cmath>
#include <limits>

namespace reftorch::at {

// Draws from [from, to) in 2^digits steps, that is, with as many random bits as the mantissa has. The 16-bit floats are
// drawn as float and then rounded.
template <typename T>
struct uniform_real_distribution {
  using acc_t = opmath_type<T>;
  acc_t from, to;
  acc_t operator()(CPUGeneratorImpl* generator) const {
    constexpr uint64_t kGrid = uint64_t(1) << std::numeric_limits<acc_t>::digits;
    const uint64_t bits = std::is_same_v<T, double> ? generator->random64() : generator->random();
    const acc_t x = static_cast<acc_t>(bits & (kGrid - 1)) * (acc_t(1) / static_cast<acc_t>(kGrid));
    const acc_t value = std::fma(x, to - from, from); // rounded once, as in PyTorch's build for AVX2
    if constexpr (!std::is_same_v<T, acc_t>) {
      return static_cast<acc_t>(static_cast<T>(value)) == static_cast<acc_t>(static_cast<T>(to))
                 ? from
                 : value; // rounding must not reach `to`, which is excluded
    }
    return value;
  }
};

// Draws a normal number by the Box-Muller method: two uniform numbers give two normal numbers, and the generator keeps
// the second one for the next draw.
struct normal_distribution {
  double mean, stdv;
  double operator()(CPUGeneratorImpl* generator) const {
    if (generator->next_double_normal_sample_.has_value()) {
      const double sample = *generator->next_double_normal_sample_;
      generator->next_double_normal_sample_.reset();
      return std::fma(sample, stdv, mean);
    }
    const uniform_real_distribution<double> uniform{0, 1};
    const double u1 = uniform(generator), u2 = uniform(generator);
    const double r = std::sqrt(-2.0 * std::log1p(-u2)), theta = 2.0 * M_PI * u1;
    generator->next_double_normal_sample_ = r * std::sin(theta);
    return std::fma(r * std::cos(theta), stdv, mean);
  }
};

// The distributions below transform a uniform number that is drawn as double.
struct exponential_distribution {
  double lambda;
  double operator()(CPUGeneratorImpl* generator) const {
    return -1.0 / lambda * std::log1p(-uniform_real_distribution<double>{0, 1}(generator));
  }
};

// Draws the number of trials up to the first success.
struct geometric_distribution {
  double p;
  double operator()(CPUGeneratorImpl* generator) const {
    return std::ceil(std::log(uniform_real_distribution<double>{0, 1}(generator)) / std::log1p(-p));
  }
};

struct cauchy_distribution {
  double median, sigma;
  double operator()(CPUGeneratorImpl* generator) const {
    const double u = uniform_real_distribution<double>{0, 1}(generator);
    return median + sigma * std::tan(M_PI * (u - 0.5));
  }
};

struct lognormal_distribution {
  double mean, stdv;
  double operator()(CPUGeneratorImpl* generator) const {
    return std::exp(normal_distribution{mean, stdv}(generator));
  }
};

template <typename T>
struct bernoulli_distribution {
  T p;
  bool operator()(CPUGeneratorImpl* generator) const {
    return uniform_real_distribution<T>{0, 1}(generator) < p;
  }
};

// Draws from [base, base + range). A range of 0 means all 2^64 numbers.
struct uniform_int_from_to_distribution {
  uint64_t range;
  int64_t base;
  int64_t operator()(CPUGeneratorImpl* generator) const {
    if (range == 0) {
      return static_cast<int64_t>(generator->random64());
    }
    const uint64_t bits = range >= (uint64_t(1) << 28) ? generator->random64() : generator->random();
    return static_cast<int64_t>(bits % range + static_cast<uint64_t>(base));
  }
};

// Draws from 0 up to the largest value of an integer type, and for a float type up to 2^digits, to which the type holds
// every integer exactly.
template <typename T>
struct uniform_int_distribution {
  T operator()(CPUGeneratorImpl* generator) const {
    if constexpr (std::is_same_v<T, bool>) {
      return generator->random() & 1;
    } else if constexpr (std::is_same_v<T, int64_t>) {
      return static_cast<T>(generator->random64() & std::numeric_limits<int64_t>::max());
    } else if constexpr (std::is_same_v<T, double>) {
      return static_cast<T>(generator->random64() % ((uint64_t(1) << 53) + 1));
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(generator->random() % (static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1));
    } else {
      const uint64_t bits = generator->random() % ((uint64_t(1) << std::numeric_limits<T>::digits) + 1);
      return static_cast<T>(static_cast<float>(bits));
    }
  }
};

} // namespace reftorch::at
