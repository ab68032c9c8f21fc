// Mirrors: tools/autograd/deprecated.yaml
//
// Accepts calls of older programs that write a factor before the tensors that it scales, such as x.add_(-lr, grad) and
// addmm(beta, x, alpha, a, b).
#pragma once

#include <csrc/utils/python_arg_parser.h>

#include <string>
#include <vector>

namespace reftorch::torch {

// Such a call in today's order: the factors follow as keywords. A ModernCall borrows the objects of the call.
class ModernCall final {
 public:
  ModernCall(std::string name, const PythonArgs& call);
  ~ModernCall();
  ModernCall(const ModernCall&) = delete;
  ModernCall& operator=(const ModernCall&) = delete;

  // Returns whether the call is in the old order: it has more arguments than the op has tensors, and numbers among
  // them.
  bool applies() const {
    return keywords_ != nullptr;
  }
  PythonArgs args() const {
    return PythonArgs{args_.data(), positional_, keywords_};
  }
  // Warns that the order is deprecated, once in a process.
  void warn(const std::vector<PythonSignature>& signatures) const;

 private:
  std::string name_;
  std::vector<PyObject*> args_;
  Py_ssize_t positional_ = 0;
  PyObject* keywords_ = nullptr; // owned
};

} // namespace reftorch::torch
