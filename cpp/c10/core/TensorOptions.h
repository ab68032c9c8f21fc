// Mirrors: c10/core/TensorOptions.h
//
// How a new tensor is made, for the sources of extensions: torch::zeros({2, 3}, x.options().dtype(torch::kDouble)). The
// library's own code passes dtype and device to at::zeros. Left out: memory formats.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <optional>

namespace reftorch::c10 {

// The settings with which a factory function makes a tensor. For a setting that is not given, the function takes the
// default dtype or the default device, does not pin the memory, and returns a tensor that does not require a gradient.
class TensorOptions final {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : dtype_(dtype) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(Device(device)) {}
  TensorOptions(Layout layout) : layout_(layout) {}

  // Each of these functions returns a copy with one more setting.
  TensorOptions dtype(std::optional<ScalarType> dtype) const {
    return with(&TensorOptions::dtype_, dtype);
  }
  TensorOptions device(std::optional<Device> device) const {
    return with(&TensorOptions::device_, device);
  }
  TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  TensorOptions layout(std::optional<Layout> layout) const {
    return with(&TensorOptions::layout_, layout);
  }
  TensorOptions pinned_memory(std::optional<bool> pinned) const {
    return with(&TensorOptions::pin_memory_, pinned);
  }
  TensorOptions requires_grad(std::optional<bool> requires_grad) const {
    return with(&TensorOptions::requires_grad_, requires_grad);
  }

  ScalarType dtype() const {
    return dtype_.value_or(ScalarType::Float);
  }
  Device device() const {
    return device_.value_or(Device());
  }
  bool requires_grad() const {
    return requires_grad_.value_or(false);
  }
  std::optional<ScalarType> dtype_opt() const {
    return dtype_;
  }
  std::optional<Device> device_opt() const {
    return device_;
  }
  std::optional<Layout> layout_opt() const {
    return layout_;
  }
  std::optional<bool> pin_memory_opt() const {
    return pin_memory_;
  }
  // Returns the new tensor, which requires a gradient if these options say so.
  template <typename Tensor>
  Tensor made(Tensor tensor) const {
    return requires_grad() ? tensor.set_requires_grad(true) : tensor;
  }

 private:
  template <typename T>
  TensorOptions with(std::optional<T> TensorOptions::* member, std::optional<T> value) const {
    TensorOptions result = *this;
    result.*member = value;
    return result;
  }

  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<Layout> layout_;
  std::optional<bool> pin_memory_, requires_grad_;
};

inline TensorOptions dtype(ScalarType dtype) {
  return TensorOptions(dtype);
}
inline TensorOptions device(Device device) {
  return TensorOptions(device);
}
inline TensorOptions requires_grad(bool requires_grad = true) {
  return TensorOptions().requires_grad(requires_grad);
}

} // namespace reftorch::c10
