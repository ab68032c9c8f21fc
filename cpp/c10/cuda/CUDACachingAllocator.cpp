// Mirrors: c10/cuda/CUDACachingAllocator.cpp
#include <c10/cuda/CUDACachingAllocator.h>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/CachedBlocks.h>
#include <c10/util/Exception.h>

#include <cstdio>
#include <deque>

namespace reftorch::c10::cuda::CUDACachingAllocator {
namespace {

void* get_device_memory(size_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  C10_CUDA_CHECK(error);
  return data;
}
void give_device_memory_back(void* data) {
  C10_CUDA_IGNORE_ERROR(cudaFree(data));
}

std::deque<CachedBlocks>& blocks_of_devices() {
  static auto* const it = [] { // never destroyed, because tensors may be freed while the program ends
    auto* devices = new std::deque<CachedBlocks>;
    for (DeviceIndex i = 0; i < device_count(); i++) {
      devices->emplace_back(get_device_memory, give_device_memory_back);
    }
    return devices;
  }();
  return *it;
}
CachedBlocks& blocks_of(DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < device_count(), "Invalid device argument ", static_cast<int>(device),
              ": did you call init?");
  return blocks_of_devices()[device];
}

void free_block(void* context) {
  Block* block = static_cast<Block*>(context);
  blocks_of(block->stream.device_index()).free(block);
}

std::string format_size(size_t bytes) {
  char text[32];
  const double size = static_cast<double>(bytes);
  if (bytes < 1024) {
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  } else if (bytes < size_t(1) << 20) {
    std::snprintf(text, sizeof text, "%.2f KiB", size / 1024);
  } else if (bytes < size_t(1) << 30) {
    std::snprintf(text, sizeof text, "%.2f MiB", size / (1 << 20));
  } else {
    std::snprintf(text, sizeof text, "%.2f GiB", size / (1 << 30));
  }
  return text;
}

[[noreturn]] void report_out_of_memory(size_t request, DeviceIndex device) {
  size_t free_bytes = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  const DeviceStats stats = blocks_of(device).stats();
  TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ", format_size(request), ". GPU ",
                   static_cast<int>(device), " has a total capacity of ", format_size(total), " of which ",
                   format_size(free_bytes), " is free. Of the allocated memory ", format_size(stats.allocated_bytes),
                   " is allocated by PyTorch, and ", format_size(stats.reserved_bytes - stats.allocated_bytes),
                   " is reserved by PyTorch but unallocated.");
  std::abort(); // the check above throws
}

struct CUDAAllocator final : DeviceAllocator {
  DataPtr allocate(size_t n) override {
    const DeviceIndex device = current_device();
    if (n == 0) {
      return {nullptr, nullptr, nullptr, Device(DeviceType::CUDA, device)};
    }
    Block* block = blocks_of(device).allocate(n, getCurrentCUDAStream(device));
    if (block == nullptr) {
      report_out_of_memory(n, device);
    }
    return {block->data, block, free_block, Device(DeviceType::CUDA, device)};
  }
  void copy_data(void* dest, const void* src, size_t count) const override {
    C10_CUDA_CHECK(cudaMemcpyAsync(dest, src, count, cudaMemcpyDeviceToDevice, getCurrentCUDAStream()));
  }
  // Does nothing for memory that this allocator does not own.
  void recordStream(const DataPtr& ptr, Stream stream) override {
    if (ptr.get_deleter() == free_block) {
      Block* block = static_cast<Block*>(ptr.get_context());
      blocks_of(block->stream.device_index()).record_stream(block, stream);
    }
  }
  DeviceStats getDeviceStats(DeviceIndex device) override {
    return blocks_of(device).stats();
  }
  void resetPeakStats(DeviceIndex device) override {
    blocks_of(device).reset_peak_stats();
  }
  size_t empty_cache() override {
    size_t bytes = 0;
    for (CachedBlocks& blocks : blocks_of_devices()) {
      bytes += blocks.empty();
    }
    return bytes;
  }
};

struct RegisterAllocator {
  RegisterAllocator() {
    SetAllocator(DeviceType::CUDA, get());
  }
};
const RegisterAllocator register_allocator;

} // namespace

DeviceAllocator* get() {
  static auto* const allocator = new CUDAAllocator;
  return allocator;
}

void emptyCache() {
  get()->empty_cache();
}

} // namespace reftorch::c10::cuda::CUDACachingAllocator
