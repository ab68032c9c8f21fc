// Mirrors: nothing in PyTorch: what the simulator tells the compiler's sanitizers about its fibers
//
// Note [Fibers under a sanitizer]
// Problem: the address sanitizer knows the bounds of each thread's stack, and the thread sanitizer keeps a list of the
// calls that each thread is in. A switch from one fiber to another (Note [Fibers]) makes both wrong, and the next jump
// or report ends the process. Trick: the simulator tells the sanitizers of each switch: leave() immediately before it,
// and arrived() as the first thing on the other stack. In other builds these functions are empty.
//
// Limits: gcc's macros say which sanitizer a build has. A jump from fiber to fiber clears what the address sanitizer
// knows of the local arrays on the stack that is left, so it may miss a write past the end of an array of a kernel that
// has waited. The thread sanitizer counts each fiber as a thread, and it knows 8,128 at most.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace cudasim {

// One stack, as the sanitizers know it: that of a fiber, or the host thread's own, whose bounds nobody has to give.
class KnownStack {
 public:
#if defined(__SANITIZE_ADDRESS__)
  void begin(char* bottom, size_t bytes) { // nothing is on the stack, whatever was there before
    bottom_ = bottom;
    bytes_ = bytes;
    __asan_unpoison_memory_region(bottom, bytes);
  }
  void leave(const KnownStack& to) {
    __asan_handle_no_return(); // the functions that the jump leaves would keep the bounds of their local variables
    __sanitizer_start_switch_fiber(&fake_stack_, to.bottom_, to.bytes_);
  }
  void arrived(KnownStack& from) {
    __sanitizer_finish_switch_fiber(fake_stack_, &from.bottom_, &from.bytes_);
  }
  // The stack was left in the middle of calls that never return: forgets everything below the caller's frame.
  void forget_calls() {
    if (bottom_ != nullptr) {
      const char* const here = static_cast<const char*>(__builtin_frame_address(0));
      __asan_unpoison_memory_region(bottom_, static_cast<size_t>(here - static_cast<const char*>(bottom_)));
    }
  }
  void end() {
    __asan_unpoison_memory_region(bottom_, bytes_);
  }

 private:
  const void* bottom_ = nullptr;
  size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
#elif defined(__SANITIZE_THREAD__)
  void begin(char*, size_t) {
    end();
    fiber_ = __tsan_create_fiber(0);
    is_ours_ = true;
  }
  void leave(const KnownStack& to) {
    if (fiber_ == nullptr) {
      fiber_ = __tsan_get_current_fiber();
    }
    __tsan_switch_to_fiber(to.fiber_, 0); // 0: what was done before the switch happened before what is done after it
  }
  void arrived(KnownStack&) {}
  void forget_calls() {}
  void end() {
    if (is_ours_) {
      __tsan_destroy_fiber(fiber_);
      is_ours_ = false;
    }
  }

 private:
  void* fiber_ = nullptr;
  bool is_ours_ = false;
#else
  void begin(char*, size_t) {}
  void leave(const KnownStack&) {}
  void arrived(KnownStack&) {}
  void forget_calls() {}
  void end() {}
#endif
};

} // namespace cudasim
