// Mirrors: c10/core/GradMode.h, c10/core/AutogradState.h
//
// The autograd modes of a thread: whether it records ops, whether its views record the op that made them, whether it
// computes tangents, and on which threads its backward passes run. Inference mode is in InferenceMode.h.
#pragma once

#include <atomic>

namespace reftorch::c10 {

class GradMode final {
 public:
  static bool is_enabled() {
    return enabled_;
  }
  static void set_enabled(bool enabled) {
    enabled_ = enabled;
  }

 private:
  static inline thread_local bool enabled_ = true;
};

// Whether a view that this thread makes records the op that made it.
class ViewReplay final {
 public:
  static bool is_enabled() {
    return enabled_;
  }
  static void set_enabled(bool enabled) {
    enabled_ = enabled;
  }

 private:
  static inline thread_local bool enabled_ = false;
};

// Whether a backward pass that this thread starts uses the threads of the devices. Otherwise this thread runs all
// nodes.
class BackwardMultithreading final {
 public:
  static bool is_enabled() {
    return enabled_;
  }
  static void set_enabled(bool enabled) {
    enabled_ = enabled;
  }

 private:
  static inline thread_local bool enabled_ = true;
};

// Whether this thread computes tangents: at least one dual level is open, and the thread has not disabled forward mode.
// The number of open levels belongs to the whole process, so that the test costs an op one load.
class ForwardAD final {
 public:
  static bool is_active() {
    return __builtin_expect(open_levels_.load(std::memory_order_relaxed) != 0, 0) && enabled_;
  }
  static bool is_enabled() {
    return enabled_;
  }
  static void set_enabled(bool enabled) {
    enabled_ = enabled;
  }
  static void add_level(int change) {
    open_levels_ += change;
  }

 private:
  static inline std::atomic<int> open_levels_{0};
  static inline thread_local bool enabled_ = true;
};

// Switches a mode on or off until the end of the scope.
template <typename Mode>
class ModeGuard final {
 public:
  explicit ModeGuard(bool enabled) : previous_(Mode::is_enabled()) {
    Mode::set_enabled(enabled);
  }
  ~ModeGuard() {
    Mode::set_enabled(previous_);
  }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  bool previous_;
};
using AutoGradMode = ModeGuard<GradMode>;
using AutoFwGradMode = ModeGuard<ForwardAD>;

class NoGradGuard final {
 public:
  NoGradGuard() : mode_(false) {}

 private:
  AutoGradMode mode_;
};

} // namespace reftorch::c10
