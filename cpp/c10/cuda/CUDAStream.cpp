// Mirrors: c10/cuda/CUDAStream.cpp
#include <c10/cuda/CUDAStream.h>

#include <c10/cuda/CUDADevice.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/LongWork.h>

#include <memory>

namespace reftorch::c10::cuda {

namespace {

// The ids of this thread's current streams, one for each device. Null means that every current stream is the default
// stream. The variable is a pointer because the room for thread_local variables is small.
thread_local std::unique_ptr<StreamId[]> current_streams;

DeviceIndex or_current(DeviceIndex device_index) {
  return device_index == -1 ? current_device() : device_index;
}

void check_index(DeviceIndex device_index) {
  TORCH_CHECK(device_index >= 0 && device_index < device_count(), "Device index value ", static_cast<int>(device_index),
              " is out of index range [0, ", static_cast<int>(device_count()), ")");
}

} // namespace

cudaStream_t CUDAStream::stream() const {
  check_index(device_index());
  return CUDADevice::get(device_index()).stream(id());
}

// The handle of the default stream means the default stream of the current device, so a guard makes the stream's device
// current.
bool CUDAStream::query() const {
  const CUDAGuard guard(device_index());
  const cudaError_t error = cudaStreamQuery(stream());
  if (error == cudaErrorNotReady) {
    (void)cudaGetLastError(); // a stream that is still busy is not an error
    return false;
  }
  C10_CUDA_CHECK(error);
  return true;
}

void CUDAStream::synchronize() const {
  LongWork::begin(); // a kernel, or a collective that waits for another thread of this process
  const CUDAGuard guard(device_index());
  C10_CUDA_CHECK(cudaStreamSynchronize(stream()));
}

CUDAStream getStreamFromPool(DeviceIndex device_index) {
  device_count_ensure_non_zero();
  device_index = or_current(device_index);
  check_index(device_index);
  const StreamId id = CUDADevice::get(device_index).next_stream();
  return CUDAStream(Stream(Stream::UNSAFE, Device(DeviceType::CUDA, device_index), id));
}

CUDAStream getDefaultCUDAStream(DeviceIndex device_index) {
  device_index = or_current(device_index);
  check_index(device_index);
  return CUDAStream(Stream(Stream::DEFAULT, Device(DeviceType::CUDA, device_index)));
}

CUDAStream getCurrentCUDAStream(DeviceIndex device_index) {
  device_index = or_current(device_index);
  check_index(device_index);
  const StreamId id = current_streams == nullptr ? 0 : current_streams[device_index];
  return CUDAStream(Stream(Stream::UNSAFE, Device(DeviceType::CUDA, device_index), id));
}

void setCurrentCUDAStream(CUDAStream stream) {
  stream.stream(); // raises if there is no such stream
  if (current_streams == nullptr) {
    current_streams = std::make_unique<StreamId[]>(device_count());
  }
  current_streams[stream.device_index()] = stream.id();
}

} // namespace reftorch::c10::cuda
