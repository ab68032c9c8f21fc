// Mirrors: nothing in PyTorch, whose locks do not survive a fork.
//
// Note [Fork]
// Problem: fork() copies the memory of the process, but only the thread that called it. A lock that another thread held
// at that moment stays locked in the child for ever, and a pool of worker threads has no workers there. Trick, in three
// parts. First, a c10::Mutex remembers the number of forks that led to the process that last used the mutex. If this
// number differs from the current number, any holder of the lock was a thread of the parent, and a new mutex is made
// before it is locked. Nothing waits at the fork itself, because a thread that holds a mutex may be waiting for
// Python's GIL, which the forking thread holds. Second, the forking thread locks the free lists of the CPU allocator
// while it forks (CPUAllocator.cpp). These lists must be consistent in the child, and every lock on them is short.
// Third, the child computes with one thread. If the child asks for more threads, it makes new ones (ATen/Parallel.cpp).
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/LongWork.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace reftorch::c10 {

namespace impl {
extern std::atomic<uint32_t> fork_generation;
}

// The number of forks between the process that loaded the library and this process.
inline uint32_t fork_generation() {
  return impl::fork_generation.load(std::memory_order_relaxed);
}

// A std::mutex that is unlocked in the child of a fork. A thread that has to wait for the mutex releases the GIL: see
// Note [GIL and kernels].
class Mutex final {
 public:
  Mutex() : generation_(fork_generation()) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    if (!try_lock()) {
      LongWork::begin();
      mutex_.lock();
    }
  }
  bool try_lock() {
    if (__builtin_expect(generation_.load(std::memory_order_acquire) != fork_generation(), 0)) {
      renew();
    }
    return mutex_.try_lock();
  }
  void unlock() {
    mutex_.unlock();
  }

 private:
  C10_API void renew();

  std::mutex mutex_;
  std::atomic<uint32_t> generation_; // the number of forks for which mutex_ is valid
};

} // namespace reftorch::c10
