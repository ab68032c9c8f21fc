// Mirrors: aten/src/ATen/ThreadLocalState.h
//
// The modes that a thread has set for its ops, copied so that another thread can continue its work. Left out: the debug
// info and the recorded callbacks of the profiler, which start again on each thread.
//
// Note [Thread-local state]
// Problem: modes (no_grad, vmap, saved tensor hooks, torch_function, ...) belong to a thread. Each is a thread_local
// variable of the file that reads it, and some of these files belong to layers that know Python. When work moves to
// another thread and a mode is not copied, results change or the work never ends. Trick: each variable that a program
// can set is registered next to its definition, with a function that reads the calling thread's value and one that
// writes it. ThreadLocalState holds the values of all registered variables. tests/test__thread_local.py reads the
// sources and fails for a thread_local variable that is neither registered nor on its list of exceptions, each of which
// has a reason.
#pragma once

#include <c10/macros/Export.h>

#include <any>
#include <type_traits>
#include <vector>

namespace reftorch::at {

class TORCH_API ThreadLocalState final {
 public:
  // Copies the state of the calling thread.
  ThreadLocalState();
  // Makes `state` the state of the calling thread.
  static void setThreadLocalState(const ThreadLocalState& state);

  struct Variable {
    const char* name; // "DynamicLayer.cpp: layers": the file and the variable
    std::any (*get)();
    void (*set)(const std::any& value);
  };
  static void add(Variable variable);
  static const std::vector<Variable>& variables();

 private:
  std::vector<std::any> values_; // the values of variables(), in that order
};

// Sets the state of the calling thread to `state`, and restores the former state at the end of the scope.
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

// Registers a variable: `get()` returns the value of the calling thread, and `set(value)` stores a value.
template <auto get, auto set>
struct RegisterThreadLocal {
  explicit RegisterThreadLocal(const char* name) {
    using T = std::decay_t<decltype(get())>;
    ThreadLocalState::add(
        {name, [] { return std::any(get()); }, [](const std::any& value) { set(std::any_cast<const T&>(value)); }});
  }
};

} // namespace reftorch::at
