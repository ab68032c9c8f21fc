// Mirrors: nothing in PyTorch: its developers restart a process that a debugger spoiled.
// Left out: processors other than x86-64 and arm64; code that lies in no file.
//
// A debugger's breakpoint is an instruction written over the code, and a debugger that is ended at the wrong moment
// leaves it there: the next call dies of SIGTRAP. (gdb 13 does so when SIGTERM ends it while the process runs.) The
// code as it was is in the files it was loaded from, so this process can mend itself.
#pragma once

#include <cstddef>

namespace reftorch::torch::debug {

// While on, a thread that runs into a breakpoint which no debugger answers for mends that place and goes on. Code that
// is loaded later is not covered. Replaces the process's action for SIGTRAP until it is turned off.
void guard_breakpoints(bool on);

// Takes all breakpoints out of the code of this process and returns how many there were. Only once the debugger is
// gone.
std::size_t mend_breakpoints();

} // namespace reftorch::torch::debug
