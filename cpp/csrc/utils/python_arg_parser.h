// Mirrors: torch/csrc/utils/python_arg_parser.h
// From Python's arguments to a stack of IValues, following a schema. Left out: symbolic ints, complex numbers.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <csrc/python_conversions.h>

#include <string>
#include <vector>

namespace reftorch::torch {

// Arguments as vectorcall gives them: positional ones, then the values of the keywords.
struct PythonArgs {
  PyObject* const* args;
  Py_ssize_t nargs;
  PyObject* kwnames; // tuple of str, or null
  // Some argument overrides ops: it stands for a value of any type, and parsing only asks whether the call fits.
  bool overridden = false;

  Py_ssize_t nkwargs() const {
    return kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0;
  }
  PyObject* keyword(Py_ssize_t i) const {
    return PyTuple_GET_ITEM(kwnames, i);
  }
  PyObject* keyword_value(Py_ssize_t i) const {
    return args[nargs + i];
  }
};

// One overload of an op as Python sees it.
class PythonSignature final {
 public:
  // `is_method`: what the schema calls `self` is `input` in functions.
  PythonSignature(at::OperatorEntry* entry, bool is_method);

  // Fills the stack with the op's arguments, defaults included. False if the arguments do not fit; a Python error is
  // set where that cannot be a matter of another overload (a conversion failed).
  bool parse(const PythonArgs& call, at::Stack& stack) const;
  // Whether the number of arguments fits, whatever they are.
  bool takes_as_many(const PythonArgs& call) const;
  // Why the arguments do not fit, as PyTorch words it. Throws TypeError.
  [[noreturn]] void raise_mismatch(const PythonArgs& call) const;

  // The entry to call: the out= variant where the keyword was given.
  at::OperatorEntry* target(const PythonArgs& call) const;
  bool requires_grad(const PythonArgs& call) const;
  std::string str() const; // "(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)"
  // All of the above as a dict, for docstrings and stubs (reftorch/_torch_docs/_signatures.py). A new reference.
  PyObject* describe() const;
  at::OperatorEntry* entry() const {
    return entry_;
  }
  // Whether this overload must be tried before `other`: a Tensor parameter binds closer than a number.
  bool precedes(const PythonSignature& other) const;

 private:
  struct Param {
    PyObject* name;           // interned
    PyObject* other_names[4]; // numpy's spellings (axis for dim; x, a and x1 for input), and `self` for `input`
    at::TypeKind type;
    bool optional, kwarg_only, allow_numbers_as_tensors, has_default;
    bool none_is_default; // of a list that is empty by default: amax(x, dim=None)
    int list_size;
    bool is_symint;
    at::IValue default_value;
    const char* type_name() const;
  };
  bool names(const Param& param, PyObject* keyword) const;
  bool check(const Param& param, PyObject* obj) const;
  bool accepts(const Param& param, PyObject* obj, const PythonArgs& call) const;
  bool ints_may_stand_alone() const;
  bool takes_varargs(const PythonArgs& call) const;
  template <typename Unpack>
  at::IValue unpack(const Param& param, const Unpack& value) const;
  [[noreturn]] void raise_misfit(const Param& param, Py_ssize_t position, PyObject* misfit, Py_ssize_t item) const;
  void raise_bad_keyword(const PythonArgs& call, Py_ssize_t k) const;

  at::OperatorEntry* entry_;
  std::vector<Param> params_;
  Py_ssize_t max_positional_ = 0;
  bool is_method_;
  bool numbers_with_out_; // where a tensor parameter takes a number, it does so beside out= as well
  bool is_factory_;       // has dtype and device: takes requires_grad too
};

// "got (int, str)": the types of the arguments, for messages.
std::string describe_arguments(const PythonArgs& call, Py_ssize_t first);

} // namespace reftorch::torch
