// Mirrors: aten/src/ATen/native/cpu/DistributionKernels.cpp, aten/src/ATen/native/cpu/DistributionTemplates.h
#include <ATen/native/Distributions.h>

#include <ATen/core/DistributionsHelper.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/NormalFill.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

// One draw after the other: the order is part of the result.
template <typename scalar_t, typename F>
void cpu_serial_kernel(TensorIterator& iter, GeneratorImpl* generator, const F& draw) {
  std::lock_guard<std::mutex> lock(generator->mutex_);
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
        for (int64_t j = 0; j < size1; j++) {
          for (int64_t i = 0; i < size0; i++) {
            *reinterpret_cast<scalar_t*>(data[0] + j * strides[iter.ntensors()] + i * strides[0]) =
                static_cast<scalar_t>(draw());
          }
        }
      },
      0, iter.numel());
}

void uniform_kernel(TensorIterator& iter, double from, double to, GeneratorImpl* generator) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "uniform_kernel_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const uniform_real_distribution<scalar_t> uniform{static_cast<opmath_t>(from), static_cast<opmath_t>(to)};
    cpu_serial_kernel<scalar_t>(iter, generator, [&] { return uniform(generator); });
  });
}

// Note [Two ways to draw normal numbers]
// Problem: PyTorch draws a dense tensor of 16 elements or more in another way than a small one, and the numbers differ.
// Programs depend on both. Trick: the same two ways here. Large: fill with uniform numbers, then turn each block of 16
// into normal ones, element j paired with j + 8; a last block that is not full is drawn anew with its predecessors.
// Small: one Box-Muller draw in double after the other.
template <typename T>
void normal_fill(T* data, int64_t size, T mean, T std, GeneratorImpl* generator) {
  const uniform_real_distribution<T> uniform{0, 1};
  std::lock_guard<std::mutex> lock(generator->mutex_);
  for (int64_t i = 0; i < size; i++) {
    data[i] = uniform(generator);
  }
  normal_fill_blocks(data, size / 16 * 16, mean, std);
  if (size % 16 != 0) {
    data += size - 16;
    for (int64_t i = 0; i < 16; i++) {
      data[i] = uniform(generator);
    }
    normal_fill_blocks(data, 16, mean, std);
  }
}

template <typename scalar_t>
void normal_fill_dense(const Tensor& self, double mean, double std, GeneratorImpl* generator) {
  using opmath_t = opmath_type<scalar_t>;
  scalar_t* data = self.data_ptr<scalar_t>();
  if constexpr (std::is_same_v<scalar_t, opmath_t>) {
    normal_fill<scalar_t>(data, self.numel(), mean, std, generator);
  } else { // drawn as float, then rounded; here PyTorch draws block by block, so that the last one takes the next
           // numbers
    float block[16];
    const int64_t size = self.numel();
    for (int64_t i = 0; i < size; i += 16) {
      normal_fill<float>(block, 16, mean, std, generator);
      std::copy(block, block + 16, data + std::min(i, size - 16));
    }
  }
}

void normal_kernel(Tensor& self, double mean, double std, GeneratorImpl* generator) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(self.scalar_type(), "normal_kernel_cpu", [&] {
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

void random_kernel(TensorIterator& iter, GeneratorImpl* generator) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "random_kernel_cpu", [&] {
    const uniform_int_distribution<scalar_t> random;
    cpu_serial_kernel<scalar_t>(iter, generator, [&] { return random(generator); });
  });
}

void random_from_to_kernel(TensorIterator& iter, uint64_t range, int64_t base, GeneratorImpl* generator) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "random_from_to_kernel_cpu", [&] {
    const uniform_int_from_to_distribution random{range, base};
    cpu_serial_kernel<scalar_t>(iter, generator, [&] { return static_cast<opmath_type<scalar_t>>(random(generator)); });
  });
}

void bernoulli_scalar_kernel(TensorIterator& iter, double p, GeneratorImpl* generator) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "bernoulli_scalar_cpu_", [&] {
    const bernoulli_distribution<double> bernoulli{p};
    cpu_serial_kernel<scalar_t>(iter, generator,
                                [&] { return static_cast<opmath_type<scalar_t>>(bernoulli(generator)); });
  });
}

template <typename self_t, typename p_t>
void bernoulli_tensor_loop(TensorIterator& iter, GeneratorImpl* generator) {
  std::lock_guard<std::mutex> lock(generator->mutex_);
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
        for (int64_t j = 0; j < size1; j++) {
          for (int64_t i = 0; i < size0; i++) {
            const p_t p = *reinterpret_cast<const p_t*>(data[1] + j * strides[3] + i * strides[1]);
            TORCH_CHECK(p_t(0) <= p && p <= p_t(1), "bernoulli_ expects p to be in [0, 1], but got p=", p);
            *reinterpret_cast<self_t*>(data[0] + j * strides[2] + i * strides[0]) =
                static_cast<self_t>(static_cast<opmath_type<self_t>>(bernoulli_distribution<p_t>{p}(generator)));
          }
        }
      },
      0, iter.numel());
}

void bernoulli_tensor_kernel(TensorIterator& iter, GeneratorImpl* generator) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "bernoulli_tensor_cpu_self_", [&] {
    using self_t = scalar_t;
    AT_DISPATCH_FLOATING_TYPES(iter.input_dtype(), "bernoulli_tensor_cpu_p_",
                               [&] { bernoulli_tensor_loop<self_t, scalar_t>(iter, generator); });
  });
}

// Fisher and Yates: each place gets one of those not yet placed.
template <typename scalar_t>
void randperm_cpu(const Tensor& result, int64_t n, GeneratorImpl* generator) {
  scalar_t* data = result.data_ptr<scalar_t>();
  std::lock_guard<std::mutex> lock(generator->mutex_);
  for (int64_t i = 0; i < n; i++) {
    data[i] = static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(i));
  }
  const bool small = n < std::numeric_limits<uint32_t>::max() / 20;
  for (int64_t i = 0; i < n - 1; i++) {
    const uint64_t bits = small ? generator->random() : generator->random64();
    std::swap(data[i], data[i + static_cast<int64_t>(bits % static_cast<uint64_t>(n - i))]);
  }
}

void randperm_kernel(const Tensor& result, int64_t n, GeneratorImpl* generator) {
  AT_DISPATCH_ALL_NUMBERS(result.scalar_type(), "randperm", [&] { randperm_cpu<scalar_t>(result, n, generator); });
}

} // namespace

REGISTER_DISPATCH(uniform_stub, uniform_kernel)
REGISTER_DISPATCH(normal_stub, normal_kernel)
REGISTER_DISPATCH(random_stub, random_kernel)
REGISTER_DISPATCH(random_from_to_stub, random_from_to_kernel)
REGISTER_DISPATCH(bernoulli_scalar_stub, bernoulli_scalar_kernel)
REGISTER_DISPATCH(bernoulli_tensor_stub, bernoulli_tensor_kernel)
REGISTER_DISPATCH(randperm_stub, randperm_kernel)

} // namespace reftorch::at::native
