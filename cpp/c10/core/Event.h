// Mirrors: c10/core/Event.h, c10/core/impl/InlineEvent.h
//
// An event marks a place in a stream. Another stream can be told to wait until the work before that place is done.
// The device's event is made when it is first recorded, on the device of that stream, and is recorded on no other
// device after that.
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
  // -1 before the first record.
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
  // RuntimeError for a stream of another device than the event's.
  void record(const Stream& stream);
  // Later work on `stream` starts after the event. An event that was never recorded is waited for by nobody.
  void block(const Stream& stream) const;
  // Whether the work before the event is done; true for an event that was never recorded.
  bool query() const;
  // The caller waits for the event.
  void synchronize() const;
  // Milliseconds from this event to `other`. ValueError unless both were recorded and keep the time; RuntimeError where
  // the work before one of them is not done.
  double elapsedTime(const Event& other) const;

 private:
  const impl::DeviceGuardImplInterface* impl_;
  void* event_ = nullptr;
  DeviceIndex device_index_ = -1;
  EventFlag flag_;
  bool was_marked_for_recording_ = false;
};

} // namespace reftorch::c10
