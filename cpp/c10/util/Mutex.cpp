// Mirrors: nothing in PyTorch; see Mutex.h
#include <c10/util/Mutex.h>

#include <new>
#include <thread>

#include <pthread.h>

namespace reftorch::c10 {

C10_API std::atomic<uint32_t> impl::fork_generation{0}; // extensions use inline functions of Mutex.h

static const int mutex_atfork_registered = pthread_atfork(nullptr, nullptr, [] { impl::fork_generation++; });

// Several threads of the child may find the same mutex out of date. The thread that sets the mark kRenewing makes a new
// mutex in its place; the others wait until the mark is gone.
void Mutex::renew() {
  constexpr uint32_t kRenewing = uint32_t(1) << 31;
  const uint32_t now = fork_generation();
  for (uint32_t seen = generation_.load(); seen != now; seen = generation_.load()) {
    if (seen == (now | kRenewing)) {
      std::this_thread::yield();
    } else if (generation_.compare_exchange_weak(seen, now | kRenewing)) {
      new (&mutex_) std::mutex; // not destroyed first: destroying a locked mutex is undefined, and the destructor has
                                // nothing to free
      generation_.store(now, std::memory_order_release);
    }
  }
}

} // namespace reftorch::c10
