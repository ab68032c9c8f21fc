// Mirrors: aten/src/ATen/core/Generator.h
//
// A generator as an argument of an op: a shared pointer to the generator of any device.
#pragma once

#include <c10/core/GeneratorImpl.h>
#include <c10/util/Exception.h>

#include <optional>

namespace reftorch::at {

using c10::GeneratorImpl;

struct Generator final {
  c10::intrusive_ptr<GeneratorImpl> impl_;
  bool defined() const {
    return impl_.defined();
  }
};

// Returns the generator as class T, the generator of the kernel's device. Raises RuntimeError for a generator of
// another device.
template <typename T>
T* check_generator(const Generator& generator) {
  const c10::Device device = generator.impl_->device();
  TORCH_CHECK(device.type() == T::device_type(), "Expected a '", c10::DeviceTypeName(T::device_type()),
              "' device type for generator but found '", c10::DeviceTypeName(device.type()), "'");
  return static_cast<T*>(generator.impl_.get());
}

// Returns the generator that the caller gave, or the default generator.
template <typename T>
T* get_generator_or_default(const std::optional<Generator>& generator, const Generator& default_generator) {
  return check_generator<T>(generator.has_value() && generator->defined() ? *generator : default_generator);
}

} // namespace reftorch::at
