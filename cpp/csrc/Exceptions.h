// Mirrors: torch/csrc/Exceptions.h
//
// Carries errors across the border between C++ and Python: a C++ exception becomes a Python exception, and a Python
// exception travels through C++ frames as a python_error.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <c10/util/Exception.h>

namespace reftorch::torch {

// A Python exception that travels through C++ frames, which may run without the GIL. restore() gives the exception back
// to the interpreter, with its traceback.
class python_error final : public std::exception {
 public:
  python_error() = default;
  python_error(const python_error& other);
  python_error(python_error&& other) noexcept;
  ~python_error() override;

  // Moves the current Python error into this object. The caller holds the GIL.
  void persist();
  void restore();
  const char* what() const noexcept override {
    return message_.c_str();
  }

  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;

 private:
  std::string message_;
};

// Throws the current Python error as a python_error.
[[noreturn]] void throw_python_error();

// Adds the exception classes _LinAlgError, OutOfMemoryError and those of torch.distributed, which derive from
// RuntimeError, to the module. Sends C++ warnings to reftorch._warnings.
void initExceptions(PyObject* module);

// Sets the Python error that corresponds to the C++ exception being handled. Call this function in a catch block, with
// the GIL held.
void translate_current_exception();

} // namespace reftorch::torch

#define HANDLE_TH_ERRORS try {
#define END_HANDLE_TH_ERRORS_RET(retval)              \
  }                                                   \
  catch (...) {                                       \
    ::reftorch::torch::translate_current_exception(); \
    return retval;                                    \
  }
#define END_HANDLE_TH_ERRORS END_HANDLE_TH_ERRORS_RET(nullptr)
