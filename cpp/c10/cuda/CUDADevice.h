// Mirrors: nothing in PyTorch, where each part of a device's state has a global table of its own
//
// The state of one CUDA device: its properties, streams, cached memory, cuBLAS handle and default generator. Each
// device has its own lock, so that threads which use different devices do not wait for each other. The objects are
// never destroyed, because tensors may be freed while the program ends.
#pragma once

#include <c10/core/GeneratorImpl.h>
#include <c10/core/Stream.h>
#include <c10/cuda/DeviceCachingAllocator.h>
#include <c10/util/LazyPtr.h>
#include <c10/util/intrusive_ptr.h>

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>

namespace reftorch::c10::cuda {

class C10_API CUDADevice final {
 public:
  // Returns the state of a device. The caller has checked that the device exists.
  static CUDADevice& get(DeviceIndex index);

  explicit CUDADevice(DeviceIndex index);

  // Asks CUDA for the properties at the first call.
  const cudaDeviceProp& properties();

  // Returns the numbers of the pool's streams in turn: 1, 2, ..., 32, 1, ... Creates a stream at its first turn.
  StreamId next_stream();
  // Returns CUDA's handle of the stream; null for the default stream, number 0. Takes no lock for the pool's streams.
  cudaStream_t stream(StreamId id) const;
  // Returns the number by which the functions here know a stream that another library has made: the address of the
  // stream itself. Its maker destroys the stream after its last use.
  StreamId adopt_stream(cudaStream_t handle);

  // The memory of the device. It has a lock of its own.
  DeviceCachingAllocator& memory() {
    return memory_;
  }

  // The lock of the parts below, and of next_stream().
  std::mutex& mutex() {
    return mutex_;
  }
  // Null until the first product makes the handle. The caller holds the lock until it has launched its product, because
  // all threads share the handle, and the stream is a part of it.
  cublasHandle_t& cublas_handle() {
    return cublas_handle_;
  }

  // Returns the default generator. `make` returns a new one; it is called at the first call.
  template <typename Make>
  const intrusive_ptr<GeneratorImpl>& default_generator(const Make& make) {
    return *generator_.get_or_make([&] { return std::make_unique<intrusive_ptr<GeneratorImpl>>(make()); });
  }

 private:
  const DeviceIndex index_;
  std::mutex mutex_;
  LazyPtr<cudaDeviceProp> properties_;
  std::array<std::atomic<cudaStream_t>, 32> streams_{};
  size_t streams_handed_out_ = 0;
  mutable std::mutex external_mutex_; // of external_; never held while another lock is taken
  std::set<StreamId> external_;       // see adopt_stream
  DeviceCachingAllocator memory_;
  cublasHandle_t cublas_handle_ = nullptr;
  LazyPtr<intrusive_ptr<GeneratorImpl>> generator_;
};

} // namespace reftorch::c10::cuda
