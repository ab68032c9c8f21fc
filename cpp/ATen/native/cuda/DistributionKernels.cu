// Mirrors: aten/src/ATen/native/cuda/DistributionUniform.cu, aten/src/ATen/native/cuda/DistributionNormal.cu, aten/src/ATen/native/cuda/DistributionRandomKernel.cu, aten/src/ATen/native/cuda/DistributionBernoulli.cu
//
// Uniform, normal, integer and Bernoulli random numbers. Element i of a result is computed from the four Philox numbers
// of subsequence i, so the result depends on the state of the generator and not on the grid.
#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/native/Distributions.h>
#include <ATen/native/cuda/Loops.cuh>

#include <cmath>
#include <limits>
#include <mutex>

namespace reftorch::at::native {
namespace {

template <typename scalar_t, typename F>
__global__ void distribution_kernel(Operands<1> operands, int64_t n, PhiloxCudaState state, F transform) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    int64_t offset;
    operands.offsets(i, &offset);
    *reinterpret_cast<scalar_t*>(operands.data[0] + offset) = transform(philox(state.seed, i, state.offset));
  }
}

// out[i] = transform(four random numbers)
template <typename scalar_t, typename F>
void fill_random(TensorIterator& iter, const OptionalGenerator& generator, const F& transform) {
  const int64_t n = iter.numel();
  if (n == 0) {
    return;
  }
  const c10::DeviceIndex device = iter.tensor(0).device().index();
  auto* gen = get_generator_or_default<CUDAGeneratorImpl>(generator, cuda::detail::getDefaultCUDAGenerator(device));
  PhiloxCudaState state;
  {
    std::lock_guard<c10::Mutex> lock(gen->mutex_);
    state = gen->philox_cuda_state(1);
  }
  const c10::cuda::CUDAGuard guard(device);
  c10::cuda::launch(distribution_kernel<scalar_t, F>, cuda::grid_size(n, kThreads), kThreads, 0,
                    c10::cuda::getCurrentCUDAStream(), Operands<1>(iter), n, state, transform);
}

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

void uniform_kernel_cuda(TensorIterator& iter, double from_number, double to_number,
                         const OptionalGenerator& generator) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "uniform_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto from = static_cast<opmath_t>(from_number), to = static_cast<opmath_t>(to_number);
    fill_random<scalar_t>(iter, generator, [from, to] GPU_LAMBDA(PhiloxNumbers r) -> scalar_t {
      const scalar_t value = static_cast<scalar_t>(unit_number<opmath_t>(r, 0) * (to - from) + from);
      return opmath_t(value) == to ? static_cast<scalar_t>(from)
                                   : value; // rounding must not reach `to`, which is excluded
    });
  });
}

// The Box-Muller method makes two normal numbers from two uniform ones. The kernel uses only the first, so that each
// element depends on its own subsequence only.
void normal_kernel_cuda(Tensor& self, double mean_number, double std_number, const OptionalGenerator& generator) {
  auto iter = TensorIterator::nullary_op(self);
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "normal_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto mean = static_cast<opmath_t>(mean_number), std_dev = static_cast<opmath_t>(std_number);
    fill_random<scalar_t>(iter, generator, [mean, std_dev] GPU_LAMBDA(PhiloxNumbers r) -> scalar_t {
      const opmath_t radius = std::sqrt(opmath_t(-2) * std::log1p(-unit_number<opmath_t>(r, 0)));
      const opmath_t angle = opmath_t(6.283185307179586) * unit_number<opmath_t>(r, 2);
      return static_cast<scalar_t>(radius * std::cos(angle) * std_dev + mean);
    });
  });
}

// Draws integers from 0 up to the largest integer to which the dtype holds every integer exactly.
void random_kernel_cuda(TensorIterator& iter, const OptionalGenerator& generator) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "random_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    using limits = std::numeric_limits<scalar_t>;
    constexpr bool is_float = !std::is_integral_v<scalar_t>;
    const uint64_t range = is_float                         ? (uint64_t(1) << limits::digits) + 1
                           : std::is_same_v<scalar_t, bool> ? 2
                                                            : (uint64_t(1) << limits::digits);
    fill_random<scalar_t>(iter, generator, [range] GPU_LAMBDA(PhiloxNumbers r) -> scalar_t {
      return static_cast<scalar_t>(static_cast<opmath_t>(random64(r, 0) % range));
    });
  });
}

void random_from_to_kernel_cuda(TensorIterator& iter, uint64_t range, int64_t base,
                                const OptionalGenerator& generator) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "random_from_to_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    fill_random<scalar_t>(iter, generator, [range, base] GPU_LAMBDA(PhiloxNumbers r) -> scalar_t {
      const uint64_t drawn =
          range == 0 ? random64(r, 0) : random64(r, 0) % range; // a range of 0 means all 2^64 numbers
      return static_cast<scalar_t>(static_cast<opmath_t>(static_cast<int64_t>(drawn + static_cast<uint64_t>(base))));
    });
  });
}

void bernoulli_scalar_kernel_cuda(TensorIterator& iter, double p, const OptionalGenerator& generator) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "bernoulli_scalar_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    fill_random<scalar_t>(iter, generator, [p] GPU_LAMBDA(PhiloxNumbers r) -> scalar_t {
      return static_cast<scalar_t>(static_cast<opmath_t>(unit_number<double>(r, 0) < p));
    });
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(uniform_stub, uniform_kernel_cuda)
REGISTER_CUDA_DISPATCH(normal_stub, normal_kernel_cuda)
REGISTER_CUDA_DISPATCH(random_stub, random_kernel_cuda)
REGISTER_CUDA_DISPATCH(random_from_to_stub, random_from_to_kernel_cuda)
REGISTER_CUDA_DISPATCH(bernoulli_scalar_stub, bernoulli_scalar_kernel_cuda)

} // namespace reftorch::at::native
