// Mirrors: c10/util/thread_name.h
//
// The name of a thread, which gdb, VS Code and `top -H` show. gdb shows these names in words: see
// reftorch/debug/gdb/reftorch_gdb/threads.py.
// Left out: getThreadName, because only the tools above read the name.
#pragma once

#include <string>

namespace reftorch::c10 {

// Names the calling thread. The system keeps the first 15 bytes. A new thread begins with the name of its maker.
void setThreadName(const std::string& name);

} // namespace reftorch::c10
