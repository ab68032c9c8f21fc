// Mirrors: aten/src/ATen/core/MT19937RNGEngine.h
//
// The Mersenne twister mt19937, with PyTorch's way of drawing from it, so that a seed gives PyTorch's numbers on the
// CPU.
#pragma once

#include <c10/macros/Export.h>

#include <array>
#include <cstdint>

namespace reftorch::at {

// The generator as first published. Its state is plain data, so that it can be saved and restored.
class TORCH_API mt19937 final {
 public:
  explicit mt19937(uint64_t seed = 5489);
  uint32_t operator()() {
    if (--left_ == 0) {
      next_state();
    }
    return temper(state_[next_++]);
  }
  // Writes the next n draws to `out`.
  void fill(uint32_t* out, int64_t n);

  static constexpr int kStateSize = 624;
  uint64_t seed_;
  int left_ = 1; // the next draw refills the state if this is 1
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

} // namespace reftorch::at
