// Mirrors: nothing in PyTorch: its developers restart a process that a debugger spoiled.
//
// Left out: processors other than x86-64 and arm64; code that was not loaded from a file.
//
// Removes breakpoints that a debugger has left behind. A breakpoint is an instruction that the debugger writes over the
// code. A debugger that is ended at the wrong moment leaves the instruction there, and the next call dies of SIGTRAP.
// (gdb 13 does so when SIGTERM ends it while the process runs.) The original code is still in the files from which it
// was loaded, so this process can restore it.
#pragma once

#include <cstddef>

namespace reftorch::torch::debug {

// While this is on, a thread that runs into a breakpoint and finds no debugger restores the code there and goes on.
// Code that is loaded later is not covered. Replaces the process's action for SIGTRAP until it is turned off.
void guard_breakpoints(bool on);

// Removes all breakpoints from the code of this process and returns their number. Call this function only after the
// debugger has ended.
std::size_t mend_breakpoints();

} // namespace reftorch::torch::debug
