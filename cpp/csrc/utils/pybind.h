// Mirrors: torch/csrc/utils/pybind.h
// How a tensor crosses into functions that an extension binds with pybind11. Errors need nothing here: reftorch._C has
// registered their translation for every pybind11 module of the process. Left out: casters for devices, layouts,
// symbolic integers and the other types an extension has taken as Python objects so far.
#pragma once

#include <csrc/utils/python_extension.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace pybind11::detail {

// The very tensor, not a copy: identity and history go with it in both directions.
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
