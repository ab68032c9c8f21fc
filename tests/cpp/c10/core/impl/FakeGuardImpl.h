// Mirrors: c10/core/impl/FakeGuardImpl.h
//
// Two devices of type CUDA without a CUDA library: they know which device and stream are current, and note each event,
// wait and use of memory in a log. Tests read the log.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <mutex>
#include <string>
#include <vector>

namespace reftorch::c10::impl {

struct FakeGuardImpl final : DeviceGuardImplInterface {
  static constexpr DeviceIndex kDevices = 2;
  static inline thread_local DeviceIndex current_device = 0;
  static inline thread_local StreamId current_streams[kDevices] = {};

  // Registered while an object of this class lives.
  struct Scope {
    Scope() {
      static const FakeGuardImpl* const implementation = new FakeGuardImpl;
      device_guard_impl_registry[static_cast<size_t>(kCUDA)] = implementation;
      take_log();
    }
    ~Scope() {
      device_guard_impl_registry[static_cast<size_t>(kCUDA)] = nullptr;
    }
  };

  static void note(const std::string& line) {
    std::lock_guard<std::mutex> lock(mutex_);
    log_.push_back(line);
  }
  static std::vector<std::string> take_log() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(log_, {});
  }
  static std::string name(const Stream& stream) {
    return std::to_string(stream.device_index()) + "/" + std::to_string(stream.id());
  }
  static Stream stream(DeviceIndex index, StreamId id) {
    return Stream(Stream::UNSAFE, Device(kCUDA, index), id);
  }

  DeviceType type() const override {
    return kCUDA;
  }
  Device exchangeDevice(Device device) const override {
    const Device former = getDevice();
    setDevice(device);
    return former;
  }
  Device getDevice() const override {
    return Device(kCUDA, current_device);
  }
  void setDevice(Device device) const override {
    TORCH_CHECK(device.index() >= 0 && device.index() < kDevices, "invalid device ordinal");
    current_device = device.index();
  }
  void uncheckedSetDevice(Device device) const noexcept override {
    current_device = device.index();
  }
  DeviceIndex deviceCount() const noexcept override {
    return kDevices;
  }
  Stream getStream(Device device) const override {
    const DeviceIndex index = device.has_index() ? device.index() : current_device;
    return stream(index, current_streams[index]);
  }
  Stream getDefaultStream(Device device) const override {
    return stream(device.index(), 0);
  }
  Stream exchangeStream(Stream fresh) const override {
    return stream(fresh.device_index(), std::exchange(current_streams[fresh.device_index()], fresh.id()));
  }
  void record(void** event, const Stream& stream, DeviceIndex, EventFlag) const override {
    if (*event == nullptr) {
      *event = new std::string;
    }
    *static_cast<std::string*>(*event) = name(stream);
    note("record " + name(stream));
  }
  void block(void* event, const Stream& stream, EventFlag) const override {
    note(name(stream) + " waits for " + *static_cast<std::string*>(event));
  }
  bool queryEvent(void*) const override {
    return true;
  }
  void destroyEvent(void* event, DeviceIndex) const noexcept override {
    delete static_cast<std::string*>(event);
  }
  void recordDataPtrOnStream(const DataPtr&, const Stream& stream) const override {
    note("memory is used on " + name(stream));
  }

 private:
  static inline std::mutex mutex_;
  static inline std::vector<std::string> log_;
};

} // namespace reftorch::c10::impl
