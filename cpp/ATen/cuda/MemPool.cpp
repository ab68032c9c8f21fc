// Mirrors: aten/src/ATen/cuda/MemPool.cpp
#include <ATen/cuda/MemPool.h>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

namespace reftorch::at::cuda {

MemPool::MemPool(CUDAAllocator* allocator, bool is_user_created, bool use_on_oom, bool no_split)
    : id_(graph_pool_handle(is_user_created)), device_(c10::cuda::current_device()) {
  auto* const owner = c10::cuda::CUDACachingAllocator::get();
  owner->createOrIncrefPool(device_, id_, allocator);
  if (use_on_oom) {
    owner->setUseOnOOM(device_, id_);
  }
  if (no_split) {
    owner->setNoSplit(device_, id_);
  }
}

MemPool::~MemPool() {
  auto* const allocator = c10::cuda::CUDACachingAllocator::get();
  allocator->releasePool(device_, id_);
  allocator->emptyPool(device_, id_);
}

int MemPool::use_count() const {
  return c10::cuda::CUDACachingAllocator::get()->getPoolUseCount(device_, id_);
}

} // namespace reftorch::at::cuda
