// Mirrors: c10/core/impl/InlineEvent.h
#include <c10/core/Event.h>

namespace reftorch::c10 {

void Event::record(const Stream& stream) {
  TORCH_CHECK(stream.device_type() == device_type(), "Event device type ", DeviceTypeName(device_type()),
              " does not match recording stream's device type ", DeviceTypeName(stream.device_type()), ".");
  TORCH_CHECK(device_index_ == -1 || device_index_ == stream.device_index(), "Event device index ",
              static_cast<int>(device_index_), " does not match recording stream's device index ",
              static_cast<int>(stream.device_index()), ".");
  impl_->record(&event_, stream, device_index_, flag_);
  device_index_ = stream.device_index();
  was_marked_for_recording_ = true;
}

void Event::block(const Stream& stream) const {
  if (!was_marked_for_recording_) {
    return;
  }
  TORCH_CHECK(stream.device_type() == device_type(), "Event device type ", DeviceTypeName(device_type()),
              " does not match blocking stream's device type ", DeviceTypeName(stream.device_type()), ".");
  impl_->block(event_, stream);
}

bool Event::query() const {
  return !was_marked_for_recording_ || impl_->queryEvent(event_);
}

void Event::synchronize() const {
  if (was_marked_for_recording_) {
    impl_->synchronizeEvent(event_);
  }
}

double Event::elapsedTime(const Event& other) const {
  TORCH_CHECK(device_type() == other.device_type(), "Event device type ", DeviceTypeName(device_type()),
              " does not match other's device type ", DeviceTypeName(other.device_type()), ".");
  TORCH_CHECK_VALUE(flag_ == EventFlag::BACKEND_DEFAULT && other.flag_ == EventFlag::BACKEND_DEFAULT,
                    "Both events must be created with argument 'enable_timing=True'.");
  TORCH_CHECK_VALUE(was_marked_for_recording_ && other.was_marked_for_recording_,
                    "Both events must be recorded before calculating elapsed time.");
  TORCH_CHECK(device_index_ == other.device_index_, "Event device index ", static_cast<int>(device_index_),
              " does not match other's device index ", static_cast<int>(other.device_index_), ".");
  TORCH_CHECK(query() && other.query(), "Both events must be completed before calculating elapsed time.");
  return impl_->elapsedTime(event_, other.event_, device_index_);
}

} // namespace reftorch::c10
