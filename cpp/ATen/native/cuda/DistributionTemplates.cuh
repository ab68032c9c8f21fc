// Mirrors: aten/src/ATen/native/cuda/DistributionTemplates.h
//
// Element i of a result is computed from Philox numbers of subsequence i, so the result depends on the state of the
// generator and not on the grid.
#pragma once

#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/native/Distributions.h>
#include <ATen/native/cuda/Loops.cuh>

#include <cmath>
#include <limits>
#include <mutex>

namespace reftorch::at::native {

C10_HOST_DEVICE inline uint64_t random64(const PhiloxNumbers& r, int first) {
  return static_cast<uint64_t>(r.x[first]) << 32 | r.x[first + 1];
}
// Returns a number in [0, 1), a multiple of 2^-digits: it uses as many random bits as the mantissa has.
template <typename T>
C10_HOST_DEVICE T unit_number(const PhiloxNumbers& r, int first) {
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(random64(r, first) >> 11) * 0x1p-53;
  } else {
    return static_cast<float>(r.x[first] >> 8) * 0x1p-24f;
  }
}

// Draws one number after another from a subsequence, for distributions that need an unknown number of them. An op
// reserves kDraws numbers of each subsequence. An element that draws more reads numbers that the next op draws as well.
class PhiloxDraws {
 public:
  C10_HOST_DEVICE PhiloxDraws(PhiloxCudaState state, int64_t subsequence)
      : state_(cuda::philox::unpack(state)), subsequence_(static_cast<uint64_t>(subsequence)) {}

  C10_HOST_DEVICE PhiloxNumbers next() {
    return philox(state_.seed, subsequence_, state_.offset + drawn_++);
  }

 private:
  PhiloxCudaState state_;
  uint64_t subsequence_, drawn_ = 0;
};

// Callables for native/DistributionSamplers.h.
struct UniformDraws {
  PhiloxDraws* draws;
  C10_HOST_DEVICE double operator()() const {
    return unit_number<double>(draws->next(), 0);
  }
};

// Returns a normal number by the Box-Muller method, which makes two of two uniform ones. The second is not used, so
// that each element depends on its own subsequence only.
template <typename T>
C10_HOST_DEVICE T normal_number(const PhiloxNumbers& r) {
  const T radius = std::sqrt(T(-2) * std::log1p(-unit_number<T>(r, 0)));
  return radius * std::cos(T(6.283185307179586) * unit_number<T>(r, 2));
}

struct NormalDraws {
  PhiloxDraws* draws;
  C10_HOST_DEVICE double operator()() const {
    return normal_number<double>(draws->next());
  }
};

// How many Philox numbers an op reserves for each element if it draws an unknown number of them.
constexpr uint64_t kDraws = 1 << 10;

// Returns the state of the generator of a device, and moves the generator on by `draws` numbers of each subsequence.
inline PhiloxCudaState reserve_draws(c10::DeviceIndex device, const OptionalGenerator& generator, uint64_t draws) {
  auto* gen = get_generator_or_default<CUDAGeneratorImpl>(generator, cuda::detail::getDefaultCUDAGenerator(device));
  std::lock_guard<c10::Mutex> lock(gen->mutex_);
  return gen->philox_cuda_state(draws);
}

// element(draws, inputs...) computes an element of the output from those of the inputs.
template <typename scalar_t, int N, typename F>
struct RandomElementFunctor {
  Operands<N> operands;
  PhiloxCudaState state;
  F element;

  __device__ void operator()(int64_t i) const {
    int64_t offsets[N];
    operands.offsets(i, offsets);
    PhiloxDraws draws(state, i);
    auto* out = reinterpret_cast<scalar_t*>(operands.data[0] + offsets[0]);
    if constexpr (N == 1) {
      *out = element(draws);
    } else if constexpr (N == 2) {
      *out = element(draws, operands.at(1, offsets[1]));
    } else {
      *out = element(draws, operands.at(1, offsets[1]), operands.at(2, offsets[2]));
    }
  }
};

// N operands: the output and the inputs, which `element` gets as pointers to their elements.
template <typename scalar_t, int N, typename F>
void gpu_random_kernel(TensorIterator& iter, const OptionalGenerator& generator, uint64_t draws, const F& element) {
  if (iter.numel() == 0) {
    return;
  }
  const c10::Device device = iter.tensor(0).device();
  const PhiloxCudaState state = reserve_draws(device.index(), generator, draws);
  gpu_for_each(device, iter.numel(), RandomElementFunctor<scalar_t, N, F>{Operands<N>(iter), state, element});
}

} // namespace reftorch::at::native
