// Mirrors: c10/core/GeneratorImpl.cpp
#include <c10/core/GeneratorImpl.h>

#include <c10/util/Exception.h>

#include <random>

namespace reftorch::c10 {

intrusive_ptr<GeneratorImpl> GeneratorImpl::graphsafe_get_state() const {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "graphsafe_get_state is not supported for a generator on ", device_,
                              ": only generators of devices with graphs share their states");
  return {};
}

void GeneratorImpl::graphsafe_set_state(const GeneratorImpl&) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "graphsafe_set_state is not supported for a generator on ", device_,
                              ": only generators of devices with graphs share their states");
}

namespace detail {

uint64_t getNonDeterministicRandom() {
  std::random_device device;
  return ((uint64_t(device()) << 32) | device()) & 0x1fffffffffffff;
}

} // namespace detail
} // namespace reftorch::c10
