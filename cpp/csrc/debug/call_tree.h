// Mirrors: nothing in PyTorch: its profiler (torch/csrc/profiler) records ops, not functions.
// Left out: times (a Debug build's would mislead), arguments, functions outside this library.
//
// In the Debug build functions of ours are compiled with -finstrument-functions, so that they report their entry and
// their exit; CMakeLists.txt says which do not. Between start_call_tree() and stop_call_tree() the reports become one
// tree a thread, Python frames included (python_call_tree.cpp feeds them into the same order). At all other times a
// report is one load and one branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reftorch::torch::debug {

// The top bit: no address of a user program has it, and functions need not be aligned.
constexpr std::uintptr_t kPythonCall = ~(~std::uintptr_t{0} >> 1);

// One call, or a run of `count` equal calls: the trees are in preorder, `depth` gives the shape.
struct Call {
  std::uintptr_t function; // the address of the function; of the code object, with kPythonCall, for a Python frame
  std::uint32_t depth;
  std::uint32_t count;
};

struct ThreadCalls {
  std::vector<Call> calls;
  std::uint64_t lost = 0; // calls past max_calls
};

inline bool is_python_call(const Call& call) {
  return call.function & kPythonCall;
}

// Throws std::logic_error where a recording runs already. `max_calls` bounds the memory of one thread; equal calls in a
// row count as one.
void start_call_tree(std::size_t max_calls);

// The trees of all threads that called something, the caller's first, the others in the order of their first call.
std::vector<ThreadCalls> stop_call_tree();

void enter_call(std::uintptr_t function);
void exit_call(std::uintptr_t function);

} // namespace reftorch::torch::debug
