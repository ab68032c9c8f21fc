// Mirrors: c10/cuda/impl/CUDAGuardImpl.cpp
#include <c10/cuda/impl/CUDAGuardImpl.h>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/LongWork.h>

namespace reftorch::c10::cuda::impl {

void CUDAGuardImpl::synchronizeDevice(DeviceIndex index) const {
  const CUDAGuard guard(index);
  device_synchronize();
}

bool CUDAGuardImpl::isStreamCapturing(const Stream& stream) const {
  const CUDAGuard guard(stream.device_index());
  return stream.id() != 0 && capture_status(CUDAStream(stream)) != CaptureStatus::None;
}

void CUDAGuardImpl::destroyEvent(void* event, DeviceIndex index) const noexcept {
  (void)index;
  C10_CUDA_IGNORE_ERROR(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
}

void CUDAGuardImpl::createEvent(void** event, DeviceIndex index, EventFlag flag) const {
  const CUDAGuard guard(index);
  unsigned flags = has_flag(flag, EventFlag::BACKEND_DEFAULT) ? cudaEventDefault : cudaEventDisableTiming;
  if (has_flag(flag, EventFlag::INTERPROCESS)) {
    flags |= cudaEventInterprocess;
  }
  cudaEvent_t handle = nullptr;
  C10_CUDA_CHECK(cudaEventCreateWithFlags(&handle, flags));
  *event = handle;
}

void CUDAGuardImpl::record(void** event, const Stream& stream, DeviceIndex index, EventFlag flag) const {
  TORCH_CHECK(index == -1 || index == stream.device_index(), "Event device index ", static_cast<int>(index),
              " does not match recording stream's device index ", static_cast<int>(stream.device_index()), ".");
  const CUDAGuard guard(stream.device_index());
  if (*event == nullptr) {
    createEvent(event, stream.device_index(), flag);
  }
  // CUDA refuses the flag cudaEventRecordExternal if the stream does not capture a graph.
  const bool external = has_flag(flag, EventFlag::EXTERNAL) && isStreamCapturing(stream);
  C10_CUDA_CHECK(cudaEventRecordWithFlags(static_cast<cudaEvent_t>(*event), CUDAStream(stream),
                                          external ? cudaEventRecordExternal : cudaEventRecordDefault));
}

void CUDAGuardImpl::block(void* event, const Stream& stream, EventFlag flag) const {
  if (event == nullptr) {
    return;
  }
  const CUDAGuard guard(stream.device_index());
  const bool external = has_flag(flag, EventFlag::EXTERNAL) && isStreamCapturing(stream);
  C10_CUDA_CHECK(cudaStreamWaitEvent(CUDAStream(stream), static_cast<cudaEvent_t>(event),
                                     external ? cudaEventWaitExternal : cudaEventWaitDefault));
}

bool CUDAGuardImpl::queryEvent(void* event) const {
  if (event == nullptr) {
    return true;
  }
  const cudaError_t error = cudaEventQuery(static_cast<cudaEvent_t>(event));
  if (error == cudaErrorNotReady) {
    (void)cudaGetLastError(); // an event that has not passed yet is not an error
    return false;
  }
  C10_CUDA_CHECK(error);
  return true;
}

void CUDAGuardImpl::synchronizeEvent(void* event) const {
  if (event != nullptr) {
    LongWork::begin();
    C10_CUDA_CHECK(cudaEventSynchronize(static_cast<cudaEvent_t>(event)));
  }
}

double CUDAGuardImpl::elapsedTime(void* event1, void* event2, DeviceIndex index) const {
  const CUDAGuard guard(index);
  float milliseconds = 0;
  C10_CUDA_CHECK(
      cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(event1), static_cast<cudaEvent_t>(event2)));
  return milliseconds;
}

void CUDAGuardImpl::recordDataPtrOnStream(const DataPtr& data_ptr, const Stream& stream) const {
  CUDACachingAllocator::get()->recordStream(data_ptr, stream);
}

} // namespace reftorch::c10::cuda::impl

namespace reftorch::c10::cuda {

// Registers CUDA, unless the simulator has no devices. A process with a sleeping simulator then behaves, and reports
// errors, as a build without CUDA does.
static const bool registered = [] {
#if defined(CUDA_SIM)
  if (device_count() == 0) {
    return false;
  }
#endif
  c10::impl::DeviceGuardImplRegistrar(DeviceType::CUDA, new impl::CUDAGuardImpl());
  return true;
}();

} // namespace reftorch::c10::cuda
