// Mirrors: c10/core/DispatchKeySet.h
//
// A set of dispatch keys, stored as the bits of one word. The Dispatcher unites the sets of an op's tensors and calls
// the kernel of the highest key.
#pragma once

#include <c10/core/DispatchKey.h>

namespace reftorch::c10 {

class DispatchKeySet final {
 public:
  constexpr DispatchKeySet() = default;
  constexpr DispatchKeySet(DispatchKey k) : repr_(k == DispatchKey::Undefined ? 0 : 1u << static_cast<int>(k)) {}

  constexpr bool has(DispatchKey k) const {
    return (repr_ & DispatchKeySet(k).repr_) != 0;
  }
  constexpr bool empty() const {
    return repr_ == 0;
  }
  constexpr DispatchKeySet operator|(DispatchKeySet other) const {
    return from_raw(repr_ | other.repr_);
  }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const {
    return from_raw(repr_ & other.repr_);
  }
  constexpr DispatchKeySet operator-(DispatchKeySet other) const {
    return from_raw(repr_ & ~other.repr_);
  }
  constexpr uint32_t raw_repr() const {
    return repr_;
  }
  constexpr bool operator==(DispatchKeySet other) const {
    return repr_ == other.repr_;
  }
  // 31 ^ n is 31 - n for n below 32, and is one instruction together with the count.
  DispatchKey highestPriorityTypeId() const {
    return repr_ == 0 ? DispatchKey::Undefined : static_cast<DispatchKey>(31 ^ __builtin_clz(repr_));
  }

 private:
  static constexpr DispatchKeySet from_raw(uint32_t repr) {
    DispatchKeySet set;
    set.repr_ = repr;
    return set;
  }
  uint32_t repr_ = 0;
};

// Returns every key below `key`: the keys to which a kernel of `key` may redispatch.
inline DispatchKeySet keys_below(DispatchKey key) {
  DispatchKeySet below;
  for (int k = 1; k < static_cast<int>(key); k++) {
    below = below | static_cast<DispatchKey>(k);
  }
  return below;
}

constexpr DispatchKeySet autograd_dispatch_keyset = DispatchKeySet(DispatchKey::Autograd);

} // namespace reftorch::c10
