// Mirrors: c10/core/impl/InlineEvent.h
#include <c10/core/Event.h>

namespace reftorch::c10 {

void Event::create(DeviceIndex index) {
  if (event_ == nullptr) {
    impl_->createEvent(&event_, index, flag_);
    device_index_ = index;
  }
}

void Event::adopt(void* event, DeviceIndex index) {
  TORCH_INTERNAL_ASSERT(event_ == nullptr);
  event_ = event;
  device_index_ = index;
}

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
  if (event_ == nullptr) { // never recorded; another process may have recorded an event that exists
    return;
  }
  TORCH_CHECK(stream.device_type() == device_type(), "Event device type ", DeviceTypeName(device_type()),
              " does not match blocking stream's device type ", DeviceTypeName(stream.device_type()), ".");
  impl_->block(event_, stream, flag_);
}

bool Event::query() const {
  return event_ == nullptr || impl_->queryEvent(event_);
}

void Event::synchronize() const {
  if (event_ != nullptr) {
    impl_->synchronizeEvent(event_);
  }
}

double Event::elapsedTime(const Event& other) const {
  TORCH_CHECK(device_type() == other.device_type(), "Event device type ", DeviceTypeName(device_type()),
              " does not match other's device type ", DeviceTypeName(other.device_type()), ".");
  TORCH_CHECK_VALUE(has_flag(flag_, EventFlag::BACKEND_DEFAULT) && has_flag(other.flag_, EventFlag::BACKEND_DEFAULT),
                    "Both events must be created with argument 'enable_timing=True'.");
  TORCH_CHECK_VALUE(was_marked_for_recording_ && other.was_marked_for_recording_,
                    "Both events must be recorded before calculating elapsed time.");
  TORCH_CHECK(device_index_ == other.device_index_, "Event device index ", static_cast<int>(device_index_),
              " does not match other's device index ", static_cast<int>(other.device_index_), ".");
  TORCH_CHECK(query() && other.query(), "Both events must be completed before calculating elapsed time.");
  return impl_->elapsedTime(event_, other.event_, device_index_);
}

} // namespace reftorch::c10
