// Mirrors: aten/src/ATen/CPUGeneratorImpl.cpp, aten/src/ATen/core/MT19937RNGEngine.h
#include <ATen/core/Generator.h>

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
  return (((u & kUpperMask) | (v & kLowerMask)) >> 1) ^ ((v & 1) ? kMatrixA : 0);
}

void mt19937::next_state() {
  left_ = kStateSize;
  next_ = 0;
  for (int j = 0; j < kStateSize; j++) {
    state_[j] = state_[(j + kShift) % kStateSize] ^ twist(state_[j], state_[(j + 1) % kStateSize]);
  }
}

uint32_t mt19937::operator()() {
  if (--left_ == 0) {
    next_state();
  }
  uint32_t y = state_[next_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680;
  y ^= (y << 15) & 0xefc60000;
  y ^= y >> 18;
  return y;
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

uint32_t GeneratorImpl::random() {
  return engine_();
}

uint64_t GeneratorImpl::random64() {
  const uint64_t high = engine_();
  return (high << 32) | engine_();
}

const Generator& default_cpu_generator() {
  static const Generator generator{c10::make_intrusive<GeneratorImpl>()};
  return generator;
}

} // namespace reftorch::at
