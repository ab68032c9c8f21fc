// Mirrors: c10/core/GeneratorImpl.cpp
#include <c10/core/GeneratorImpl.h>

#include <random>

namespace reftorch::c10::detail {

uint64_t getNonDeterministicRandom() {
  std::random_device device;
  return ((uint64_t(device()) << 32) | device()) & 0x1fffffffffffff;
}

} // namespace reftorch::c10::detail
