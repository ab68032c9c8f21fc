// Mirrors: torch/csrc/utils/python_arg_parser.h
//
// Parses the arguments of a Python call into a stack of IValues, according to a schema. Left out: symbolic ints,
// complex numbers.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <csrc/python_conversions.h>

#include <string>
#include <vector>

namespace reftorch::torch {

// Arguments as vectorcall passes them: the positional ones, then the values of the keywords.
struct PythonArgs {
  PyObject* const* args;
  Py_ssize_t nargs;
  PyObject* kwnames; // a tuple of str, or null
  // Whether some argument overrides ops. Such an argument stands for a value of any type, and parsing only checks
  // whether the call fits.
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
  // Returns the arguments that are tensors, each of them counted.
  std::vector<at::Tensor> tensors() const;
};

// One overload of an op as Python sees it.
class PythonSignature final {
 public:
  // `is_method` says that the parameter `self` keeps its name; in functions it is called `input`. `of_torch_ops` says
  // that all defaults are those of the schema.
  PythonSignature(at::OperatorEntry* entry, bool is_method, bool of_torch_ops);

  // Fills the stack with the op's arguments, defaults included. The stack borrows the tensors of `call`, whose owner
  // must hold them as long as the stack exists; see Note [Borrowed arguments]. Returns false if the arguments do not
  // fit. Throws if they fit, but a conversion fails.
  bool parse(const PythonArgs& call, at::Stack& stack) const;
  // Returns whether the number of arguments fits, whatever their types.
  bool takes_as_many(const PythonArgs& call) const;
  // Throws a TypeError that says, in PyTorch's words, why the arguments do not fit.
  [[noreturn]] void raise_mismatch(const PythonArgs& call) const;

  // Returns the entry to call: the out variant if the keyword out= is given.
  at::OperatorEntry* target(const PythonArgs& call) const;
  bool requires_grad(const PythonArgs& call) const;
  std::string str() const; // "(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)"
  // Returns the signature as a dict, for docstrings and stubs (reftorch/_torch_docs/_signatures.py). A new reference.
  PyObject* describe() const;
  at::OperatorEntry* entry() const {
    return entry_;
  }
  // Returns whether this overload must be tried before `other`: a Tensor parameter comes before a number.
  bool precedes(const PythonSignature& other) const;

 private:
  struct Param {
    PyObject* name;           // interned
    PyObject* other_names[4]; // numpy's names (axis for dim; x, a and x1 for input), and `self` for `input`
    at::TypeKind type;
    bool optional, kwarg_only, allow_numbers_as_tensors, has_default;
    bool none_is_default; // None stands for the empty list that is the default: amax(x, dim=None)
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
  bool numbers_with_out_; // whether a number may stand for a tensor in a call with out= too
  bool is_factory_;       // has dtype, device and pin_memory, and so takes requires_grad too
};

// The types of the arguments, for messages such as "got (int, str)".
std::string describe_arguments(const PythonArgs& call, Py_ssize_t first);

} // namespace reftorch::torch
