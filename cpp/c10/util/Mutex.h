// Mirrors: nothing in PyTorch, whose locks do not survive a fork.
//
// Note [Fork]
// Problem: fork() copies the memory of the process, but only the thread that called it. A lock that another thread held
// at that moment stays locked in the child for ever, and a pool of worker threads has no workers. Trick, in three
// parts. First, a c10::Mutex remembers how many forks lie behind the process that used it last; where that number is
// not the number of today, whoever held the mutex is a thread of the parent, and the mutex is made anew before it is
// locked. Nothing waits at the fork itself: a thread that holds a mutex may be waiting for Python's GIL, which the
// forking thread holds. Second, what must be whole in the child and is locked for an instant only, the free lists of
// the allocator, is locked by the forking thread while it forks (CPUAllocator.cpp). Third, the child computes with one
// thread, and where it asks for more it makes them anew (ATen/Parallel.cpp).
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

// How many forks lie between the process that loaded the library and this one.
inline uint32_t fork_generation() {
  return impl::fork_generation.load(std::memory_order_relaxed);
}

// A std::mutex that is free in the child of a fork. A thread that has to wait for it gives the GIL up: see
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
  std::atomic<uint32_t> generation_; // of the process for which mutex_ is good
};

} // namespace reftorch::c10
