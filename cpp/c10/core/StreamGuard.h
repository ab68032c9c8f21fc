// Mirrors: c10/core/StreamGuard.h
//
// A guard makes a stream the current stream of its device, and makes that device current. At the end of its scope, the
// guard restores the former stream and the former device. Ops enqueue their work on the current stream. Left out:
// MultiStreamGuard.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>

#include <optional>

namespace reftorch::c10 {

class StreamGuard final {
 public:
  explicit StreamGuard(Stream stream)
      : impl_(impl::getDeviceGuardImpl(stream.device_type())),
        device_guard_(stream.device()),
        original_stream_(impl_->exchangeStream(stream)),
        current_stream_(stream) {}
  ~StreamGuard() {
    impl_->exchangeStream(original_stream_);
  }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  // The stream that was current on the stream's device before the guard.
  Stream original_stream() const {
    return original_stream_;
  }
  Stream current_stream() const {
    return current_stream_;
  }
  Device original_device() const {
    return device_guard_.original_device();
  }
  Device current_device() const {
    return device_guard_.current_device();
  }

 private:
  const impl::DeviceGuardImplInterface* impl_;
  DeviceGuard device_guard_;
  Stream original_stream_;
  Stream current_stream_;
};

// A guard that does nothing until it is given a stream.
class OptionalStreamGuard final {
 public:
  OptionalStreamGuard() = default;
  explicit OptionalStreamGuard(Stream stream) {
    reset_stream(stream);
  }
  explicit OptionalStreamGuard(std::optional<Stream> stream) {
    if (stream.has_value()) {
      reset_stream(*stream);
    }
  }
  void reset_stream(Stream stream) {
    guard_.reset(); // restores the former stream, so that the new guard remembers that one
    guard_.emplace(stream);
  }
  std::optional<Stream> original_stream() const {
    return guard_.has_value() ? std::make_optional(guard_->original_stream()) : std::nullopt;
  }
  std::optional<Stream> current_stream() const {
    return guard_.has_value() ? std::make_optional(guard_->current_stream()) : std::nullopt;
  }

 private:
  std::optional<StreamGuard> guard_;
};

} // namespace reftorch::c10
