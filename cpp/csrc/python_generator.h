// Mirrors: torch/csrc/Generator.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/Generator.h>

namespace reftorch::torch {

bool is_generator(PyObject* obj);
const at::Generator& unpack_generator(PyObject* obj);
// Returns a new reference. Two calls for the same generator may return different Python objects.
PyObject* wrap_generator(const at::Generator& generator);
void initGenerator(PyObject* module);

} // namespace reftorch::torch
