// Mirrors: c10/core/impl/DeviceGuardImplInterface.h
//
// The functions that the core needs from each type of device: the current device, the current streams, and events.
// Every type of device registers one implementation in a table, so the core needs no device's library to link. The
// guards, streams and events of c10/core call through this table; the code of a device may call its own implementation
// directly. Left out: PyTorch's guard templates (Inline*Guard) and VirtualGuardImpl. A guard here makes one virtual
// call, which costs little compared with the device's own call.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

#include <atomic>

namespace reftorch::c10 {

class DataPtr;

// What an event is used for; the flags can be combined. Events that keep the time cost more, so PyTorch's default is an
// event that keeps no time.
enum class EventFlag : unsigned {
  PYTORCH_DEFAULT = 0,
  BACKEND_DEFAULT = 1, // the event keeps the time
  INTERPROCESS = 2,    // other processes can open the event; such an event keeps no time
  EXTERNAL = 4,        // a graph records the event, and waits for it, for the program: at each replay
};
constexpr EventFlag operator|(EventFlag a, EventFlag b) {
  return static_cast<EventFlag>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has_flag(EventFlag flags, EventFlag flag) {
  return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0;
}

namespace impl {

struct C10_API DeviceGuardImplInterface {
  virtual ~DeviceGuardImplInterface() = default;

  virtual DeviceType type() const = 0;

  // --- The current device, which each thread has for itself.
  // Makes `device` current and returns the former device. `device` must have an index.
  virtual Device exchangeDevice(Device device) const = 0;
  virtual Device getDevice() const = 0;
  virtual void setDevice(Device device) const = 0;
  // setDevice for destructors: errors are ignored.
  virtual void uncheckedSetDevice(Device device) const noexcept = 0;
  // The number of devices. If the driver fails, the number is 0.
  virtual DeviceIndex deviceCount() const noexcept = 0;

  // --- The current stream of each device, which each thread has for itself, too.
  virtual Stream getStream(Device device) const = 0;
  virtual Stream getDefaultStream(Device device) const = 0;
  virtual Stream getStreamFromGlobalPool(Device device, bool is_high_priority = false) const;
  // Returns a stream that no other caller was given, if the device has enough streams.
  virtual Stream getNewStream(Device device, int priority = 0) const;
  // Makes `stream` the current stream of its device and returns the former stream. The current device does not change.
  virtual Stream exchangeStream(Stream stream) const = 0;
  virtual bool queryStream(const Stream& stream) const;
  virtual void synchronizeStream(const Stream& stream) const;
  virtual void synchronizeDevice(DeviceIndex index) const;
  // Returns whether the work of the stream is recorded for a graph and not run.
  virtual bool isStreamCapturing(const Stream&) const {
    return false;
  }

  // --- Events. `*event` is null until the first record, which creates the device's event, or until createEvent.
  virtual void createEvent(void** event, DeviceIndex index, EventFlag flag) const;
  virtual void destroyEvent(void* event, DeviceIndex index) const noexcept;
  virtual void record(void** event, const Stream& stream, DeviceIndex index, EventFlag flag) const;
  // Makes later work on `stream` wait for the work that `event` recorded. The caller does not wait.
  virtual void block(void* event, const Stream& stream, EventFlag flag) const;
  virtual bool queryEvent(void* event) const;
  virtual void synchronizeEvent(void* event) const;
  // Returns the milliseconds between two events that keep the time.
  virtual double elapsedTime(void* event1, void* event2, DeviceIndex index) const;

  // Tells the allocator that work on `stream` uses this memory: after the block is freed, no other stream gets the
  // block before that work is done.
  virtual void recordDataPtrOnStream(const DataPtr& data_ptr, const Stream& stream) const;
};

// The implementation for devices without indexes and streams: CPU and Meta. Nothing is ever enqueued, so every wait
// returns at once.
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

// The table of implementations. Implementations are never destroyed, because guards may be used while static objects
// are destroyed.
extern C10_API std::atomic<const DeviceGuardImplInterface*> device_guard_impl_registry[kNumDeviceTypes];

struct C10_API DeviceGuardImplRegistrar final {
  DeviceGuardImplRegistrar(DeviceType type, const DeviceGuardImplInterface* implementation);
};

inline bool hasDeviceGuardImpl(DeviceType type) {
  return device_guard_impl_registry[static_cast<size_t>(type)].load(std::memory_order_acquire) != nullptr;
}

// Returns the implementation for a type of device. Raises RuntimeError if no library for such devices is loaded.
inline const DeviceGuardImplInterface* getDeviceGuardImpl(DeviceType type) {
  const DeviceGuardImplInterface* implementation =
      device_guard_impl_registry[static_cast<size_t>(type)].load(std::memory_order_acquire);
  TORCH_CHECK(implementation != nullptr, "PyTorch is not linked with support for ", DeviceTypeName(type), " devices");
  return implementation;
}

} // namespace impl
} // namespace reftorch::c10

// Registers an implementation. Use it once, in a .cpp file of the device: C10_REGISTER_GUARD_IMPL(CUDA, CUDAGuardImpl).
#define C10_REGISTER_GUARD_IMPL(DevType, DeviceGuardImpl)                                      \
  static const ::reftorch::c10::impl::DeviceGuardImplRegistrar guard_impl_registrar_##DevType( \
      ::reftorch::c10::DeviceType::DevType, new DeviceGuardImpl());
