// Mirrors: torch/csrc/utils/pybind.h
//
// Converts tensors in functions that an extension binds with pybind11. Errors need nothing here, because reftorch._C
// has registered their translation for every pybind11 module of the process. Left out: casters for devices, layouts,
// symbolic integers and other types, which an extension takes as Python objects.
#pragma once

#include <csrc/utils/python_extension.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace pybind11::detail {

// Passes the tensor itself, not a copy, so that its identity and history are kept in both directions.
template <>
struct type_caster<reftorch::at::Tensor> {
  PYBIND11_TYPE_CASTER(reftorch::at::Tensor, const_name("torch.Tensor"));

  bool load(handle src, bool) {
    if (!reftorch::torch::is_tensor(src.ptr())) {
      return false;
    }
    value = reftorch::torch::tensor_from_python(src.ptr());
    return true;
  }
  static handle cast(const reftorch::at::Tensor& src, return_value_policy, handle) {
    return reftorch::torch::tensor_to_python(src);
  }
};

} // namespace pybind11::detail
