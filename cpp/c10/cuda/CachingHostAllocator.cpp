// Mirrors: aten/src/ATen/cuda/CachingHostAllocator.cpp, aten/src/ATen/cuda/PinnedMemoryAllocator.h
#include <c10/cuda/CachingHostAllocator.h>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CachedBlocks.h>
#include <c10/util/Exception.h>

#include <cstring>

namespace reftorch::c10::cuda {
namespace {

void* get_pinned_memory(size_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaMallocHost(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  C10_CUDA_CHECK(error);
  return data;
}
void give_pinned_memory_back(void* data) {
  C10_CUDA_IGNORE_ERROR(cudaFreeHost(data));
}

CachedBlocks& blocks() {
  static auto* const it = new CachedBlocks(get_pinned_memory, give_pinned_memory_back); // never destroyed
  return *it;
}

void free_block(void* context) {
  blocks().free(static_cast<Block*>(context));
}

// The stream of every block. Host memory belongs to no stream, so every stream that uses a block has to be announced.
const Stream kNoStream(Stream::UNSAFE, Device(DeviceType::CPU), -1);

struct PinnedMemoryAllocator final : Allocator {
  DataPtr allocate(size_t n) override {
    if (n == 0) {
      return {nullptr, nullptr, nullptr, Device(DeviceType::CPU)};
    }
    device_count_ensure_non_zero();
    Block* block = blocks().allocate(n, kNoStream);
    TORCH_CHECK_WITH(OutOfMemoryError, block != nullptr, "cannot pin ", n, " bytes of host memory");
    return {block->data, block, free_block, Device(DeviceType::CPU)};
  }
  void copy_data(void* dest, const void* src, size_t count) const override {
    std::memcpy(dest, src, count);
  }
  size_t empty_cache() override {
    return blocks().empty();
  }
};

} // namespace

Allocator* getPinnedMemoryAllocator() {
  static auto* const allocator = new PinnedMemoryAllocator;
  return allocator;
}

bool is_pinned(const DataPtr& data_ptr) {
  return data_ptr.get_deleter() == free_block;
}

bool CachingHostAllocator_recordEvent(const DataPtr& data_ptr, CUDAStream stream) {
  if (!is_pinned(data_ptr)) {
    return false;
  }
  blocks().record_stream(static_cast<Block*>(data_ptr.get_context()), stream);
  return true;
}

void CachingHostAllocator_emptyCache() {
  getPinnedMemoryAllocator()->empty_cache();
}

} // namespace reftorch::c10::cuda
