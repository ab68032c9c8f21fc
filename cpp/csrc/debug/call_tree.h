// Mirrors: nothing in PyTorch: its profiler (torch/csrc/profiler) records ops, not functions.
//
// Left out: times, which would mislead in a Debug build; arguments; functions outside this library.
//
// In the Debug build, most functions of this library are compiled with -finstrument-functions, so that they report
// their entry and their exit; CMakeLists.txt says which do not. Between start_call_tree() and stop_call_tree() the
// reports become one tree for each thread. Python frames are part of the tree, because python_call_tree.cpp reports
// them in the same order. At all other times a report is one load and one branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reftorch::torch::debug {

// Marks a Python call. The mark is the top bit, because no address of a user program has this bit, and a low bit could
// belong to an unaligned address.
constexpr std::uintptr_t kPythonCall = ~(~std::uintptr_t{0} >> 1);

// One call, or a run of `count` equal calls. The trees are stored in preorder, and `depth` gives their shape.
struct Call {
  std::uintptr_t function; // the function's address, or that of a Python frame's code object with kPythonCall
  std::uint32_t depth;
  std::uint32_t count;
};

struct ThreadCalls {
  std::vector<Call> calls;
  std::uint64_t lost = 0; // the number of calls past max_calls
};

inline bool is_python_call(const Call& call) {
  return call.function & kPythonCall;
}

// Starts the recording. `max_calls` limits the memory of one thread; equal calls in a row count as one. Throws
// std::logic_error if a recording is running already.
void start_call_tree(std::size_t max_calls);

// Ends the recording. Returns the trees of all threads that called something: the caller's first, then the others in
// the order of their first call.
std::vector<ThreadCalls> stop_call_tree();

void enter_call(std::uintptr_t function);
void exit_call(std::uintptr_t function);

} // namespace reftorch::torch::debug
