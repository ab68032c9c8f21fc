// Mirrors: c10/cuda/CUDAStream.h
//
// CUDA streams for the stream numbers of c10::Stream. Each device has a default stream, number 0, which is CUDA's
// legacy stream, and a pool of streams that the whole program shares. getStreamFromPool returns the streams of the pool
// in turn, so a program that asks for many streams gets some of them again. A stream of the pool is created when it is
// first returned, and lives as long as the program. Left out: streams made by other libraries. Priorities are accepted
// and have no effect.
#pragma once

#include <c10/core/Stream.h>
#include <c10/cuda/CUDAException.h>
#include <c10/util/Exception.h>

namespace reftorch::c10::cuda {

class C10_API CUDAStream final {
 public:
  explicit CUDAStream(Stream stream) : stream_(stream) {
    TORCH_CHECK(stream.device_type() == DeviceType::CUDA, "expected a CUDA stream, got ", stream);
  }
  bool operator==(const CUDAStream& other) const {
    return stream_ == other.stream_;
  }
  bool operator!=(const CUDAStream& other) const {
    return !(*this == other);
  }
  // Returns CUDA's handle of the stream; null for the default stream.
  cudaStream_t stream() const;
  operator cudaStream_t() const {
    return stream();
  }
  operator Stream() const {
    return stream_;
  }
  const Stream& unwrap() const {
    return stream_;
  }
  DeviceIndex device_index() const {
    return stream_.device_index();
  }
  StreamId id() const {
    return stream_.id();
  }
  bool query() const;
  void synchronize() const;

 private:
  Stream stream_;
};

// An index of -1 means the current device.
C10_API CUDAStream getStreamFromPool(DeviceIndex device_index = -1);
C10_API CUDAStream getDefaultCUDAStream(DeviceIndex device_index = -1);
// Returns the stream on which this thread's ops on that device run.
C10_API CUDAStream getCurrentCUDAStream(DeviceIndex device_index = -1);
C10_API void setCurrentCUDAStream(CUDAStream stream);

} // namespace reftorch::c10::cuda
