// Mirrors: torch/csrc/autograd/init.cpp (its forward-mode part)
//
// Binds dual levels and dual numbers for reftorch/autograd/forward_ad.py, and calls Python for the tangents of an op.
#include <csrc/autograd/python_forward_ad.h>

#include <ATen/Functions.h>
#include <ATen/functorch/DynamicLayer.h>
#include <c10/core/GradMode.h>
#include <csrc/Exceptions.h>
#include <csrc/autograd/forward_grad.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_conversions.h>
#include <csrc/python_gil.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/pybind.h>

namespace py = pybind11;

namespace reftorch::torch::autograd {
namespace {

PyObject* jvp_function = nullptr; // jvp of reftorch/autograd/_jvp.py; lives as long as the program

py::list wrap_all(const std::vector<at::IValue>& values, const std::vector<at::Argument>& schema) {
  py::list list;
  for (size_t i = 0; i < values.size(); i++) {
    list.append(steal(wrap_ivalue(values[i], schema[i].type)));
  }
  return list;
}

std::vector<Variable> call_jvp(const at::OperatorHandle& op, const std::vector<at::IValue>& primals,
                               const std::vector<at::IValue>& tangents, const std::vector<at::IValue>& results) {
  const at::FunctionSchema& schema = op.schema();
  const GilAcquire gil;
  TORCH_INTERNAL_ASSERT(jvp_function != nullptr, "forward mode: there is nothing to compute tangents with");
  const py::object found = steal(PyObject_CallFunction(
      jvp_function, "sOOO", schema.operator_name().c_str(), wrap_all(primals, schema.arguments).ptr(),
      wrap_all(tangents, schema.arguments).ptr(), wrap_all(results, schema.returns).ptr()));
  std::vector<Variable> list;
  for (py::handle tangent : found) {
    list.push_back(tangent.is_none() ? Variable() : THPVariable_Unpack(tangent.ptr()));
  }
  return list;
}

// If `t` is a batch of the innermost vmap, returns its value with the batch dimension in front, and true. Otherwise
// returns `t` itself, and false.
std::pair<at::Tensor, bool> without_batch(const at::Tensor& t, int64_t level) {
  const at::functorch::TensorWrapper* wrapper = at::functorch::maybe_get_wrapper(t);
  if (wrapper == nullptr || wrapper->level_ != level || !wrapper->bdim_.has_value()) {
    return {t, false};
  }
  return {*wrapper->bdim_ == 0 ? wrapper->value_ : at::movedim(wrapper->value_, {*wrapper->bdim_}, {0}), true};
}

const at::functorch::DynamicLayer* vmap_on_top() {
  const at::functorch::DynamicLayer* layer = at::functorch::current_layer();
  return layer != nullptr && layer->type == at::functorch::TransformType::Vmap ? layer : nullptr;
}

at::Tensor make_dual(const at::Tensor& primal, const at::Tensor& tangent, bool in_batch = false);

// Returns whether every view of the primal has a counterpart in the tangent, with the same sizes, strides and offset.
bool fits(const at::Tensor& primal, const at::Tensor& tangent) {
  if (primal.numel() == 0 || primal.sizes() != tangent.sizes() || primal.scalar_type() != tangent.scalar_type() ||
      at::functorch::is_wrapper(primal) || at::functorch::is_wrapper(tangent)) {
    return true; // no layout matters for these, or set_fw_grad raises
  }
  return primal.strides() == tangent.strides() && primal.storage_offset() == tangent.storage_offset() &&
         primal.storage().nbytes() == tangent.storage().nbytes();
}

at::Tensor laid_out_as(const at::Tensor& primal, const at::Tensor& tangent) {
  const auto room = static_cast<int64_t>(primal.storage().nbytes() / c10::elementSize(primal.scalar_type()));
  at::Tensor copy = at::as_strided(at::zeros({room}, primal.scalar_type(), primal.device()), primal.sizes(),
                                   primal.strides(), primal.storage_offset());
  return at::copy_(copy, tangent);
}

// Under vmap the dual number is inside the wrapper: the result is a batch of dual numbers.
at::Tensor make_dual_of_batch(const at::functorch::DynamicLayer layer, const at::Tensor& primal,
                              const at::Tensor& tangent) {
  const at::functorch::WithoutTop without_top;
  auto [primals, primal_batched] = without_batch(primal, layer.level);
  auto [tangents, tangent_batched] = without_batch(tangent, layer.level);
  if (!primal_batched && !tangent_batched) {
    return make_dual(primals, tangents);
  }
  c10::DimVector sizes{layer.batch_size};
  sizes.append(primal.sizes().begin(), primal.sizes().end());
  // If the primal is shared by all examples, copy it for each one, because each may change its own copy in place.
  return at::functorch::wrap(make_dual(primal_batched ? primals : at::clone(at::expand(primals, sizes)),
                                       tangent_batched ? tangents : at::expand(tangents, sizes), /*in_batch=*/true),
                             layer, 0);
}

at::Tensor make_dual(const at::Tensor& primal, const at::Tensor& tangent, bool in_batch) {
  if (const at::functorch::DynamicLayer* layer = vmap_on_top()) {
    return make_dual_of_batch(*layer, primal, tangent);
  }
  TORCH_CHECK(!fw_grad(primal).defined(),
              "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level is not "
              "supported.");
  // Inside a transform, the tangent may have a tangent of an outer level.
  TORCH_CHECK(
      at::functorch::is_wrapper(primal) || !fw_grad(tangent).defined(),
      "Making a dual Tensor of a tangent that itself has a forward gradient at the same level is not supported.");
  at::Tensor dual = at::alias(primal);
  set_fw_grad(dual, in_batch || fits(primal, tangent) ? tangent : laid_out_as(primal, tangent));
  return dual;
}

// Returns the pair (primal, tangent); the tangent is undefined if there is none.
std::pair<at::Tensor, at::Tensor> unpack_dual(const at::Tensor& dual) {
  if (const at::functorch::DynamicLayer* on_top = vmap_on_top()) {
    const at::functorch::DynamicLayer layer = *on_top;
    const at::functorch::WithoutTop without_top;
    const auto [value, batched] = without_batch(dual, layer.level);
    const auto [primal, tangent] = unpack_dual(value);
    return batched ? std::make_pair(at::functorch::wrap(primal, layer, 0), at::functorch::wrap(tangent, layer, 0))
                   : std::make_pair(primal, tangent);
  }
  const at::Tensor tangent = fw_grad(dual);
  return {tangent.defined() ? fw_primal(dual) : at::alias(dual), tangent};
}

} // namespace

void initForwardAD(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  jvp_hook = &call_jvp;
  m.def("_set_jvp_function", [](const py::object& function) { jvp_function = py::object(function).release().ptr(); });
  m.def("_enter_dual_level", &enter_dual_level);
  m.def("_exit_dual_level", &exit_dual_level);
  m.def("_make_dual", [](const at::Tensor& primal, const at::Tensor& tangent) { return make_dual(primal, tangent); });
  m.def("_unpack_dual", [](const at::Tensor& dual) {
    const auto [primal, tangent] = unpack_dual(dual);
    return py::make_tuple(primal, tangent.defined() ? py::object(py::cast(tangent)) : py::object(py::none()));
  });
  m.def("_set_fw_grad", &set_fw_grad);
  m.def("_is_forward_ad_active", &c10::ForwardAD::is_active);
  m.def("_is_fwd_grad_enabled", &c10::ForwardAD::is_enabled);
  m.def("_set_fwd_grad_enabled", &c10::ForwardAD::set_enabled);
}

} // namespace reftorch::torch::autograd
