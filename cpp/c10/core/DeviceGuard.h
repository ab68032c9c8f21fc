// Mirrors: c10/core/DeviceGuard.h
//
// A guard makes a device current. At the end of its scope, the guard makes the former device current again. The current
// device is the device on which the allocator allocates and kernels are launched. A guard is for one type of device; a
// guard for CPU or Meta does nothing.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <optional>

namespace reftorch::c10 {

// Gives a device that has no index the index of the current device of its type: "cuda" becomes "cuda:0" if device 0 is
// current. The CPU has no index and is returned unchanged.
C10_API Device ensure_has_index(Device device);

class DeviceGuard final {
 public:
  // If `device` has no index, the current device of its type stays current.
  explicit DeviceGuard(Device device)
      : impl_(impl::getDeviceGuardImpl(device.type())),
        original_device_(impl_->getDevice()),
        current_device_(original_device_) {
    reset_device(device);
  }
  ~DeviceGuard() {
    impl_->uncheckedSetDevice(original_device_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  // Makes another device current. Raises RuntimeError for a device of another type, because the guard would then have
  // to restore two devices.
  void reset_device(Device device) {
    TORCH_CHECK(device.type() == impl_->type(), "DeviceGuard: expected a device of type ",
                DeviceTypeName(impl_->type()), ", got ", device);
    current_device_ = device.has_index() ? device : original_device_;
    if (current_device_.has_index()) {
      impl_->setDevice(current_device_);
    }
  }
  void set_index(DeviceIndex index) {
    reset_device(Device(impl_->type(), index));
  }

  Device original_device() const {
    return original_device_;
  }
  Device current_device() const {
    return current_device_;
  }

 private:
  const impl::DeviceGuardImplInterface* impl_;
  Device original_device_;
  Device current_device_;
};

// A guard that does nothing until it is given a device.
class OptionalDeviceGuard final {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device device) {
    reset_device(device);
  }
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device.has_value()) {
      reset_device(*device);
    }
  }

  // Makes `device` current. The CPU needs no guard, so no guard is made for it.
  void reset_device(Device device) {
    if (!device.is_cpu()) {
      guard_.emplace(device);
    }
  }
  std::optional<Device> original_device() const {
    return guard_.has_value() ? std::make_optional(guard_->original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return guard_.has_value() ? std::make_optional(guard_->current_device()) : std::nullopt;
  }

 private:
  std::optional<DeviceGuard> guard_;
};

} // namespace reftorch::c10
