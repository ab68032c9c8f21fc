// Mirrors: torch/csrc/Exceptions.h
// Errors across the border: C++ exceptions become Python's, and a Python error travels through C++ frames as
// python_error.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <c10/util/Exception.h>

namespace reftorch::torch {

// A Python exception on its way through C++ code that does not hold the GIL. restore() gives it back to the
// interpreter, traceback and all.
class python_error final : public std::exception {
 public:
  python_error() = default;
  python_error(const python_error& other);
  python_error(python_error&& other) noexcept;
  ~python_error() override;

  // Takes the current Python error. The GIL must be held.
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

// Makes _C._LinAlgError, a RuntimeError.
void initExceptions(PyObject* module);

// Sets the Python error for the exception being handled; call it in a catch block, with the GIL held.
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
