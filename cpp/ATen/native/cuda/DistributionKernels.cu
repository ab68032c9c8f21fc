// Mirrors: aten/src/ATen/native/cuda/DistributionUniform.cu, aten/src/ATen/native/cuda/DistributionNormal.cu, aten/src/ATen/native/cuda/DistributionRandomKernel.cu, aten/src/ATen/native/cuda/DistributionBernoulli.cu, aten/src/ATen/native/cuda/Randperm.cu
//
// Uniform, normal, integer and Bernoulli random numbers, and random permutations.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/native/cuda/DistributionTemplates.cuh>

#include <limits>

namespace reftorch::at::native {
namespace {

template <typename scalar_t>
struct UniformFunctor {
  using opmath_t = opmath_type<scalar_t>;
  opmath_t from, to;
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws) const {
    const PhiloxNumbers r = draws.next();
    const scalar_t value = static_cast<scalar_t>(unit_number<opmath_t>(r, 0) * (to - from) + from);
    return opmath_t(value) == to ? static_cast<scalar_t>(from)
                                 : value; // rounding must not reach `to`, which is excluded
  }
};

template <typename scalar_t>
struct NormalFunctor {
  using opmath_t = opmath_type<scalar_t>;
  opmath_t mean, std_dev;
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws) const {
    return static_cast<scalar_t>(normal_number<opmath_t>(draws.next()) * std_dev + mean);
  }
};

template <typename scalar_t>
struct RandomFunctor {
  uint64_t range;
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws) const {
    const PhiloxNumbers r = draws.next();
    return static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(random64(r, 0) % range));
  }
};

template <typename scalar_t>
struct RandomFromToFunctor {
  uint64_t range;
  int64_t base;
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws) const {
    const PhiloxNumbers r = draws.next();
    const uint64_t drawn = range == 0 ? random64(r, 0) : random64(r, 0) % range; // a range of 0 means all 2^64 numbers
    const auto shifted = static_cast<int64_t>(drawn + static_cast<uint64_t>(base));
    return static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(shifted));
  }
};

template <typename scalar_t>
struct BernoulliScalarFunctor {
  double p;
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws) const {
    const PhiloxNumbers r = draws.next();
    return static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(unit_number<double>(r, 0) < p));
  }
};

void uniform_kernel_cuda(TensorIterator& iter, double from_number, double to_number,
                         const OptionalGenerator& generator) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "uniform_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const auto from = static_cast<opmath_t>(from_number), to = static_cast<opmath_t>(to_number);
    gpu_random_kernel<scalar_t, 1>(iter, generator, 1, UniformFunctor<scalar_t>{from, to});
  });
}

void normal_kernel_cuda(Tensor& self, double mean_number, double std_number, const OptionalGenerator& generator) {
  auto iter = TensorIterator::nullary_op(self);
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "normal_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const auto mean = static_cast<opmath_t>(mean_number), std_dev = static_cast<opmath_t>(std_number);
    gpu_random_kernel<scalar_t, 1>(iter, generator, 1, NormalFunctor<scalar_t>{mean, std_dev});
  });
}

// Draws integers from 0 up to the largest integer to which the dtype holds every integer exactly.
void random_kernel_cuda(TensorIterator& iter, const OptionalGenerator& generator) {
  dispatch<AllTypesAndBool>(iter.dtype(), "random_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using limits = std::numeric_limits<scalar_t>;
    constexpr bool is_float = !std::is_integral_v<scalar_t>;
    const uint64_t range = is_float                         ? (uint64_t(1) << limits::digits) + 1
                           : std::is_same_v<scalar_t, bool> ? 2
                                                            : (uint64_t(1) << limits::digits);
    gpu_random_kernel<scalar_t, 1>(iter, generator, 1, RandomFunctor<scalar_t>{range});
  });
}

void random_from_to_kernel_cuda(TensorIterator& iter, uint64_t range, int64_t base,
                                const OptionalGenerator& generator) {
  dispatch<AllTypesAndBool>(iter.dtype(), "random_from_to_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_random_kernel<scalar_t, 1>(iter, generator, 1, RandomFromToFunctor<scalar_t>{range, base});
  });
}

void bernoulli_scalar_kernel_cuda(TensorIterator& iter, double p, const OptionalGenerator& generator) {
  dispatch<AllTypesAndBool>(iter.dtype(), "bernoulli_scalar_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_random_kernel<scalar_t, 1>(iter, generator, 1, BernoulliScalarFunctor<scalar_t>{p});
  });
}

// Operands: result, p.
template <typename scalar_t, typename p_t>
struct BernoulliTensorFunctor {
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws, const char* p) const {
    const p_t probability = *reinterpret_cast<const p_t*>(p);
    CUDA_KERNEL_ASSERT(probability >= 0 && probability <= 1 && "bernoulli_: expected p to be between 0 and 1");
    return static_cast<scalar_t>(
        static_cast<opmath_type<scalar_t>>(unit_number<double>(draws.next(), 0) < double(probability)));
  }
};

void bernoulli_tensor_kernel_cuda(TensorIterator& iter, const OptionalGenerator& generator) {
  dispatch<AllTypesAndBool>(iter.dtype(), "bernoulli_tensor_cuda_self_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    if (iter.dtype(1) == kDouble) {
      gpu_random_kernel<scalar_t, 2>(iter, generator, 1, BernoulliTensorFunctor<scalar_t, double>());
    } else {
      gpu_random_kernel<scalar_t, 2>(iter, generator, 1, BernoulliTensorFunctor<scalar_t, float>());
    }
  });
}

// Each number gets a random key, and the keys are sorted. Two of n keys of 63 bits are equal with a probability below
// n^2 / 2^64.
void randperm_kernel_cuda(const Tensor& result, int64_t n, const OptionalGenerator& generator) {
  Tensor out = result, keys = detail::empty_generic(n, kLong, result.device());
  auto iter = TensorIterator::nullary_op(keys);
  random_kernel_cuda(iter, generator);
  at::copy_(out, std::get<1>(at::sort(keys)));
}

} // namespace

REGISTER_CUDA_DISPATCH(uniform_stub, uniform_kernel_cuda)
REGISTER_CUDA_DISPATCH(normal_stub, normal_kernel_cuda)
REGISTER_CUDA_DISPATCH(random_stub, random_kernel_cuda)
REGISTER_CUDA_DISPATCH(random_from_to_stub, random_from_to_kernel_cuda)
REGISTER_CUDA_DISPATCH(bernoulli_scalar_stub, bernoulli_scalar_kernel_cuda)
REGISTER_CUDA_DISPATCH(bernoulli_tensor_stub, bernoulli_tensor_kernel_cuda)
REGISTER_CUDA_DISPATCH(randperm_stub, randperm_kernel_cuda)

} // namespace reftorch::at::native
