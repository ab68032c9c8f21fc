// Mirrors: aten/src/ATen/ThreadLocalState.h
// What a thread has set for its ops, to be taken along to another thread. Left out: the debug info and the recorded
// callbacks of the profiler, which start anew on each thread.
//
// Note [Thread-local state]
// Problem: modes (no_grad, vmap, saved tensor hooks, torch_function, ...) belong to a thread, and each is a
// thread_local variable of the file that reads it, some on floors that know Python. Where work moves to another thread,
// a mode that is forgotten changes results, or never ends. Trick: each variable that a program sets is registered
// beside its definition, with a function that reads and one that writes the calling thread's value. ThreadLocalState
// holds the values of all that is registered. tests/test__thread_local.py reads the sources, and fails for a
// thread_local variable that is neither registered nor on its list of those that stay behind, each with a reason.
#pragma once

#include <c10/macros/Export.h>

#include <any>
#include <type_traits>
#include <vector>

namespace reftorch::at {

class TORCH_API ThreadLocalState final {
 public:
  // Takes a copy of the calling thread's state.
  ThreadLocalState();
  // Makes `state` the calling thread's.
  static void setThreadLocalState(const ThreadLocalState& state);

  struct Variable {
    const char* name; // "DynamicLayer.cpp: layers": the file and the variable
    std::any (*get)();
    void (*set)(const std::any& value);
  };
  static void add(Variable variable);
  static const std::vector<Variable>& variables();

 private:
  std::vector<std::any> values_; // of variables(), in that order
};

// The calling thread has `state` for as long as the guard lives.
class TORCH_API ThreadLocalStateGuard final {
 public:
  explicit ThreadLocalStateGuard(const ThreadLocalState& state) {
    ThreadLocalState::setThreadLocalState(state);
  }
  ~ThreadLocalStateGuard() {
    ThreadLocalState::setThreadLocalState(former_);
  }
  ThreadLocalStateGuard(const ThreadLocalStateGuard&) = delete;
  ThreadLocalStateGuard& operator=(const ThreadLocalStateGuard&) = delete;

 private:
  const ThreadLocalState former_;
};

// Registers a variable: `get()` returns the calling thread's value, `set(value)` stores one.
template <auto get, auto set>
struct RegisterThreadLocal {
  explicit RegisterThreadLocal(const char* name) {
    using T = std::decay_t<decltype(get())>;
    ThreadLocalState::add(
        {name, [] { return std::any(get()); }, [](const std::any& value) { set(std::any_cast<const T&>(value)); }});
  }
};

} // namespace reftorch::at
