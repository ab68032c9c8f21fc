// Mirrors: c10/core/Stream.cpp
#include <c10/core/Stream.h>

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace reftorch::c10 {

bool Stream::query() const {
  return impl::getDeviceGuardImpl(device_type())->queryStream(*this);
}

void Stream::synchronize() const {
  impl::getDeviceGuardImpl(device_type())->synchronizeStream(*this);
}

std::ostream& operator<<(std::ostream& out, const Stream& stream) {
  return out << "stream " << stream.id() << " on device " << stream.device();
}

} // namespace reftorch::c10
