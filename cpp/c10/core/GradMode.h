// Mirrors: c10/core/GradMode.h
// Whether this thread records ops. Left out: forward-mode state. InferenceMode.h has inference mode.
#pragma once

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

class AutoGradMode final {
 public:
  explicit AutoGradMode(bool enabled) : previous_(GradMode::is_enabled()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() {
    GradMode::set_enabled(previous_);
  }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool previous_;
};

class NoGradGuard final {
 public:
  NoGradGuard() : mode_(false) {}

 private:
  AutoGradMode mode_;
};

} // namespace reftorch::c10
