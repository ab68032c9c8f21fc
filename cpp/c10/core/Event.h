// Mirrors: c10/core/Event.h, c10/core/impl/InlineEvent.h
//
// An event marks a place in a stream. Another stream can wait until the work before that place is done. The first
// record() creates the device's event, on the device of that stream; after that, the event can be recorded on this
// device only.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>

#include <utility>

namespace reftorch::c10 {

class C10_API Event final {
 public:
  explicit Event(DeviceType type, EventFlag flag = EventFlag::PYTORCH_DEFAULT)
      : impl_(impl::getDeviceGuardImpl(type)), flag_(flag) {}
  ~Event() {
    if (event_ != nullptr) {
      impl_->destroyEvent(event_, device_index_);
    }
  }
  Event(Event&& other) noexcept : impl_(other.impl_), flag_(other.flag_) {
    *this = std::move(other);
  }
  Event& operator=(Event&& other) noexcept {
    std::swap(impl_, other.impl_);
    std::swap(event_, other.event_);
    std::swap(device_index_, other.device_index_);
    std::swap(flag_, other.flag_);
    std::swap(was_marked_for_recording_, other.was_marked_for_recording_);
    return *this;
  }

  DeviceType device_type() const {
    return impl_->type();
  }
  // Returns -1 before the first record.
  DeviceIndex device_index() const {
    return device_index_;
  }
  Device device() const {
    return Device(device_type(), device_index_);
  }
  EventFlag flag() const {
    return flag_;
  }
  void* eventId() const {
    return event_;
  }
  bool was_marked_for_recording() const {
    return was_marked_for_recording_;
  }

  void recordOnce(const Stream& stream) {
    if (!was_marked_for_recording_) {
      record(stream);
    }
  }
  // Creates the device's event, which the first record() would create. Does nothing if there is one.
  void create(DeviceIndex index);
  // Owns from now on an event that the device has made elsewhere. This event must be new.
  void adopt(void* event, DeviceIndex index);
  // Marks the current end of `stream`. Raises RuntimeError if the stream belongs to another type of device than the
  // event, or to another device than that of the first record.
  void record(const Stream& stream);
  // Makes later work on `stream` wait for the event. The caller does not wait. Does nothing if the event was never
  // recorded.
  void block(const Stream& stream) const;
  // Returns whether the work before the event is done. Returns true if the event was never recorded.
  bool query() const;
  // Waits on the calling thread until the work before the event is done. Returns at once if the event was never
  // recorded.
  void synchronize() const;
  // Returns the milliseconds from this event to `other`. Raises ValueError unless both events were recorded and keep
  // the time (BACKEND_DEFAULT). Raises RuntimeError if the work before one of them is not done, or if they belong to
  // two types of device.
  double elapsedTime(const Event& other) const;

 private:
  const impl::DeviceGuardImplInterface* impl_;
  void* event_ = nullptr;
  DeviceIndex device_index_ = -1;
  EventFlag flag_;
  bool was_marked_for_recording_ = false;
};

} // namespace reftorch::c10
