// Mirrors: c10/core/impl/DeviceGuardImplInterface.h
//
// What the core asks of a type of device: which device and stream are current, and events. Every type of device
// registers one implementation in a table, so that the core links no device's library. Guards, streams and events of
// c10/core call through this table; a device's own code may call its implementation directly.
// Left out: the templates of PyTorch's guards over an implementation (Inline*Guard) and VirtualGuardImpl: a guard here
// makes one virtual call, which is small beside the call of the device that follows.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

#include <atomic>

namespace reftorch::c10 {

class DataPtr;

// What an event is for. Events that keep the time cost more, so PyTorch's default is to keep none.
enum class EventFlag {
  PYTORCH_DEFAULT,
  BACKEND_DEFAULT, // the event keeps the time
};

namespace impl {

struct C10_API DeviceGuardImplInterface {
  virtual ~DeviceGuardImplInterface() = default;

  virtual DeviceType type() const = 0;

  // --- the current device: a state of the calling thread
  // Makes `device`, which must have an index, current, and returns the former one.
  virtual Device exchangeDevice(Device device) const = 0;
  virtual Device getDevice() const = 0;
  virtual void setDevice(Device device) const = 0;
  // The form for destructors: an error is dropped.
  virtual void uncheckedSetDevice(Device device) const noexcept = 0;
  // How many devices there are. A driver that fails has none.
  virtual DeviceIndex deviceCount() const noexcept = 0;

  // --- the current stream of each device: a state of the calling thread, too
  virtual Stream getStream(Device device) const = 0;
  virtual Stream getDefaultStream(Device device) const = 0;
  virtual Stream getStreamFromGlobalPool(Device device, bool is_high_priority = false) const;
  // A stream that nobody else was given, as far as the device can.
  virtual Stream getNewStream(Device device, int priority = 0) const;
  // Makes `stream` the current one of its device, and returns the former one. The current device stays.
  virtual Stream exchangeStream(Stream stream) const = 0;
  virtual bool queryStream(const Stream& stream) const;
  virtual void synchronizeStream(const Stream& stream) const;
  virtual void synchronizeDevice(DeviceIndex index) const;

  // --- events. `*event` is null until the first record, which makes the device's event.
  virtual void destroyEvent(void* event, DeviceIndex index) const noexcept;
  virtual void record(void** event, const Stream& stream, DeviceIndex index, EventFlag flag) const;
  // Later work on `stream` starts after what `event` recorded. The caller does not wait.
  virtual void block(void* event, const Stream& stream) const;
  virtual bool queryEvent(void* event) const;
  virtual void synchronizeEvent(void* event) const;
  // Milliseconds between two events that keep the time.
  virtual double elapsedTime(void* event1, void* event2, DeviceIndex index) const;

  // Tells the allocator that work on `stream` uses this memory: a block that is freed goes to no other stream before
  // that work is done.
  virtual void recordDataPtrOnStream(const DataPtr& data_ptr, const Stream& stream) const;
};

// For devices without indexes and streams: CPU and Meta. Nothing is ever enqueued, so waiting is done at once.
template <DeviceType D>
struct NoOpDeviceGuardImpl final : DeviceGuardImplInterface {
  DeviceType type() const override {
    return D;
  }
  Device exchangeDevice(Device) const override {
    return Device(D);
  }
  Device getDevice() const override {
    return Device(D);
  }
  void setDevice(Device) const override {}
  void uncheckedSetDevice(Device) const noexcept override {}
  DeviceIndex deviceCount() const noexcept override {
    return 1;
  }
  Stream getStream(Device) const override {
    return Stream(Stream::DEFAULT, Device(D));
  }
  Stream getDefaultStream(Device) const override {
    return Stream(Stream::DEFAULT, Device(D));
  }
  Stream getNewStream(Device, int) const override {
    return Stream(Stream::DEFAULT, Device(D));
  }
  Stream exchangeStream(Stream) const override {
    return Stream(Stream::DEFAULT, Device(D));
  }
  bool queryStream(const Stream&) const override {
    return true;
  }
  void synchronizeStream(const Stream&) const override {}
  void synchronizeDevice(DeviceIndex) const override {}
  void recordDataPtrOnStream(const DataPtr&, const Stream&) const override {}
};

// The table. It owns nothing: implementations live as long as the program, since guards may be used while static
// objects are destroyed.
extern C10_API std::atomic<const DeviceGuardImplInterface*> device_guard_impl_registry[kNumDeviceTypes];

struct C10_API DeviceGuardImplRegistrar final {
  DeviceGuardImplRegistrar(DeviceType type, const DeviceGuardImplInterface* implementation);
};

inline bool hasDeviceGuardImpl(DeviceType type) {
  return device_guard_impl_registry[static_cast<size_t>(type)].load(std::memory_order_acquire) != nullptr;
}

// RuntimeError where no library for such devices is loaded.
inline const DeviceGuardImplInterface* getDeviceGuardImpl(DeviceType type) {
  const DeviceGuardImplInterface* implementation =
      device_guard_impl_registry[static_cast<size_t>(type)].load(std::memory_order_acquire);
  TORCH_CHECK(implementation != nullptr, "PyTorch is not linked with support for ", DeviceTypeName(type), " devices");
  return implementation;
}

} // namespace impl
} // namespace reftorch::c10

// In one .cpp file of a device: C10_REGISTER_GUARD_IMPL(CUDA, CUDAGuardImpl).
#define C10_REGISTER_GUARD_IMPL(DevType, DeviceGuardImpl)                                      \
  static const ::reftorch::c10::impl::DeviceGuardImplRegistrar guard_impl_registrar_##DevType( \
      ::reftorch::c10::DeviceType::DevType, new DeviceGuardImpl());
