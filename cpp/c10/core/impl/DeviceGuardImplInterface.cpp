// Mirrors: c10/core/impl/DeviceGuardImplInterface.cpp, c10/core/DeviceGuard.h
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <c10/core/DeviceGuard.h>

namespace reftorch::c10 {

Device ensure_has_index(Device device) {
  return device.is_cpu() || device.has_index() ? device : impl::getDeviceGuardImpl(device.type())->getDevice();
}

namespace impl {

std::atomic<const DeviceGuardImplInterface*> device_guard_impl_registry[kNumDeviceTypes];

DeviceGuardImplRegistrar::DeviceGuardImplRegistrar(DeviceType type, const DeviceGuardImplInterface* implementation) {
  device_guard_impl_registry[static_cast<size_t>(type)].store(implementation, std::memory_order_release);
}

C10_REGISTER_GUARD_IMPL(CPU, NoOpDeviceGuardImpl<DeviceType::CPU>)
C10_REGISTER_GUARD_IMPL(Meta, NoOpDeviceGuardImpl<DeviceType::Meta>)

Stream DeviceGuardImplInterface::getStreamFromGlobalPool(Device, bool) const {
  TORCH_CHECK(false, "Backend doesn't support acquiring a stream from pool.");
}

Stream DeviceGuardImplInterface::getNewStream(Device, int) const {
  TORCH_CHECK(false, "Backend doesn't support create a new Stream.");
}

bool DeviceGuardImplInterface::queryStream(const Stream&) const {
  TORCH_CHECK(false, "Backend doesn't support querying streams.");
}

void DeviceGuardImplInterface::synchronizeStream(const Stream&) const {
  TORCH_CHECK(false, "Backend doesn't support synchronizing streams.");
}

void DeviceGuardImplInterface::synchronizeDevice(DeviceIndex) const {
  TORCH_CHECK(false, "Backend doesn't support synchronizing all streams on device.");
}

void DeviceGuardImplInterface::destroyEvent(void*, DeviceIndex) const noexcept {}

void DeviceGuardImplInterface::createEvent(void**, DeviceIndex, EventFlag) const {
  TORCH_CHECK(false, DeviceTypeName(type()), " backend doesn't support events.");
}

void DeviceGuardImplInterface::record(void**, const Stream&, DeviceIndex, EventFlag) const {
  TORCH_CHECK(false, DeviceTypeName(type()), " backend doesn't support events.");
}

void DeviceGuardImplInterface::block(void*, const Stream&, EventFlag) const {
  TORCH_CHECK(false, DeviceTypeName(type()), " backend doesn't support events.");
}

bool DeviceGuardImplInterface::queryEvent(void*) const {
  TORCH_CHECK(false, DeviceTypeName(type()), " backend doesn't support events.");
}

void DeviceGuardImplInterface::synchronizeEvent(void*) const {
  TORCH_CHECK(false, DeviceTypeName(type()), " backend doesn't support synchronizing events.");
}

double DeviceGuardImplInterface::elapsedTime(void*, void*, DeviceIndex) const {
  TORCH_CHECK(false, DeviceTypeName(type()), " backend doesn't support elapsedTime.");
}

void DeviceGuardImplInterface::recordDataPtrOnStream(const DataPtr&, const Stream&) const {}

} // namespace impl
} // namespace reftorch::c10
