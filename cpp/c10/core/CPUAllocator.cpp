// Mirrors: c10/core/CPUAllocator.cpp, c10/cuda/CUDACachingAllocator.cpp
// Left out: block splitting and merging, streams, memory history.
//
// Note [Caching CPU allocator]
// Problem: the first write to fresh memory faults every page (about 2 GB/s), and malloc returns blocks over 32 MiB to
// the kernel on free, so a loop that makes a 40 MB result pays those faults each time. Small tensors pay malloc's and
// posix_memalign's bookkeeping. Trick: sizes are rounded up to a size class (four per power of two, so at most a
// quarter is wasted) and a freed block goes to the free list of its class. Blocks up to 64 KiB have a list per thread,
// used without a lock; larger ones share lists under a mutex. The shared cache holds at most kMaxCachedBytes; past that
// a block is returned to the system.
#include <c10/core/CPUAllocator.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace reftorch::c10 {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallBlock = size_t(64) << 10;
constexpr size_t kHugePage = size_t(2) << 20;
constexpr size_t kMaxCachedBytes = size_t(2) << 30;
constexpr size_t kMaxSmallPerThread = size_t(4) << 20;
constexpr int kNumClasses = 4 * 48;

// Before the data of every block, so that free() needs nothing but the pointer.
struct alignas(kAlignment) BlockHeader {
  size_t capacity; // bytes of data
  int size_class;
};

// Four classes per power of two, from 64 bytes up.
int size_class_of(size_t n) {
  if (n <= kAlignment) {
    return 0;
  }
  const int log2 = 63 - __builtin_clzll(n - 1); // n in (2^log2, 2^(log2+1)]
  const size_t quarter = size_t(1) << (log2 - 2);
  const int step = static_cast<int>((n - 1 - (size_t(1) << log2)) / quarter);
  return 4 * (log2 - 6) + step + 1;
}

size_t class_capacity(int size_class) {
  if (size_class == 0) {
    return kAlignment;
  }
  const int log2 = (size_class - 1) / 4 + 6;
  const int step = (size_class - 1) % 4;
  return (size_t(1) << log2) + (size_t(step) + 1) * (size_t(1) << (log2 - 2));
}

std::atomic<size_t> allocated_bytes{0}, cached_bytes{0}, system_allocations{0};

void return_to_system(BlockHeader* block) {
  cached_bytes.fetch_sub(block->capacity, std::memory_order_relaxed);
  std::free(block);
}

struct FreeLists {
  std::vector<BlockHeader*> lists[kNumClasses];
  size_t bytes = 0;

  BlockHeader* take(int size_class) {
    auto& list = lists[size_class];
    if (list.empty()) {
      return nullptr;
    }
    BlockHeader* block = list.back();
    list.pop_back();
    bytes -= block->capacity;
    return block;
  }
  void put(BlockHeader* block) {
    lists[block->size_class].push_back(block);
    bytes += block->capacity;
  }
  size_t clear() {
    size_t freed = bytes;
    for (auto& list : lists) {
      std::for_each(list.begin(), list.end(), return_to_system);
      list.clear();
    }
    bytes = 0;
    return freed;
  }
};

struct SharedCache {
  std::mutex mutex;
  FreeLists lists;
};
// Never destroyed: tensors may outlive every static object.
SharedCache& shared_cache() {
  static SharedCache* cache = new SharedCache;
  return *cache;
}

// Gives its blocks back when the thread ends. After that the pointer is null and the thread's frees go to the shared
// lists.
struct ThreadCache {
  FreeLists lists;
  bool alive = true;
  ~ThreadCache() {
    lists.clear();
    alive = false;
  }
};
thread_local ThreadCache thread_cache;

void put_block(BlockHeader* block) {
  cached_bytes.fetch_add(block->capacity, std::memory_order_relaxed);
  if (block->capacity <= kSmallBlock && thread_cache.alive && thread_cache.lists.bytes < kMaxSmallPerThread) {
    thread_cache.lists.put(block);
    return;
  }
  SharedCache& shared = shared_cache();
  std::lock_guard<std::mutex> lock(shared.mutex);
  if (shared.lists.bytes + block->capacity > kMaxCachedBytes) {
    return_to_system(block);
  } else {
    shared.lists.put(block);
  }
}

BlockHeader* take_block(int size_class, size_t capacity) {
  BlockHeader* block = nullptr;
  if (capacity <= kSmallBlock && thread_cache.alive) {
    block = thread_cache.lists.take(size_class);
  }
  if (block == nullptr) {
    SharedCache& shared = shared_cache();
    std::lock_guard<std::mutex> lock(shared.mutex);
    block = shared.lists.take(size_class);
  }
  if (block != nullptr) {
    cached_bytes.fetch_sub(capacity, std::memory_order_relaxed);
  }
  return block;
}

void free_block(void* context) {
  BlockHeader* block = static_cast<BlockHeader*>(context);
  allocated_bytes.fetch_sub(block->capacity, std::memory_order_relaxed);
  put_block(block);
}

class CachingCPUAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t n) override {
    if (n == 0) {
      return DataPtr(nullptr, nullptr, nullptr, Device(kCPU));
    }
    TORCH_CHECK_WITH(OutOfMemoryError, n <= (size_t(1) << 46),
                     "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", n, " bytes.");
    const int size_class = size_class_of(n);
    const size_t capacity = class_capacity(size_class);
    BlockHeader* block = take_block(size_class, capacity);
    if (block == nullptr) {
      block = allocate_from_system(n, size_class, capacity);
    }
    allocated_bytes.fetch_add(capacity, std::memory_order_relaxed);
    return DataPtr(block + 1, block, free_block, Device(kCPU));
  }

  size_t empty_cache() override {
    size_t freed = thread_cache.alive ? thread_cache.lists.clear() : 0;
    SharedCache& shared = shared_cache();
    std::lock_guard<std::mutex> lock(shared.mutex);
    return freed + shared.lists.clear();
  }

 private:
  BlockHeader* allocate_from_system(size_t n, int size_class, size_t capacity) {
    const size_t alignment = capacity >= kHugePage ? kHugePage : kAlignment;
    void* memory = nullptr;
    if (posix_memalign(&memory, alignment, sizeof(BlockHeader) + capacity) != 0) {
      empty_cache();
      const int err = posix_memalign(&memory, alignment, sizeof(BlockHeader) + capacity);
      TORCH_CHECK_WITH(OutOfMemoryError, err == 0, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ",
                       n, " bytes.");
    }
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (capacity >= kHugePage) {
      madvise(memory, sizeof(BlockHeader) + capacity, MADV_HUGEPAGE); // advice only: its failure changes nothing
    }
#endif
    system_allocations.fetch_add(1, std::memory_order_relaxed);
    return new (memory) BlockHeader{capacity, size_class};
  }
};

} // namespace

Allocator* GetCPUAllocator() {
  static CachingCPUAllocator* allocator = new CachingCPUAllocator;
  return allocator;
}

CPUMemoryStats getCPUMemoryStats() {
  return {allocated_bytes.load(), cached_bytes.load(), system_allocations.load()};
}

} // namespace reftorch::c10
