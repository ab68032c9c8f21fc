// Mirrors: nothing in PyTorch, where each part of a device's state has a global table of its own
#include <c10/cuda/CUDADevice.h>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>

#include <deque>

namespace reftorch::c10::cuda {

// A capture may go on meanwhile. This is safe, because the memory of a graph is not freed before its last replay: see
// Note [Private pools].
static void* get_device_memory(size_t bytes) {
  const CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  C10_CUDA_CHECK(error);
  return data;
}
static void give_device_memory_back(void* data) {
  C10_CUDA_IGNORE_ERROR(cudaFree(data));
}

CUDADevice::CUDADevice(DeviceIndex index) : index_(index), memory_(index, get_device_memory, give_device_memory_back) {}

CUDADevice& CUDADevice::get(DeviceIndex index) {
  static auto* const devices = [] {
    auto* made = new std::deque<CUDADevice>;
    for (DeviceIndex i = 0; i < device_count(); i++) {
      made->emplace_back(i);
    }
    return made;
  }();
  TORCH_INTERNAL_ASSERT(index >= 0 && static_cast<size_t>(index) < devices->size(),
                        "no such CUDA device: ", static_cast<int>(index));
  return (*devices)[index];
}

const cudaDeviceProp& CUDADevice::properties() {
  return *properties_.get_or_make([this] {
    auto made = std::make_unique<cudaDeviceProp>();
    C10_CUDA_CHECK(cudaGetDeviceProperties(made.get(), index_));
    return made;
  });
}

StreamId CUDADevice::next_stream() {
  const CUDAGuard guard(index_);
  std::lock_guard<std::mutex> lock(mutex_);
  const size_t place = streams_handed_out_++ % streams_.size();
  if (streams_[place] == nullptr) {
    cudaStream_t stream = nullptr;
    C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    streams_[place] = stream;
  }
  return static_cast<StreamId>(place) + 1;
}

StreamId CUDADevice::adopt_stream(cudaStream_t handle) {
  if (handle == nullptr) {
    return 0;
  }
  for (size_t place = 0; place < streams_.size(); place++) {
    if (streams_[place].load() == handle) {
      return static_cast<StreamId>(place) + 1;
    }
  }
  std::lock_guard<std::mutex> lock(external_mutex_);
  const auto id = static_cast<StreamId>(reinterpret_cast<intptr_t>(handle));
  external_.insert(id);
  return id;
}

cudaStream_t CUDADevice::stream(StreamId id) const {
  if (id == 0) {
    return nullptr;
  }
  const bool is_place = id > 0 && static_cast<size_t>(id) <= streams_.size();
  if (!is_place) {
    std::lock_guard<std::mutex> lock(external_mutex_);
    if (external_.count(id) != 0) {
      return reinterpret_cast<cudaStream_t>(id);
    }
  }
  const cudaStream_t handle = is_place ? streams_[id - 1].load() : nullptr;
  TORCH_CHECK(handle != nullptr, "there is no stream with id ", id, " on device ", static_cast<int>(index_));
  return handle;
}

} // namespace reftorch::c10::cuda
