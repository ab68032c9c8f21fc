// Mirrors: c10/core/Device.h, c10/core/DeviceType.h
//
// A device says where the memory of a tensor lives: a type and an index. The meta device is for tensors that have a
// shape and no memory (see Note [Meta device] in ATen/native/DispatchStub.h). Left out: every type but cpu, cuda and
// meta.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <ostream>
#include <string>

namespace reftorch::c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 2 };
constexpr int kNumDeviceTypes = 3;
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kMeta = DeviceType::Meta;

using DeviceIndex = int8_t;

struct C10_API Device final {
  DeviceType type_ = DeviceType::CPU;
  DeviceIndex index_ = -1; // -1 means the current device of the type

  Device() = default;
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  // Parses "cpu", "cuda", "cuda:1" or "meta". Raises RuntimeError with PyTorch's message for anything else.
  explicit Device(const std::string& text);

  DeviceType type() const {
    return type_;
  }
  DeviceIndex index() const {
    return index_;
  }
  bool has_index() const {
    return index_ != -1;
  }
  bool is_cpu() const {
    return type_ == DeviceType::CPU;
  }
  bool is_cuda() const {
    return type_ == DeviceType::CUDA;
  }
  bool is_meta() const {
    return type_ == DeviceType::Meta;
  }
  bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const {
    return !(*this == other);
  }
  std::string str() const;
};

C10_API const char* DeviceTypeName(DeviceType t); // "cpu", "cuda", "meta"
C10_API std::ostream& operator<<(std::ostream& out, const Device& device);

} // namespace reftorch::c10
