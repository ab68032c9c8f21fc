// Mirrors: tools/autograd/deprecated.yaml
// Calls that write a factor before the tensors it scales, as older programs do: x.add_(-lr, grad),
// addmm(beta, x, alpha, a, b).
#pragma once

#include <csrc/utils/python_arg_parser.h>

#include <string>
#include <vector>

namespace reftorch::torch {

// Such a call in the order of today: its factors follow as keywords. It borrows what the call holds.
class ModernCall final {
 public:
  ModernCall(std::string name, const PythonArgs& call);
  ~ModernCall();
  ModernCall(const ModernCall&) = delete;
  ModernCall& operator=(const ModernCall&) = delete;

  // Whether it is such a call: more arguments than the op has tensors, and numbers among them.
  bool applies() const {
    return keywords_ != nullptr;
  }
  PythonArgs args() const {
    return PythonArgs{args_.data(), positional_, keywords_};
  }
  // Warns, once, that the order is an old one.
  void warn(const std::vector<PythonSignature>& signatures) const;

 private:
  std::string name_;
  std::vector<PyObject*> args_;
  Py_ssize_t positional_ = 0;
  PyObject* keywords_ = nullptr; // owned
};

} // namespace reftorch::torch
