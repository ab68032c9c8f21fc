// Mirrors: aten/src/ATen/native/cpu/DistributionKernels.cpp, aten/src/ATen/native/Distributions.cpp (sample_poisson), aten/src/ATen/native/cpu/MultinomialKernel.cpp
//
// The less common distributions.
#include <ATen/native/Distributions.h>

#include <ATen/core/DistributionsHelper.h>
#include <ATen/native/cpu/SerialLoop.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace reftorch::at::native {
namespace {

template <typename Distribution>
void draw_floating(TensorIterator& iter, const char* name, CPUGeneratorImpl* generator, const Distribution& draw) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), name, [&] {
    cpu_serial_kernel<scalar_t>(iter, generator, [&] { return static_cast<opmath_type<scalar_t>>(draw(generator)); });
  });
}

void exponential_kernel(TensorIterator& iter, double lambda, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  draw_floating(iter, "exponential_cpu", generator, exponential_distribution{lambda});
}
void cauchy_kernel(TensorIterator& iter, double median, double sigma, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  draw_floating(iter, "cauchy_cpu", generator, cauchy_distribution{median, sigma});
}
void log_normal_kernel(TensorIterator& iter, double mean, double std, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  draw_floating(iter, "log_normal_cpu", generator, lognormal_distribution{mean, std});
}

void geometric_kernel(TensorIterator& iter, double p, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "geometric_cpu", [&] {
    const geometric_distribution draw{p};
    cpu_serial_kernel<scalar_t>(iter, generator, [&] { return static_cast<opmath_type<scalar_t>>(draw(generator)); });
  });
}

// For a rate below 10: counts how many uniform numbers can be multiplied before the product falls below e^-rate. For a
// larger rate: W. Hoermann's transformed rejection (PTRS, 1993), whose average number of draws does not grow with the
// rate.
int64_t sample_poisson(double rate, CPUGeneratorImpl* generator) {
  TORCH_CHECK(rate >= 0, "invalid Poisson rate, expected rate to be non-negative");
  const uniform_real_distribution<double> uniform{0, 1};
  if (rate == 0) {
    return 0;
  }
  if (rate < 10) {
    const double limit = std::exp(-rate);
    int64_t events = 0;
    for (double product = uniform(generator); product > limit; product *= uniform(generator)) {
      events++;
    }
    return events;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double log_inverse_alpha = std::log(1.1239 + 1.1328 / (b - 3.4)), v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = uniform(generator) - 0.5, v = uniform(generator), us = 0.5 - std::fabs(u);
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

void poisson_kernel(TensorIterator& iter, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "poisson_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_serial_unary_kernel<scalar_t, scalar_t>(iter, generator, [&](opmath_t rate) {
      return static_cast<opmath_t>(sample_poisson(static_cast<double>(rate), generator));
    });
  });
}

// log(k!) minus Stirling's approximation of log(k!).
double stirling_approx_tail(double k) {
  return std::lgamma(k + 1) - ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.5 * std::log(2 * M_PI));
}

// Requires prob <= 1/2. If few successes are expected, the number of trials until each success is drawn, until all
// trials are used. If many are expected: W. Hoermann's transformed rejection (BTRS, 1993).
int64_t sample_binomial_of_half(double count, double prob, CPUGeneratorImpl* generator) {
  const uniform_real_distribution<double> uniform{0, 1};
  if (count * prob < 10) {
    int64_t successes = 0;
    for (double tries = 0;; successes++) {
      tries += std::ceil(std::log(uniform(generator)) / std::log1p(-prob));
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
    const double u = uniform(generator) - 0.5, v = uniform(generator), us = 0.5 - std::fabs(u);
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

double sample_binomial(double count, double prob, CPUGeneratorImpl* generator) {
  if (count <= 0 || prob <= 0) {
    return 0;
  }
  if (std::isnan(count) || std::isnan(prob)) {
    return NAN;
  }
  if (prob >= 1 || std::isinf(count)) {
    return count;
  }
  return prob <= 0.5 ? static_cast<double>(sample_binomial_of_half(count, prob, generator))
                     : count - static_cast<double>(sample_binomial_of_half(count, 1 - prob, generator));
}

void binomial_kernel(TensorIterator& iter, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  AT_DISPATCH_FLOATING_TYPES(iter.dtype(), "binomial_cpu", [&] {
    cpu_serial_binary_kernel<scalar_t>(
        iter, generator, [&](scalar_t count, scalar_t prob) { return sample_binomial(count, prob, generator); });
  });
}

// self (rows, categories), result (rows, samples): a draw selects the category in whose step of the cumulative weights
// it falls.
template <typename scalar_t>
void multinomial_with_replacement(const Tensor& result, const Tensor& self, CPUGeneratorImpl* generator) {
  using opmath_t = opmath_type<scalar_t>;
  const int64_t categories = self.sizes()[1], samples = result.sizes()[1];
  const uniform_real_distribution<double> uniform{0, 1};
  std::vector<opmath_t> cumulative(static_cast<size_t>(categories));
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  for (int64_t row = 0; row < self.sizes()[0]; row++) {
    const scalar_t* weights = self.data_ptr<scalar_t>() + row * categories;
    opmath_t sum = 0;
    for (int64_t i = 0; i < categories; i++) {
      const opmath_t weight = weights[i];
      TORCH_CHECK(weight >= 0, "invalid multinomial distribution (encountering probability entry < 0)");
      TORCH_CHECK(std::isfinite(weight),
                  "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
      cumulative[i] = sum += weight;
    }
    TORCH_CHECK(sum > 0, "invalid multinomial distribution (sum of probabilities <= 0)");
    for (opmath_t& value : cumulative) {
      value /= sum;
    }
    cumulative.back() = 1; // exactly 1, which rounding may have missed
    for (int64_t i = 0; i < samples; i++) {
      const auto step = std::lower_bound(cumulative.begin(), cumulative.end(), uniform(generator));
      result.data_ptr<int64_t>()[row * samples + i] = step - cumulative.begin();
    }
  }
}

void multinomial_with_replacement_kernel(const Tensor& result, const Tensor& self, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(self.scalar_type(), "multinomial",
                                         [&] { multinomial_with_replacement<scalar_t>(result, self, generator); });
}

void fastest_kernel(const Tensor& result, const Tensor& speed) {
  const int64_t categories = speed.sizes()[1], n = result.sizes()[1];
  std::vector<std::pair<double, int64_t>> order(static_cast<size_t>(categories));
  const auto faster = [](const auto& a, const auto& b) { return a.first > b.first; };
  for (int64_t row = 0; row < speed.sizes()[0]; row++) {
    const double* speeds = speed.data_ptr<double>() + row * categories;
    for (int64_t i = 0; i < categories; i++) {
      order[i] = {speeds[i], i};
    }
    std::partial_sort(order.begin(), order.begin() + n, order.end(), faster);
    for (int64_t i = 0; i < n; i++) {
      result.data_ptr<int64_t>()[row * n + i] = order[i].second;
    }
  }
}

} // namespace

REGISTER_CPU_DISPATCH(exponential_stub, exponential_kernel)
REGISTER_CPU_DISPATCH(geometric_stub, geometric_kernel)
REGISTER_CPU_DISPATCH(cauchy_stub, cauchy_kernel)
REGISTER_CPU_DISPATCH(log_normal_stub, log_normal_kernel)
REGISTER_CPU_DISPATCH(poisson_stub, poisson_kernel)
REGISTER_CPU_DISPATCH(binomial_stub, binomial_kernel)
REGISTER_CPU_DISPATCH(multinomial_with_replacement_stub, multinomial_with_replacement_kernel)
REGISTER_CPU_DISPATCH(fastest_stub, fastest_kernel)

} // namespace reftorch::at::native
