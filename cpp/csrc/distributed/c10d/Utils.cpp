// Mirrors: torch/csrc/distributed/c10d/Utils.cpp
#include <csrc/distributed/c10d/Utils.h>

#include <algorithm>
#include <cstdint>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace reftorch::c10d {

static constexpr Milliseconds kLongest{std::chrono::hours(24 * 365 * 10)};

Deadline deadline_after(Milliseconds timeout) {
  return Clock::now() + std::clamp(timeout, Milliseconds(0), kLongest);
}

int milliseconds_left(Deadline deadline) {
  const auto now = Clock::now();
  if (deadline <= now) {
    return 0;
  }
  // Rounded up: poll() would otherwise return at once, again and again, during the last millisecond.
  const auto left = std::chrono::duration_cast<Milliseconds>(deadline - now).count() + 1;
  return static_cast<int>(std::min<int64_t>(left, 86'400'000));
}

Thread::Thread(const char* name, std::function<void()> body) : process_(::getpid()) {
  // A thread inherits the signals that are blocked, so they are blocked before it begins.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::make_unique<std::thread>([name, body = std::move(body)] {
    ::pthread_setname_np(::pthread_self(), name);
    body();
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Thread::join() {
  if (thread_ == nullptr) {
    return;
  }
  if (process_ == ::getpid()) {
    thread_->join();
    thread_.reset();
  } else {
    thread_.release(); // the thread is the parent's; the destructor of std::thread would end the process
  }
}

static void (*interrupt_check)() = nullptr;

void check_interrupt() {
  if (interrupt_check != nullptr) {
    interrupt_check();
  }
}

void set_interrupt_check(void (*check)()) {
  interrupt_check = check;
}

static StackReader stack_reader = nullptr;

std::string read_stack(unsigned long thread, const std::string& doing) {
  return stack_reader == nullptr ? doing : stack_reader(thread, doing);
}

void set_stack_reader(StackReader reader) {
  stack_reader = reader;
}

} // namespace reftorch::c10d
