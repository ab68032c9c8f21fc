// Mirrors: torch/csrc/autograd/python_cpp_function.h
//
// The Python object of a C++ node, which is the value of `y.grad_fn`. Each kind of node has a Python type of its own,
// so that type(y.grad_fn).__name__ is, for example, MulBackward0. Left out: registration of each node's C++ type (a
// Python type is made by name, when the first node of that name is seen).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/function.h>

namespace reftorch::torch::autograd {

// Returns a new reference to the node's Python object. The object is the same as long as somebody holds it. Returns
// None for a null node.
PyObject* functionToPyObject(const std::shared_ptr<Node>& cdata);
// The node of such an object or of an autograd.Function's context; null for any other object.
std::shared_ptr<Node> nodeFromPyObject(PyObject* obj);

// The attributes and methods of all Python objects of nodes, contexts included: next_functions, name(), register_hook
// ...
extern PyGetSetDef node_properties[];
extern PyMethodDef node_methods[];
// node(*grads): runs the node alone, without hooks, and returns a gradient for each of its edges.
PyObject* THPCppFunction_call(PyObject* self, PyObject* args, PyObject* kwargs);

void initCppFunction(PyObject* module);

} // namespace reftorch::torch::autograd
