// Mirrors: nothing in PyTorch, whose bindings give the GIL up for every op.
// Tells whoever waits for this thread that the thread is about to be busy for long. c10 knows no Python: the binding
// derives a class that gives the GIL up, see Note [GIL and kernels] in csrc/python_gil.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reftorch::c10 {

class LongWork {
 public:
  // From here on, work is long: about four microseconds of an elementwise op.
  static constexpr int64_t kNumel = 16384;
  static constexpr size_t kBytes = size_t(64) << 10;
  static constexpr int64_t kFlops = int64_t(1) << 17;

  // To be called before work or a wait that may be long. Does nothing on a thread that nobody waits for.
  static void begin() {
    if (current_ != nullptr) {
      current_->on_begin();
    }
  }
  // While one lives, begin() does nothing on this thread.
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

  static inline thread_local LongWork* current_ = nullptr; // the innermost of this thread
};

} // namespace reftorch::c10
