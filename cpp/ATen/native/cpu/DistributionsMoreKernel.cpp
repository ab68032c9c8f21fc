// Mirrors: aten/src/ATen/native/cpu/DistributionKernels.cpp, aten/src/ATen/native/cpu/MultinomialKernel.cpp
//
// The less common distributions.
#include <ATen/native/Distributions.h>

#include <ATen/core/DistributionsHelper.h>
#include <ATen/native/DistributionSamplers.h>
#include <ATen/native/cpu/SerialLoop.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace reftorch::at::native {
namespace {

template <typename Distribution>
void draw_floating(TensorIterator& iter, const char* name, CPUGeneratorImpl* generator, const Distribution& draw) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
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
  dispatch<AllNumbers>(iter.dtype(), "geometric_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const geometric_distribution draw{p};
    cpu_serial_kernel<scalar_t>(iter, generator, [&] { return static_cast<opmath_type<scalar_t>>(draw(generator)); });
  });
}

// Draws doubles from [0, 1).
struct Uniform {
  CPUGeneratorImpl* generator;
  double operator()() const {
    return uniform_real_distribution<double>{0, 1}(generator);
  }
};

void poisson_kernel(TensorIterator& iter, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "poisson_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    Uniform uniform{generator};
    cpu_serial_unary_kernel<scalar_t, scalar_t>(iter, generator, [&](opmath_t rate) {
      TORCH_CHECK(rate >= 0, "invalid Poisson rate, expected rate to be non-negative");
      return static_cast<opmath_t>(sample_poisson(static_cast<double>(rate), uniform));
    });
  });
}

void binomial_kernel(TensorIterator& iter, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  dispatch<FloatingTypes>(iter.dtype(), "binomial_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    Uniform uniform{generator};
    cpu_serial_binary_kernel<scalar_t>(
        iter, generator, [&](scalar_t count, scalar_t prob) { return sample_binomial(count, prob, uniform); });
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
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "multinomial", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    multinomial_with_replacement<scalar_t>(result, self, generator);
  });
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
