// Mirrors: torch/csrc/distributed/c10d/Utils.hpp
//
// What all files of this folder share: deadlines, threads with names, and waiting that Ctrl-C ends. Left out: debugging
// helpers, prefixes of environment variables, conversions of tensors.
//
// Note [Threads of a process group]
// Problem: a debugger that stops a rank in Python stops all Python threads of that rank. If one of these threads served
// the store or moved the bytes of a collective, the other ranks would wait too. Trick: the threads that do this are C++
// threads and never take the GIL. They have names, which gdb and VS Code show in the list of threads: `store_server`,
// `pg_gloo` (one for each group), `pg_mailbox` (one for each group), and two that call Python: `pg_futures`, and
// `pg_stack` while it reads the stack of a rank for another rank. They block all signals, so that a signal always
// interrupts a thread of the caller. Limits: gdb stops these threads too.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace reftorch::c10d {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
using Milliseconds = std::chrono::milliseconds;

constexpr Deadline kForever = Deadline::max();

// Returns the time in `timeout` from now. A timeout of years is cut, because the clock would overflow.
Deadline deadline_after(Milliseconds timeout);

// Returns 0 after the deadline, and at most a day.
int milliseconds_left(Deadline deadline);

// A thread with a name (of at most 15 characters) that is joined by the destructor. In a child of fork(), which has no
// copy of the thread, the destructor does nothing.
class Thread final {
 public:
  Thread() = default;
  Thread(const char* name, std::function<void()> body);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&&) = default;
  ~Thread() {
    join();
  }
  void join();

 private:
  std::unique_ptr<std::thread> thread_;
  int process_ = 0;
};

// Called between two slices of a long wait on a thread of the caller, where it may throw: the binding looks whether
// Python received a signal. Without a binding, nothing happens.
void check_interrupt();
void set_interrupt_check(void (*check)());
// The length of such a slice.
constexpr Milliseconds kSlice{200};

// Returns as text where the thread `thread` (of pthread_self()) is in the program, and `doing`, what its rank does. The
// binding reads Python's stack, for which it takes the GIL. Without a binding, the text is `doing`.
using StackReader = std::string (*)(unsigned long thread, const std::string& doing);
std::string read_stack(unsigned long thread, const std::string& doing);
void set_stack_reader(StackReader reader);

} // namespace reftorch::c10d
