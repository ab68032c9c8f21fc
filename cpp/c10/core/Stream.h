// Mirrors: c10/core/Stream.h
//
// A stream is a queue of work on one device. Work on one stream runs in order; work on two streams may run at the same
// time. An object of this class only names a stream. The stream itself belongs to the device's implementation of
// DeviceGuardImplInterface. Left out: packing a stream into three integers, native handles.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <ostream>

namespace reftorch::c10 {

// The number of a stream. Only the device knows what it stands for; 0 is the default stream of every device.
using StreamId = int64_t;

class C10_API Stream final {
 public:
  enum Unsafe { UNSAFE };
  enum Default { DEFAULT };

  // `id` must come from the device's own code, because no check finds out whether such a stream exists.
  Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
  Stream(Default, Device device) : device_(device) {}

  bool operator==(const Stream& other) const {
    return device_ == other.device_ && id_ == other.id_;
  }
  bool operator!=(const Stream& other) const {
    return !(*this == other);
  }

  Device device() const {
    return device_;
  }
  DeviceType device_type() const {
    return device_.type();
  }
  DeviceIndex device_index() const {
    return device_.index();
  }
  StreamId id() const {
    return id_;
  }

  // Makes work that is enqueued on this stream from now on wait for `event`. The caller does not wait.
  template <typename EventType>
  void wait(const EventType& event) const {
    event.block(*this);
  }
  // Returns whether all enqueued work is done.
  bool query() const;
  // Waits on the calling thread until all enqueued work is done.
  void synchronize() const;

 private:
  Device device_;
  StreamId id_ = 0;
};

C10_API std::ostream& operator<<(std::ostream& out, const Stream& stream);

} // namespace reftorch::c10

template <>
struct std::hash<reftorch::c10::Stream> {
  size_t operator()(const reftorch::c10::Stream& stream) const noexcept {
    const auto device = static_cast<size_t>(stream.device_type()) << 8 | static_cast<uint8_t>(stream.device_index());
    return std::hash<int64_t>()(stream.id()) * 31 + device;
  }
};
