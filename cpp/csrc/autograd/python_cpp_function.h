// Mirrors: torch/csrc/autograd/python_cpp_function.h
// The Python face of a C++ node: what `y.grad_fn` is. Each kind of node has a Python type of its own, so that
// type(y.grad_fn).__name__ says MulBackward0. Left out: registration of each node's C++ type (types are made by name,
// when first seen).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/function.h>

namespace reftorch::torch::autograd {

// A new reference to the node's Python object: one and the same as long as somebody holds it. None for no node.
PyObject* functionToPyObject(const std::shared_ptr<Node>& cdata);
// The node behind such an object, or behind an autograd.Function's context; null for any other object.
std::shared_ptr<Node> nodeFromPyObject(PyObject* obj);

// Attributes and methods that both kinds of Python node have: next_functions, name(), register_hook ...
extern PyGetSetDef node_properties[];
extern PyMethodDef node_methods[];
// node(*grads): runs the node alone, without hooks; a gradient for each of its edges.
PyObject* THPCppFunction_call(PyObject* self, PyObject* args, PyObject* kwargs);

void initCppFunction(PyObject* module);

} // namespace reftorch::torch::autograd
