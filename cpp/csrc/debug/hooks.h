// Mirrors: nothing in PyTorch: handles that a debugger holds on to.
// Left out: anything that is not asked for by a debugger or by reftorch.debug.
#pragma once

namespace reftorch::torch::debug {

// With REFTORCH_ALLOW_PTRACE=1 in the environment, lets any process of the same user attach a debugger to this one.
// Without it Yama (ptrace_scope=1, the default of many distributions) lets only a parent attach.
void allow_ptrace_if_asked();

// `tracer` and its children may attach; 0 takes the permission back. False where the kernel knows no such permission
// (no Yama), where none is needed.
bool allow_ptrace(long tracer);

} // namespace reftorch::torch::debug

extern "C" {

// A debugger that has set a breakpoint here stops for certain: reftorch.debug calls it at the end of a cell, and the
// debugger then lets the process go.
void reftorch_debug_sentinel();

// The Python frames of the calling thread, innermost first, as text in a static buffer. One line a frame:
// 'E' (the frame that its native _PyEval_EvalFrameDefault was called for) or '-', then file, line and function, with
// tabs between. For a debugger: allocates nothing, takes no lock, and needs no debug symbols of Python.
const char* reftorch_debug_py_stack();

// While on, the calling thread calls reftorch_debug_py_line() before each line of Python that it runs, where a debugger
// may have a breakpoint. Replaces the thread's sys.settrace function.
void reftorch_debug_trace_python(int on);
void reftorch_debug_py_line();

// Called by a debugger in a thread that crashed and will not go on: shows the reader what the debugger saw, as long as
// there still is a process that can show it.
void reftorch_debug_report_crash();
}
