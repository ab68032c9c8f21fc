// Mirrors: nothing in PyTorch: its formulas are C++ text in derivatives.yaml; here they are Python functions
//
// Connects a FormulaNode with the formulas in reftorch/autograd/derivatives.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/formula.h>

namespace reftorch::torch::autograd {

// Returns a new reference to the value that `node` saved for `field`, as a formula sees it. Throws a RuntimeError if
// the value was freed or was changed in place.
PyObject* wrap_saved_field(FormulaNode& node, const SavedField& field);

void initFormulas(PyObject* module);

} // namespace reftorch::torch::autograd
