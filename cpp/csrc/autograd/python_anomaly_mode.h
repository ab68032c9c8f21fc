// Mirrors: torch/csrc/autograd/python_anomaly_mode.h
// A node's `metadata` dict. Left out: the traceback of the forward call, which anomaly mode keeps in it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/function.h>
#include <csrc/python_gil.h>

namespace reftorch::torch::autograd {

struct PyAnomalyMetadata final : public AnomalyMetadata {
  PyAnomalyMetadata() : dict(PyDict_New()) {}
  ~PyAnomalyMetadata() override {
    if (Py_IsInitialized()) {
      GilAcquire gil;
      Py_DECREF(dict);
    }
  }
  // A new reference; made when first asked for.
  static PyObject* dict_of(Node& node) {
    auto& metadata = node.anomaly_metadata();
    if (metadata == nullptr) {
      metadata = std::make_unique<PyAnomalyMetadata>();
    }
    return Py_NewRef(static_cast<PyAnomalyMetadata*>(metadata.get())->dict);
  }

  PyObject* dict;
};

} // namespace reftorch::torch::autograd
