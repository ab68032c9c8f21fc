// Mirrors: torch/csrc/autograd/python_anomaly_mode.h
//
// The `metadata` dict of a node, in which anomaly mode keeps the traceback.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/function.h>

namespace reftorch::torch::autograd {

struct PyAnomalyMetadata final : public AnomalyMetadata {
  PyAnomalyMetadata();
  ~PyAnomalyMetadata() override;
  void store_stack() override;
  void assign_parent(const std::shared_ptr<Node>& parent) override;
  void print_stack(const std::string& node_name) override;
  void visit_owned(OwnedVisitor& visitor) const override {
    visitor.py_object(dict);
  }
  // Returns a new reference to the dict of a node.
  static PyObject* dict_of(Node& node);

  static constexpr const char* kTracebackKey = "traceback_"; // list of str
  static constexpr const char* kParentKey = "parent_";       // the Python object of a node

  PyObject* dict;
};

void initAnomalyMode(PyObject* module);

} // namespace reftorch::torch::autograd
