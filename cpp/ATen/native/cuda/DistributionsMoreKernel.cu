// Mirrors: aten/src/ATen/native/cuda/DistributionExponentialKernel.cu, aten/src/ATen/native/cuda/DistributionCauchyKernel.cu, aten/src/ATen/native/cuda/DistributionGeometricKernel.cu, aten/src/ATen/native/cuda/DistributionLogNormalKernel.cu, aten/src/ATen/native/cuda/Distributions.cu, aten/src/ATen/native/cuda/MultinomialKernel.cu
//
// The less common distributions.
#include <ATen/Functions.h>
#include <ATen/native/DistributionSamplers.h>

#include <ATen/native/cuda/DistributionTemplates.cuh>

namespace reftorch::at::native {
namespace {

// The formulas are those of core/DistributionsHelper.h.
struct Exponential {
  double lambda;
  C10_HOST_DEVICE double operator()(PhiloxDraws& draws) const {
    return -1.0 / lambda * std::log1p(-unit_number<double>(draws.next(), 0));
  }
};
struct Cauchy {
  double median, sigma;
  C10_HOST_DEVICE double operator()(PhiloxDraws& draws) const {
    return median + sigma * std::tan(3.141592653589793 * (unit_number<double>(draws.next(), 0) - 0.5));
  }
};
struct LogNormal {
  double mean, stdv;
  C10_HOST_DEVICE double operator()(PhiloxDraws& draws) const {
    return std::exp(normal_number<double>(draws.next()) * stdv + mean);
  }
};
// The number of trials up to the first success. 1 - u is greater than 0, so its logarithm is finite.
struct Geometric {
  double p;
  C10_HOST_DEVICE double operator()(PhiloxDraws& draws) const {
    const double trials = std::ceil(std::log(1 - unit_number<double>(draws.next(), 0)) / std::log1p(-p));
    return trials < 1 ? 1 : trials;
  }
};

template <typename scalar_t, typename Draw>
struct DrawFunctor {
  Draw draw;
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws) const {
    return static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(draw(draws)));
  }
};

template <typename Draw>
void draw_floating(TensorIterator& iter, const char* name, const OptionalGenerator& generator, const Draw& draw) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_random_kernel<scalar_t, 1>(iter, generator, 1, DrawFunctor<scalar_t, Draw>{draw});
  });
}

void exponential_kernel_cuda(TensorIterator& iter, double lambda, const OptionalGenerator& generator) {
  draw_floating(iter, "exponential_cuda", generator, Exponential{lambda});
}
void cauchy_kernel_cuda(TensorIterator& iter, double median, double sigma, const OptionalGenerator& generator) {
  draw_floating(iter, "cauchy_cuda", generator, Cauchy{median, sigma});
}
void log_normal_kernel_cuda(TensorIterator& iter, double mean, double stdv, const OptionalGenerator& generator) {
  draw_floating(iter, "log_normal_cuda", generator, LogNormal{mean, stdv});
}
void geometric_kernel_cuda(TensorIterator& iter, double p, const OptionalGenerator& generator) {
  dispatch<AllNumbers>(iter.dtype(), "geometric_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_random_kernel<scalar_t, 1>(iter, generator, 1, DrawFunctor<scalar_t, Geometric>{Geometric{p}});
  });
}

// Operands: result, rate.
template <typename scalar_t>
struct PoissonFunctor {
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws, const char* rate) const {
    using opmath_t = opmath_type<scalar_t>;
    const auto number = static_cast<double>(opmath_t(*reinterpret_cast<const scalar_t*>(rate)));
    CUDA_KERNEL_ASSERT(number >= 0 && "invalid Poisson rate, expected rate to be non-negative");
    UniformDraws uniform{&draws};
    return static_cast<scalar_t>(static_cast<opmath_t>(sample_poisson(number, uniform)));
  }
};

void poisson_kernel_cuda(TensorIterator& iter, const OptionalGenerator& generator) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "poisson_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_random_kernel<scalar_t, 2>(iter, generator, kDraws, PoissonFunctor<scalar_t>());
  });
}

// Operands: result, count, prob.
template <typename scalar_t>
struct BinomialFunctor {
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws, const char* count, const char* prob) const {
    UniformDraws uniform{&draws};
    return static_cast<scalar_t>(sample_binomial(double(*reinterpret_cast<const scalar_t*>(count)),
                                                 double(*reinterpret_cast<const scalar_t*>(prob)), uniform));
  }
};

void binomial_kernel_cuda(TensorIterator& iter, const OptionalGenerator& generator) {
  dispatch<FloatingTypes>(iter.dtype(), "binomial_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_random_kernel<scalar_t, 3>(iter, generator, kDraws, BinomialFunctor<scalar_t>());
  });
}

// A draw selects the category in whose step of the cumulative weights it falls.
struct CategoryFunctor {
  int64_t* result;          // (rows, samples)
  const double* cumulative; // (rows, categories)
  int64_t samples, categories;
  PhiloxCudaState state;
  __device__ void operator()(int64_t i) const {
    const double* steps = cumulative + i / samples * categories;
    const double drawn = unit_number<double>(PhiloxDraws(state, i).next(), 0) * steps[categories - 1];
    int64_t low = 0, high = categories - 1;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      (steps[middle] <= drawn ? low : high) = steps[middle] <= drawn ? middle + 1 : middle;
    }
    result[i] = low;
  }
};

// Raises unless each weight is a finite number >= 0 and each row has a positive one.
void check_weights(const Tensor& weights, const Tensor& cumulative) {
  const double least = at::amin(weights, {}).item().toDouble(), most = at::amax(weights, {}).item().toDouble();
  TORCH_CHECK(!(least < 0), "invalid multinomial distribution (encountering probability entry < 0)");
  TORCH_CHECK(std::isfinite(least) && std::isfinite(most),
              "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
  TORCH_CHECK(at::amin(at::select(cumulative, 1, -1), {}).item().toDouble() > 0,
              "invalid multinomial distribution (sum of probabilities <= 0)");
}

void multinomial_with_replacement_kernel_cuda(const Tensor& result, const Tensor& self,
                                              const OptionalGenerator& generator) {
  const Tensor cumulative = at::cumsum(self, 1, kDouble);
  check_weights(self, cumulative);
  const PhiloxCudaState state = reserve_draws(result.device().index(), generator, 1);
  gpu_for_each(
      result.device(), result.numel(),
      CategoryFunctor{result.data_ptr<int64_t>(), cumulative.data_ptr<double>(), result.size(1), self.size(1), state});
}

void fastest_kernel_cuda(const Tensor& result, const Tensor& speed) {
  Tensor out = result;
  at::copy_(out, at::narrow(std::get<1>(at::sort(speed, 1, true)), 1, 0, result.size(1)));
}

} // namespace

REGISTER_CUDA_DISPATCH(exponential_stub, exponential_kernel_cuda)
REGISTER_CUDA_DISPATCH(geometric_stub, geometric_kernel_cuda)
REGISTER_CUDA_DISPATCH(cauchy_stub, cauchy_kernel_cuda)
REGISTER_CUDA_DISPATCH(log_normal_stub, log_normal_kernel_cuda)
REGISTER_CUDA_DISPATCH(poisson_stub, poisson_kernel_cuda)
REGISTER_CUDA_DISPATCH(binomial_stub, binomial_kernel_cuda)
REGISTER_CUDA_DISPATCH(multinomial_with_replacement_stub, multinomial_with_replacement_kernel_cuda)
REGISTER_CUDA_DISPATCH(fastest_stub, fastest_kernel_cuda)

} // namespace reftorch::at::native
