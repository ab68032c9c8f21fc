// Mirrors: c10/core/CPUAllocator.cpp, c10/cuda/CUDACachingAllocator.cpp
//
// Left out: splitting and merging of blocks that are free, streams, memory history.
//
// Note [Caching CPU allocator]
// Problem: the first write to fresh memory faults on every page, which limits the write to about 2 GB/s. malloc returns
// blocks of more than 32 MiB to the kernel when they are freed, so a loop that makes a 40 MB result faults on its pages
// in every round. Small tensors pay for the bookkeeping of malloc and posix_memalign. Trick: the allocator keeps the
// blocks that are freed. It rounds each size up to a size class, of which there are four for each power of two from 64
// bytes up, so a block of more than 64 bytes is at most a quarter larger than the request. A freed block goes to the
// free list of its class. Blocks of up to 64 KiB go to lists that belong to the freeing thread and need no lock. Larger
// blocks, and the small blocks of a thread whose lists hold kMaxSmallPerThread bytes, go to lists that all threads
// share under a mutex. The shared lists hold at most kMaxCachedBytes; beyond that limit the memory of a block is
// returned to the system.
//
// Note [Segments of huge pages]
// Problem: the processor translates addresses page by page and remembers the last translations in a small table, the
// TLB. A training step works on tens of megabytes, which are thousands of pages of 4 KiB, so nearly every page that an
// op touches costs a walk through the page tables. Trick: Linux can map 2 MiB by one huge page, but only where a whole
// aligned range of 2 MiB belongs to the program. So blocks of more than 64 KiB and up to 8 MiB (medium blocks) are not
// requested from malloc one by one. They are cut, one behind the other, from segments of 32 MiB, for which we ask for
// huge pages. Measured on a virtual machine with a Xeon: writing 1.5 MB that were not in the cache took 95 us instead
// of 156 us, in one process. Training steps of a small GPT took 49 to 64 ms, and 81 to 114 ms in processes for which
// the kernel had been told to use no huge pages (PR_SET_THP_DISABLE); the machine was slow and its times varied.
// Limits: a block that was cut stays a block of its class, and its segment is never unmapped. When the memory of a
// medium block goes back to the system, the kernel takes the pages away and the address range stays: the block goes to
// the list of released blocks, and the next write to it gets fresh pages. The rest of a segment that is too small for
// the next block is left over; no memory belongs to it until somebody writes there.
#include <c10/core/CPUAllocator.h>

#include <c10/util/Exception.h>
#include <c10/util/LongWork.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include <pthread.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace reftorch::c10 {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallBlock = size_t(64) << 10;
constexpr size_t kHugePage = size_t(2) << 20;
constexpr size_t kSegment = size_t(32) << 20;
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
constexpr size_t kMediumBlock = size_t(8) << 20;
#else
// There are no medium blocks. AddressSanitizer finds a write past the end of a block only if malloc made the block.
constexpr size_t kMediumBlock = kSmallBlock;
#endif
constexpr int64_t kMaxCachedBytes = int64_t(2) << 30;
constexpr int64_t kMaxSmallPerThread = int64_t(4) << 20;
constexpr int kNumClasses = 4 * 48;

// The header in front of the data of every block, so that free_block() needs only the pointer.
struct alignas(kAlignment) BlockHeader {
  size_t capacity; // bytes of data, without the header
  int size_class;
};

// Returns the size class of a request. There are four classes for each power of two, from 64 bytes up.
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

// Whether blocks of this capacity are cut from segments; see Note [Segments of huge pages].
bool is_medium(size_t capacity) {
  return capacity > kSmallBlock && capacity <= kMediumBlock;
}

std::atomic<size_t> system_allocations{0};

// A number that only one thread at a time writes and any thread may read. Because there is one writer, add() is a load
// and a store. A locked instruction would cost more than the rest of a small allocation.
class Counter {
 public:
  void add(int64_t n) {
    value_.store(get() + n, std::memory_order_relaxed);
  }
  int64_t get() const {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<int64_t> value_{0};
};

struct FreeLists {
  std::vector<BlockHeader*> lists[kNumClasses];
  Counter bytes;

  BlockHeader* take(int size_class) {
    auto& list = lists[size_class];
    if (list.empty()) {
      return nullptr;
    }
    BlockHeader* block = list.back();
    list.pop_back();
    bytes.add(-static_cast<int64_t>(block->capacity));
    return block;
  }
  void put(BlockHeader* block) {
    lists[block->size_class].push_back(block);
    bytes.add(static_cast<int64_t>(block->capacity));
  }
  // Calls `release` with every block and empties the lists. Returns how many bytes the blocks had.
  template <typename Release>
  size_t clear(const Release& release) {
    const int64_t freed = bytes.get();
    for (auto& list : lists) {
      std::for_each(list.begin(), list.end(), release);
      list.clear();
    }
    bytes.add(-freed);
    return static_cast<size_t>(freed);
  }
};

// Asks the kernel for huge pages. This is a hint: if the call fails, nothing changes.
void advise_huge_pages(void* memory, size_t n) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  madvise(memory, n, MADV_HUGEPAGE);
#endif
}

// The part of the current segment that no block has been cut from.
struct Segment {
  char* next = nullptr;
  char* end = nullptr;

  // Returns memory for a block, from a new segment if this one is too small. Returns null if the system has none left.
  void* cut(size_t n) {
    if (static_cast<size_t>(end - next) < n) {
      void* memory = nullptr;
      if (posix_memalign(&memory, kHugePage, kSegment) != 0) {
        return nullptr;
      }
      advise_huge_pages(memory, kSegment);
      next = static_cast<char*>(memory);
      end = next + kSegment;
    }
    return std::exchange(next, next + n);
  }
};

struct ThreadCache;

struct SharedCache {
  std::mutex mutex; // protects all members below
  FreeLists lists;
  FreeLists released; // medium blocks whose memory the system has back
  Segment segment;
  std::vector<const ThreadCache*> threads;
  Counter allocated; // bytes allocated less bytes freed, by threads that have ended

  // Returns the memory of a free block to the system.
  void release(BlockHeader* block) {
    if (!is_medium(block->capacity)) {
      std::free(block);
      return;
    }
#ifdef __linux__
    // The header shares its page with the block before, so only whole pages of data are given back.
    const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t data = reinterpret_cast<uintptr_t>(block + 1);
    const uintptr_t start = (data + page - 1) / page * page, end = (data + block->capacity) / page * page;
    madvise(reinterpret_cast<void*>(start), end - start, MADV_DONTNEED);
#endif
    released.put(block);
  }
};
// The shared cache is never destroyed, because tensors may outlive every static object.
SharedCache& shared_cache() {
  static SharedCache* cache = new SharedCache;
  return *cache;
}

// The forking thread locks the shared lists while it forks, so that they are consistent in the child; see Note [Fork].
const int allocator_atfork_registered = pthread_atfork(
    [] { shared_cache().mutex.lock(); }, [] { shared_cache().mutex.unlock(); }, [] { shared_cache().mutex.unlock(); });

// The free lists of one thread. When the thread ends, the destructor frees the blocks in the lists.
struct ThreadCache {
  FreeLists lists;
  Counter allocated; // bytes allocated less bytes freed by this thread: negative if it frees blocks of other threads

  ThreadCache() {
    SharedCache& shared = shared_cache();
    std::lock_guard<std::mutex> lock(shared.mutex);
    shared.threads.push_back(this);
  }
  ~ThreadCache() {
    SharedCache& shared = shared_cache();
    std::lock_guard<std::mutex> lock(shared.mutex);
    shared.threads.erase(std::find(shared.threads.begin(), shared.threads.end(), this));
    shared.allocated.add(allocated.get());
    lists.clear(std::free); // the lists of a thread hold small blocks only
  }
};
// Returns this thread's cache, or null while the thread is ending: blocks that are freed then go to the shared lists.
// The cache is allocated on the heap and only a pointer to it is thread_local, because the room for fast thread_local
// variables is small and other libraries need it too (see TLS in cpp/CMakeLists.txt).
ThreadCache* thread_cache() {
  static thread_local ThreadCache* cache = nullptr;
  static thread_local bool ended = false;
  struct Owner {
    ~Owner() {
      ended = true;
      delete std::exchange(cache, nullptr);
    }
  };
  if (cache == nullptr && !ended) {
    static thread_local Owner owner;
    cache = new ThreadCache;
  }
  return cache;
}

void free_block(void* context) {
  BlockHeader* block = static_cast<BlockHeader*>(context);
  const int64_t capacity = static_cast<int64_t>(block->capacity);
  ThreadCache* const mine = thread_cache();
  if (mine != nullptr) {
    mine->allocated.add(-capacity);
    if (block->capacity <= kSmallBlock && mine->lists.bytes.get() < kMaxSmallPerThread) {
      mine->lists.put(block);
      return;
    }
  }
  SharedCache& shared = shared_cache();
  std::lock_guard<std::mutex> lock(shared.mutex);
  if (mine == nullptr) {
    shared.allocated.add(-capacity);
  }
  if (shared.lists.bytes.get() + capacity > kMaxCachedBytes) {
    shared.release(block);
  } else {
    shared.lists.put(block);
  }
}

// Returns a free block of the class, or null if neither this thread's lists nor the shared lists have one.
BlockHeader* take_block(int size_class, size_t capacity) {
  ThreadCache* const mine = thread_cache();
  BlockHeader* block = nullptr;
  if (mine != nullptr) {
    mine->allocated.add(static_cast<int64_t>(capacity));
    block = capacity <= kSmallBlock ? mine->lists.take(size_class) : nullptr;
  }
  if (block == nullptr) {
    SharedCache& shared = shared_cache();
    std::lock_guard<std::mutex> lock(shared.mutex);
    if (mine == nullptr) {
      shared.allocated.add(static_cast<int64_t>(capacity));
    }
    block = shared.lists.take(size_class);
    if (block == nullptr && is_medium(capacity)) {
      block = shared.released.take(size_class);
    }
  }
  return block;
}

class CachingCPUAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t n) override {
    if (n == 0) {
      return DataPtr(nullptr, nullptr, nullptr, Device(kCPU));
    }
    TORCH_CHECK(n <= (size_t(1) << 46), "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", n,
                " bytes.");
    if (n > LongWork::kBytes) {
      LongWork::begin(); // the caller is going to write at least n bytes
    }
    const int size_class = size_class_of(n);
    const size_t capacity = class_capacity(size_class);
    BlockHeader* block = take_block(size_class, capacity);
    if (block == nullptr) {
      block = allocate_from_system(n, size_class, capacity);
    }
    return DataPtr(block + 1, block, free_block, Device(kCPU));
  }

  void copy_data(void* dest, const void* src, size_t count) const override {
    std::memcpy(dest, src, count);
  }

  size_t empty_cache() override {
    ThreadCache* const mine = thread_cache();
    size_t freed = mine != nullptr ? mine->lists.clear(std::free) : 0;
    SharedCache& shared = shared_cache();
    std::lock_guard<std::mutex> lock(shared.mutex);
    return freed + shared.lists.clear([&](BlockHeader* block) { shared.release(block); });
  }

 private:
  BlockHeader* allocate_from_system(size_t n, int size_class, size_t capacity) {
    void* memory = memory_of_system(capacity);
    if (memory == nullptr) {
      empty_cache();
      memory = memory_of_system(capacity);
      TORCH_CHECK(memory != nullptr, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", n,
                  " bytes.");
    }
    system_allocations.fetch_add(1, std::memory_order_relaxed);
    return new (memory) BlockHeader{capacity, size_class};
  }

  // Returns memory for a block and its header, or null if there is none left.
  static void* memory_of_system(size_t capacity) {
    const size_t nbytes = sizeof(BlockHeader) + capacity;
    if (is_medium(capacity)) {
      SharedCache& shared = shared_cache();
      std::lock_guard<std::mutex> lock(shared.mutex);
      return shared.segment.cut(nbytes);
    }
    void* memory = nullptr;
    if (posix_memalign(&memory, capacity >= kHugePage ? kHugePage : kAlignment, nbytes) != 0) {
      return nullptr;
    }
    if (capacity >= kHugePage) {
      advise_huge_pages(memory, nbytes);
    }
    return memory;
  }
};

} // namespace

Allocator* GetCPUAllocator() {
  static CachingCPUAllocator* allocator = new CachingCPUAllocator;
  return allocator;
}

CPUMemoryStats getCPUMemoryStats() {
  SharedCache& shared = shared_cache();
  std::lock_guard<std::mutex> lock(shared.mutex);
  int64_t allocated = shared.allocated.get(), cached = shared.lists.bytes.get();
  for (const ThreadCache* thread : shared.threads) {
    allocated += thread->allocated.get();
    cached += thread->lists.bytes.get();
  }
  return {static_cast<size_t>(allocated), static_cast<size_t>(cached), system_allocations.load()};
}

} // namespace reftorch::c10
