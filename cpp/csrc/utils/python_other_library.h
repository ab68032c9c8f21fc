// Mirrors: nothing in PyTorch: no second library has its names.
//
// A program that says `import reftorch as torch; from torch import nn` mixes two libraries: the second import is
// PyTorch's. Their tensors, dtypes and devices have the same names, so an error would read *must be Tensor, not
// Tensor*.
#pragma once

#include <csrc/Exceptions.h>

#include <string>

namespace reftorch::torch {

// Returns the name by which the program knows this library: "torch" under `python -m reftorch`.
std::string library_name();

// Returns whether `obj`, a class or an attribute of a class, was defined by PyTorch's package `torch`.
bool is_defined_by_torch(PyObject* obj);

// Returns a sentence for the end of an error message if the class of `obj` is PyTorch's or inherits from a class of
// PyTorch; an empty text otherwise.
std::string other_library_hint(PyObject* obj);

// Raises a TypeError with this sentence for an operand of an operator, such as `+`.
void check_not_of_other_library(PyObject* operand);

// Returns the name of the type of `obj`, followed by the hint.
inline std::string type_name_of(PyObject* obj) {
  return Py_TYPE(obj)->tp_name + other_library_hint(obj);
}

} // namespace reftorch::torch
