// Mirrors: nothing in PyTorch, whose walks over nested sequences overflow the stack
//
// Limits the depth of a C++ function that walks over nested Python objects.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/Exceptions.h>

namespace reftorch::torch {

// Counts a call in Python's recursion limit, and raises a RecursionError at the limit: a list may contain itself.
// `where` continues the sentence "maximum recursion depth exceeded".
class RecursiveCall final {
 public:
  explicit RecursiveCall(const char* where) {
    if (Py_EnterRecursiveCall(where) != 0) {
      throw_python_error();
    }
  }
  ~RecursiveCall() {
    Py_LeaveRecursiveCall();
  }
  RecursiveCall(const RecursiveCall&) = delete;
  RecursiveCall& operator=(const RecursiveCall&) = delete;
};

} // namespace reftorch::torch
