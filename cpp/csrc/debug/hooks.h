// Mirrors: nothing in PyTorch: handles that a debugger holds on to.
//
// Functions that a debugger calls or stops at. Left out: everything that neither a debugger nor reftorch.debug needs.
#pragma once

namespace reftorch::torch::debug {

// If REFTORCH_ALLOW_PTRACE=1 is in the environment, lets any process of the same user attach a debugger to this one.
// Otherwise Yama (ptrace_scope=1, the default of many distributions) lets only a parent attach.
void allow_ptrace_if_asked();

// Lets the process `tracer` and its children attach; 0 takes the permission back. Returns false if the kernel has no
// such permission (no Yama), in which case none is needed.
bool allow_ptrace(long tracer);

} // namespace reftorch::torch::debug

extern "C" {

// A function for a breakpoint of a debugger that must stop for certain: reftorch.debug calls it at the end of a cell,
// where the debugger lets the process go.
void reftorch_debug_sentinel();

// Returns the Python frames of the calling thread, innermost first, as text in a static buffer. Each frame is one line:
// 'E' (the frame with which its native _PyEval_EvalFrameDefault began) or '-', then file, line and function, separated
// by tabs. From Python 3.12 on, E is followed by an address in the stack frame of that native function, in hexadecimal
// digits: compilers split the function, and a part without a name can be known by this address alone. A debugger may
// call reftorch_debug_py_stack() at any time: it allocates nothing, takes no lock, and needs no debug symbols of
// Python.
const char* reftorch_debug_py_stack();

// While tracing is on, the calling thread calls reftorch_debug_py_line() before each line of Python that it runs. A
// debugger may have a breakpoint there. Replaces the thread's sys.settrace function.
void reftorch_debug_trace_python(int on);
void reftorch_debug_py_line();

// Called by a debugger in a thread that has crashed and will not go on. Shows the reader what the debugger saw, while
// there is still a process that can show it.
void reftorch_debug_report_crash();
}
