// Mirrors: aten/src/ATen/native/cpu/DistributionKernels.cpp, aten/src/ATen/native/cpu/DistributionTemplates.h
//
// Uniform and normal numbers, integers, Bernoulli. The other distributions are in DistributionsMoreKernel.cpp.
#include <ATen/native/Distributions.h>

#include <ATen/core/DistributionsHelper.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/NormalFill.h>
#include <ATen/native/cpu/SerialLoop.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

// The loops for dense tensors draw the random bits of a block at a time and convert them with vector instructions.
constexpr int64_t kBlock = 512;

TARGET_CLONES static void bits_to_uniform(const uint32_t* bits, float* out, int64_t n, float from, float to) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = std::fma(static_cast<float>(static_cast<int32_t>(bits[i] & 0xffffff)) * 0x1p-24f, to - from, from);
  }
}
TARGET_CLONES static void bits_to_uniform(const uint32_t* bits, double* out, int64_t n, double from, double to) {
  for (int64_t i = 0; i < n; i++) {
    const uint64_t mantissa = ((uint64_t(bits[2 * i]) << 32) | bits[2 * i + 1]) & ((uint64_t(1) << 53) - 1);
    out[i] = std::fma(static_cast<double>(static_cast<int64_t>(mantissa)) * 0x1p-53, to - from, from);
  }
}

template <typename T>
void fill_uniform(T* out, int64_t n, T from, T to, CPUGeneratorImpl* generator) {
  constexpr int64_t words = sizeof(T) / sizeof(uint32_t);
  uint32_t bits[kBlock * words];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    generator->engine_.fill(bits, count * words);
    bits_to_uniform(bits, out + i, count, from, to);
  }
}

template <typename T>
void fill_uniform_dense(TensorIterator& iter, double from, double to, CPUGeneratorImpl* generator) {
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  fill_uniform<T>(static_cast<T*>(iter.data_ptr(0)), iter.numel(), from, to, generator);
}

void uniform_kernel(TensorIterator& iter, double from, double to, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  if (iter.is_contiguous() && iter.dtype() == kFloat) {
    return fill_uniform_dense<float>(iter, from, to, generator);
  }
  if (iter.is_contiguous() && iter.dtype() == kDouble) {
    return fill_uniform_dense<double>(iter, from, to, generator);
  }
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "uniform_kernel_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const uniform_real_distribution<scalar_t> uniform{static_cast<opmath_t>(from), static_cast<opmath_t>(to)};
    cpu_serial_kernel<scalar_t>(iter, generator, [&] { return uniform(generator); });
  });
}

// Note [Two ways to draw normal numbers]
// Problem: PyTorch draws the normal numbers of a dense tensor of 16 or more elements in another way than those of a
// small tensor, and the numbers differ. Programs depend on both. Trick: both ways are implemented here. A large tensor
// is filled with uniform numbers, and then each block of 16 is converted to normal numbers, element j paired with
// element j + 8; if the last block is not full, the last 16 elements are drawn again. A small tensor takes one
// Box-Muller draw in double after another.
template <typename T>
void normal_fill(T* data, int64_t size, T mean, T std, CPUGeneratorImpl* generator) {
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  fill_uniform<T>(data, size, 0, 1, generator);
  normal_fill_blocks(data, size / 16 * 16, mean, std);
  if (size % 16 != 0) {
    data += size - 16;
    fill_uniform<T>(data, 16, 0, 1, generator);
    normal_fill_blocks(data, 16, mean, std);
  }
}

template <typename scalar_t>
void normal_fill_dense(const Tensor& self, double mean, double std, CPUGeneratorImpl* generator) {
  using opmath_t = opmath_type<scalar_t>;
  scalar_t* data = self.data_ptr<scalar_t>();
  if constexpr (std::is_same_v<scalar_t, opmath_t>) {
    normal_fill<scalar_t>(data, self.numel(), mean, std, generator);
  } else {
    // The numbers are drawn as floats and then rounded. PyTorch draws this dtype block by block, so the last block
    // takes the next numbers of the generator.
    float block[16];
    const int64_t size = self.numel();
    for (int64_t i = 0; i < size; i += 16) {
      normal_fill<float>(block, 16, mean, std, generator);
      std::copy(block, block + 16, data + std::min(i, size - 16));
    }
  }
}

void normal_kernel(Tensor& self, double mean, double std, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "normal_kernel_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    if (self.numel() >= 16 && self.is_contiguous()) {
      normal_fill_dense<scalar_t>(self, mean, std, generator);
    } else {
      auto iter = TensorIterator::nullary_op(self);
      const normal_distribution normal{mean, std};
      cpu_serial_kernel<scalar_t>(iter, generator,
                                  [&] { return static_cast<opmath_type<scalar_t>>(normal(generator)); });
    }
  });
}

void random_kernel(TensorIterator& iter, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  dispatch<AllTypesAndBool>(iter.dtype(), "random_kernel_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const uniform_int_distribution<scalar_t> random;
    cpu_serial_kernel<scalar_t>(iter, generator, [&] { return random(generator); });
  });
}

void random_from_to_kernel(TensorIterator& iter, uint64_t range, int64_t base, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  dispatch<AllTypesAndBool>(iter.dtype(), "random_from_to_kernel_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const uniform_int_from_to_distribution random{range, base};
    cpu_serial_kernel<scalar_t>(iter, generator, [&] { return static_cast<opmath_type<scalar_t>>(random(generator)); });
  });
}

template <typename scalar_t>
void bernoulli_dense(TensorIterator& iter, double p, CPUGeneratorImpl* generator) {
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  scalar_t* out = static_cast<scalar_t*>(iter.data_ptr(0));
  double drawn[kBlock];
  for (int64_t begin = 0, n = iter.numel(); begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    fill_uniform<double>(drawn, count, 0, 1, generator);
    for (int64_t i = 0; i < count; i++) {
      out[begin + i] = static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(drawn[i] < p));
    }
  }
}

void bernoulli_scalar_kernel(TensorIterator& iter, double p, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  dispatch<AllTypesAndBool>(iter.dtype(), "bernoulli_scalar_cpu_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    if (iter.is_contiguous()) {
      return bernoulli_dense<scalar_t>(iter, p, generator);
    }
    const bernoulli_distribution<double> bernoulli{p};
    cpu_serial_kernel<scalar_t>(iter, generator,
                                [&] { return static_cast<opmath_type<scalar_t>>(bernoulli(generator)); });
  });
}

template <typename self_t, typename p_t>
void bernoulli_tensor_loop(TensorIterator& iter, CPUGeneratorImpl* generator) {
  cpu_serial_unary_kernel<self_t, p_t>(iter, generator, [&](p_t p) {
    TORCH_CHECK(p_t(0) <= p && p <= p_t(1), "bernoulli_ expects p to be in [0, 1], but got p=", p);
    return static_cast<opmath_type<self_t>>(bernoulli_distribution<p_t>{p}(generator));
  });
}

void bernoulli_tensor_kernel(TensorIterator& iter, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  dispatch<AllTypesAndBool>(iter.dtype(), "bernoulli_tensor_cpu_self_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using self_t = scalar_t;
    dispatch<FloatingTypes>(iter.input_dtype(), "bernoulli_tensor_cpu_p_", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      bernoulli_tensor_loop<self_t, scalar_t>(iter, generator);
    });
  });
}

// The Fisher-Yates shuffle: each position gets one of the numbers that are not yet placed.
template <typename scalar_t>
void randperm_cpu(const Tensor& result, int64_t n, CPUGeneratorImpl* generator) {
  scalar_t* data = result.data_ptr<scalar_t>();
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  for (int64_t i = 0; i < n; i++) {
    data[i] = static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(i));
  }
  const bool small = n < std::numeric_limits<uint32_t>::max() / 20;
  for (int64_t i = 0; i < n - 1; i++) {
    const uint64_t bits = small ? generator->random() : generator->random64();
    std::swap(data[i], data[i + static_cast<int64_t>(bits % static_cast<uint64_t>(n - i))]);
  }
}

void randperm_kernel(const Tensor& result, int64_t n, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  dispatch<AllNumbers>(result.scalar_type(), "randperm", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    randperm_cpu<scalar_t>(result, n, generator);
  });
}

} // namespace

REGISTER_CPU_DISPATCH(uniform_stub, uniform_kernel)
REGISTER_CPU_DISPATCH(normal_stub, normal_kernel)
REGISTER_CPU_DISPATCH(random_stub, random_kernel)
REGISTER_CPU_DISPATCH(random_from_to_stub, random_from_to_kernel)
REGISTER_CPU_DISPATCH(bernoulli_scalar_stub, bernoulli_scalar_kernel)
REGISTER_CPU_DISPATCH(bernoulli_tensor_stub, bernoulli_tensor_kernel)
REGISTER_CPU_DISPATCH(randperm_stub, randperm_kernel)

} // namespace reftorch::at::native
