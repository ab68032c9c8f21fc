// Mirrors: aten/src/ATen/CPUGeneratorImpl.cpp, aten/src/ATen/core/MT19937RNGEngine.h
#include <ATen/core/Generator.h>

#include <algorithm>
#include <random>

namespace reftorch::at {

constexpr int kShift = 397;
constexpr uint32_t kMatrixA = 0x9908b0df, kUpperMask = 0x80000000, kLowerMask = 0x7fffffff;

mt19937::mt19937(uint64_t seed) : seed_(seed) {
  state_[0] = static_cast<uint32_t>(seed & 0xffffffff);
  for (uint32_t j = 1; j < kStateSize; j++) {
    state_[j] = 1812433253 * (state_[j - 1] ^ (state_[j - 1] >> 30)) + j;
  }
}

static uint32_t twist(uint32_t u, uint32_t v) {
  return (((u & kUpperMask) | (v & kLowerMask)) >> 1) ^ (-(v & 1) & kMatrixA);
}

// Each number is made of three old ones: its neighbour, and the one kShift further on, around the end of the array.
// Three loops instead of one modulo: they become vector instructions.
void mt19937::next_state() {
  left_ = kStateSize;
  next_ = 0;
  uint32_t* s = state_.data();
  for (int j = 0; j < kStateSize - kShift; j++) {
    s[j] = s[j + kShift] ^ twist(s[j], s[j + 1]);
  }
  for (int j = kStateSize - kShift; j < kStateSize - 1; j++) {
    s[j] = s[j + kShift - kStateSize] ^ twist(s[j], s[j + 1]);
  }
  s[kStateSize - 1] = s[kShift - 1] ^ twist(s[kStateSize - 1], s[0]);
}

void mt19937::fill(uint32_t* out, int64_t n) {
  while (n > 0) {
    const int64_t ready = std::min<int64_t>(left_ - 1, n);
    for (int64_t i = 0; i < ready; i++) {
      out[i] = temper(state_[next_ + i]);
    }
    next_ += static_cast<uint32_t>(ready);
    left_ -= static_cast<int>(ready);
    out += ready;
    n -= ready;
    if (n > 0) {
      *out++ = operator()(); // refills
      n--;
    }
  }
}

GeneratorImpl::GeneratorImpl(uint64_t seed) : engine_(seed) {}

void GeneratorImpl::set_current_seed(uint64_t seed) {
  next_float_normal_sample_.reset();
  next_double_normal_sample_.reset();
  engine_ = mt19937(seed);
}

uint64_t GeneratorImpl::seed() {
  std::random_device device;
  const uint64_t value = ((uint64_t(device()) << 32) | device()) & 0x1fffffffffffff;
  set_current_seed(value);
  return value;
}

const Generator& default_cpu_generator() {
  static const Generator generator{c10::make_intrusive<GeneratorImpl>()};
  return generator;
}

} // namespace reftorch::at
