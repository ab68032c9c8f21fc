// Mirrors: aten/src/ATen/core/Generator.h, aten/src/ATen/CPUGeneratorImpl.h, aten/src/ATen/core/MT19937RNGEngine.h
// The source of random numbers: mt19937, with PyTorch's way of drawing from it, so that a seed gives PyTorch's numbers
// on CPU.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>
#include <c10/util/Mutex.h>
#include <c10/util/intrusive_ptr.h>

#include <array>
#include <cstdint>
#include <optional>

namespace reftorch::at {

// The Mersenne twister as first published, kept as data so that its state can be saved and restored.
class TORCH_API mt19937 final {
 public:
  explicit mt19937(uint64_t seed = 5489);
  uint32_t operator()() {
    if (--left_ == 0) {
      next_state();
    }
    return temper(state_[next_++]);
  }
  // The next n draws at once.
  void fill(uint32_t* out, int64_t n);

  static constexpr int kStateSize = 624;
  uint64_t seed_;
  int left_ = 1; // draws until the next refill
  uint32_t next_ = 0;
  std::array<uint32_t, kStateSize> state_;

 private:
  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return y ^ (y >> 18);
  }
  void next_state();
};

constexpr uint64_t default_rng_seed_val = 67280421310721;

// Not safe for two threads at once: hold `mutex_` while drawing.
struct TORCH_API GeneratorImpl final : public c10::intrusive_ptr_target {
  explicit GeneratorImpl(uint64_t seed = default_rng_seed_val);
  void set_current_seed(uint64_t seed);
  uint64_t current_seed() const {
    return engine_.seed_;
  }
  // A seed from the operating system's entropy; returns it.
  uint64_t seed();
  uint32_t random() {
    return engine_();
  }
  uint64_t random64() { // two draws, the first one in the high half
    const uint64_t high = engine_();
    return (high << 32) | engine_();
  }

  c10::Mutex mutex_;
  mt19937 engine_;
  std::optional<float> next_float_normal_sample_;
  std::optional<double> next_double_normal_sample_;
};

struct Generator final {
  c10::intrusive_ptr<GeneratorImpl> impl_;
  bool defined() const {
    return impl_.defined();
  }
};

TORCH_API const Generator& default_cpu_generator();

// The generator the caller named, or the default one. RuntimeError for a generator of another device.
inline GeneratorImpl* get_generator_or_default(const std::optional<Generator>& gen) {
  return gen.has_value() && gen->defined() ? gen->impl_.get() : default_cpu_generator().impl_.get();
}

} // namespace reftorch::at
