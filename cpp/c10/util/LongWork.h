// Mirrors: nothing in PyTorch, whose bindings give the GIL up for every op.
//
// A signal that this thread is about to be busy for a long time, for the code that waits for the thread. The Python
// binding derives a class that releases the GIL at this signal, see Note [GIL and kernels] in csrc/python_gil.h. c10
// itself knows no Python.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reftorch::c10 {

class LongWork {
 public:
  // Work of this size or larger counts as long: an elementwise op on kNumel elements takes about four microseconds.
  static constexpr int64_t kNumel = 16384;
  static constexpr size_t kBytes = size_t(64) << 10;
  static constexpr int64_t kFlops = int64_t(1) << 17;

  // Call this before work, or a wait, that may be long. Does nothing on a thread that nothing waits for.
  static void begin() {
    if (current_ != nullptr) {
      current_->on_begin();
    }
  }
  // While an object of this class lives, begin() does nothing on this thread.
  class Suspended final {
   public:
    Suspended() : outer_(current_) {
      current_ = nullptr;
    }
    ~Suspended() {
      current_ = outer_;
    }
    Suspended(const Suspended&) = delete;
    Suspended& operator=(const Suspended&) = delete;

   private:
    LongWork* const outer_;
  };

  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

 protected:
  LongWork() = default;
  ~LongWork() = default;
  virtual void on_begin() = 0;

  static inline thread_local LongWork* current_ = nullptr; // the innermost object of this thread
};

} // namespace reftorch::c10
