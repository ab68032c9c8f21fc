// Mirrors: aten/src/ATen/core/MT19937RNGEngine.h
#include <ATen/core/MT19937RNGEngine.h>

#include <algorithm>

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

// Computes each new number from three old ones: the number itself, its successor, and the number kShift places further,
// with indexes that wrap around. There are three loops instead of one with a modulo, because the compiler can vectorize
// them.
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

// `state` is a pointer of its own: if the loop read next_, the compiler would have to assume that writing to out[i]
// changes next_, and could not use vector instructions.
void mt19937::fill(uint32_t* out, int64_t n) {
  while (n > 0) {
    const int64_t ready = std::min<int64_t>(left_ - 1, n);
    const uint32_t* state = state_.data() + next_;
    for (int64_t i = 0; i < ready; i++) {
      out[i] = temper(state[i]);
    }
    next_ += static_cast<uint32_t>(ready);
    left_ -= static_cast<int>(ready);
    out += ready;
    n -= ready;
    if (n > 0) {
      *out++ = operator()(); // refills the state
      n--;
    }
  }
}

} // namespace reftorch::at
