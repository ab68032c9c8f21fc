// Mirrors: nothing in PyTorch: there formulas are C++ text in derivatives.yaml; here they are Python functions
// The bridge from a FormulaNode to the formulas in reftorch/autograd/derivatives.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/formula.h>

namespace reftorch::torch::autograd {

// A new reference to what `node` saved for `field`, as a formula sees it. RuntimeError if it is freed or was changed.
PyObject* wrap_saved_field(FormulaNode& node, const SavedField& field);

void initFormulas(PyObject* module);

} // namespace reftorch::torch::autograd
