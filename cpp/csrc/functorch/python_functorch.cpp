// Mirrors: torch/csrc/functorch/init.cpp
//
// Binds the levels of the function transforms for reftorch/_functorch, and calls an op's batching rule in Python under
// vmap. Left out: functionalization, and rules written in C++.
#include <csrc/functorch/python_functorch.h>

#include <ATen/functorch/DynamicLayer.h>
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_conversions.h>
#include <csrc/python_gil.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/pybind.h>

namespace py = pybind11;

namespace reftorch::torch {

namespace functorch = at::functorch;

namespace {

const char* const kRandomness[] = {"error", "same", "different"}; // indexed by RandomnessType

// ---- rules: a Python function for each op, looked up at the op's first call under vmap

PyObject* rule_resolver = nullptr;       // a Python function: name of an op -> its rule
std::vector<PyObject*>* rules = nullptr; // indexed by OperatorEntry::index; lives as long as the program

py::handle rule_for(const at::OperatorEntry& entry) {
  if (rules->size() <= entry.index) {
    rules->resize(entry.index + 1, nullptr);
  }
  if ((*rules)[entry.index] == nullptr) {
    TORCH_INTERNAL_ASSERT(rule_resolver != nullptr, "vmap: there are no batching rules");
    py::object rule = steal(PyObject_CallFunction(rule_resolver, "s", entry.schema.operator_name().c_str()));
    (*rules)[entry.index] = rule.release().ptr(); // the resolver may have called ops, and moved the vector
  }
  return (*rules)[entry.index];
}

py::object dim_object(const std::optional<int64_t>& dim) {
  return dim.has_value() ? py::object(py::int_(*dim)) : py::none();
}

// If the tensor is a wrapper of this level, returns the value inside and the batch dimension of the value. Otherwise
// returns the tensor itself.
std::pair<at::Tensor, std::optional<int64_t>> unwrap_at(const at::Tensor& t, int64_t level) {
  const functorch::TensorWrapper* wrapper = functorch::maybe_get_wrapper(t);
  if (wrapper != nullptr && wrapper->level_ == level) {
    return {wrapper->value_, wrapper->bdim_};
  }
  return {t, std::nullopt};
}

struct PythonCall {
  py::list args, dims;
};

PythonCall unwrap_arguments(const at::FunctionSchema& schema, const at::IValue* values, int64_t level) {
  PythonCall call;
  for (size_t i = 0; i < schema.arguments.size(); i++) {
    if (values[i].isTensor()) {
      const auto [value, dim] = unwrap_at(values[i].toTensor(), level);
      call.args.append(steal(THPVariable_Wrap(value)));
      call.dims.append(dim_object(dim));
    } else if (values[i].isTensorList()) {
      py::list list, list_dims;
      for (const at::Tensor& t : values[i].toTensorVector()) {
        const auto [value, dim] = unwrap_at(t, level);
        list.append(steal(THPVariable_Wrap(value)));
        list_dims.append(dim_object(dim));
      }
      call.args.append(list);
      call.dims.append(list_dims);
    } else {
      call.args.append(steal(wrap_ivalue(values[i], schema.arguments[i].type)));
      call.dims.append(py::none());
    }
  }
  return call;
}

at::Tensor wrap_result(py::handle value, py::handle dim, const functorch::DynamicLayer& layer) {
  if (value.is_none()) {
    return at::Tensor();
  }
  TORCH_CHECK_TYPE(THPVariable_Check(value.ptr()), "batching rule: expected a Tensor as result, but got ",
                   Py_TYPE(value.ptr())->tp_name);
  const at::Tensor& t = THPVariable_Unpack(value.ptr());
  return dim.is_none() ? t : functorch::wrap(t, layer, py::cast<int64_t>(dim));
}

at::IValue wrap_results(const at::Argument& ret, py::handle value, py::handle dim,
                        const functorch::DynamicLayer& layer) {
  if (ret.type != at::TypeKind::TensorList) {
    return wrap_result(value, dim, layer);
  }
  std::vector<at::Tensor> list;
  for (py::handle element : py::reinterpret_borrow<py::object>(value)) {
    list.push_back(wrap_result(element, dim, layer));
  }
  return list;
}

// Finishes an op that writes to an argument; the result is that argument. If the op has made another view of it, as
// squeeze_ does, the rule returns the view.
void finish_inplace(const at::Tensor& written, const py::tuple& result, at::Stack* stack) {
  if (functorch::TensorWrapper* wrapper = functorch::maybe_get_wrapper(written)) {
    if (!result[0].is_none()) {
      wrapper->value_ = THPVariable_Unpack(result[0].ptr());
      wrapper->bdim_ = py::cast<int64_t>(result[1]);
    }
    wrapper->refresh_metadata();
  }
  stack->emplace_back(written);
}

void call_batch_rule(const at::OperatorHandle& op, const functorch::DynamicLayer& layer, at::Stack* stack) {
  const at::FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments.size();
  const GilAcquire gil;
  const PythonCall call = unwrap_arguments(schema, at::last(*stack, count), layer.level);
  at::Tensor written;
  for (size_t i = 0; i < count; i++) {
    const at::IValue& argument = at::last(*stack, count)[i];
    if (schema.is_changed(schema.arguments[i]) && !written.defined() && argument.isTensor()) {
      written = argument.toTensor();
    }
  }
  const py::tuple result = steal(PyObject_CallFunction(
      rule_for(op.entry()).ptr(), "OOLsL", call.args.ptr(), call.dims.ptr(), static_cast<long long>(layer.batch_size),
      kRandomness[static_cast<int>(layer.randomness)], static_cast<long long>(layer.level)));
  at::drop(*stack, count);
  if (written.defined()) {
    finish_inplace(written, result, stack);
    return;
  }
  if (schema.returns.size() == 1) {
    stack->emplace_back(wrap_results(schema.returns[0], result[0], result[1], layer));
    return;
  }
  const auto values = py::reinterpret_borrow<py::sequence>(result[0]);
  const auto dims = py::reinterpret_borrow<py::sequence>(result[1]);
  for (size_t r = 0; r < schema.returns.size(); r++) {
    stack->emplace_back(wrap_results(schema.returns[r], values[r], dims[r], layer));
  }
}

// Calls one overload of an op with all its arguments, in the order of the schema.
py::object call_op(const std::string& name, const py::list& args) {
  at::OperatorEntry& entry = at::Dispatcher::singleton().findSchemaOrThrow(name).entry();
  TORCH_CHECK_TYPE(args.size() == entry.schema.arguments.size(), name, ": expected ", entry.schema.arguments.size(),
                   " arguments, but got ", args.size());
  at::Stack stack;
  for (size_t i = 0; i < args.size(); i++) {
    const at::Argument& arg = entry.schema.arguments[i];
    const py::object value = args[i];
    stack.emplace_back(value.is_none() ? at::IValue() : unpack_argument(arg.type, arg.list_size, value.ptr()));
  }
  {
    const GilRelease no_gil;
    at::OperatorHandle(&entry).callBoxed(&stack);
  }
  py::list results;
  for (size_t r = 0; r < stack.size(); r++) {
    results.append(steal(wrap_ivalue(std::move(stack[r]), entry.schema.returns[r].type)));
  }
  return results.size() == 1 ? py::object(results[0]) : py::object(py::tuple(results));
}

// Gives a composite op a batching rule: the fallback of the Front key then stops the op before it calls other ops.
void intercept(const std::string& name) {
  at::OperatorEntry& entry = at::Dispatcher::singleton().findSchemaOrThrow(name).entry();
  constexpr c10::DispatchKey front = c10::DispatchKey::FuncTorchDynamicLayerFrontMode;
  at::Dispatcher& dispatcher = at::Dispatcher::singleton();
  dispatcher.registerImpl(&entry, front, dispatcher.fallback(front));
}

// ---- levels and wrappers

const functorch::DynamicLayer& layer_on_top() {
  const functorch::DynamicLayer* layer = functorch::current_layer();
  TORCH_CHECK(layer != nullptr, "there is no function transform at work");
  return *layer;
}

functorch::RandomnessType parse_randomness(const std::string& text) {
  TORCH_CHECK_VALUE(text == "error" || text == "same" || text == "different",
                    "Only allowed values for randomness are 'error', 'different', or 'same'. Got ", text);
  return text == "error"  ? functorch::RandomnessType::Error
         : text == "same" ? functorch::RandomnessType::Same
                          : functorch::RandomnessType::Different;
}

at::Tensor unwrap_of(const at::Tensor& t, int64_t level) {
  const functorch::TensorWrapper* wrapper = functorch::maybe_get_wrapper(t);
  return wrapper != nullptr && wrapper->level_ == level ? wrapper->value_ : t;
}

// Returns (level, batch dimension, the tensor inside); None for a plain tensor.
py::object describe_wrapper(const at::Tensor& t) {
  const functorch::TensorWrapper* wrapper = functorch::maybe_get_wrapper(t);
  return wrapper == nullptr ? py::object(py::none())
                            : py::make_tuple(wrapper->level_, dim_object(wrapper->bdim_), wrapper->value_);
}

// Returns the level of a wrapper, -1 if its transform has returned; 0 for a plain tensor.
int64_t level_of(const at::Tensor& t) {
  const functorch::TensorWrapper* wrapper = functorch::maybe_get_wrapper(t);
  return wrapper == nullptr ? 0 : *wrapper->is_alive_ ? wrapper->level_ : -1;
}

// Returns (level, kind, batch size, randomness) of the innermost transform; None outside of all transforms.
py::object describe_layer() {
  static const char* const kinds[] = {"vmap", "grad", "jvp"};
  const functorch::DynamicLayer* layer = functorch::current_layer();
  if (layer == nullptr) {
    return py::none();
  }
  return py::make_tuple(layer->level, kinds[static_cast<int>(layer->type)], layer->batch_size,
                        kRandomness[static_cast<int>(layer->randomness)]);
}

} // namespace

void initFunctorch(PyObject* module) {
  auto outer = py::reinterpret_borrow<py::module_>(module);
  outer.def("_are_functorch_transforms_active", [] { return functorch::current_layer() != nullptr; });
  py::module_ m = outer.def_submodule("_functorch");
  rules = new std::vector<PyObject*>;
  functorch::batch_rule_hook = &call_batch_rule;
  m.def("_set_rule_resolver", [](const py::object& resolver) { rule_resolver = py::object(resolver).release().ptr(); });
  m.def("_forget_rules", [] { // afterwards the resolver is called again for each op
    for (PyObject*& rule : *rules) {
      Py_CLEAR(rule);
    }
  });
  m.def("_intercept", &intercept);
  m.def("_call_op", &call_op);

  m.def("_vmap_increment_nesting", [](int64_t batch_size, const std::string& randomness) {
    return functorch::push_layer(functorch::TransformType::Vmap, batch_size, parse_randomness(randomness));
  });
  m.def("_grad_increment_nesting", [] { return functorch::push_layer(functorch::TransformType::Grad); });
  m.def("_jvp_increment_nesting", [] { return functorch::push_layer(functorch::TransformType::Jvp); });
  m.def("_decrement_nesting", &functorch::pop_layer);
  m.def("maybe_current_level", [] {
    const functorch::DynamicLayer* layer = functorch::current_layer();
    return layer == nullptr ? py::object(py::none()) : py::object(py::int_(layer->level));
  });

  m.def("_add_batch_dim", [](const at::Tensor& t, int64_t bdim) { return functorch::wrap(t, layer_on_top(), bdim); });
  m.def("_wrap", [](const at::Tensor& t) { return functorch::wrap(t, layer_on_top()); });
  m.def("_unwrap", &unwrap_of);
  m.def("_unwrap_dead", &functorch::unwrap_dead);
  m.def("_describe", &describe_wrapper);
  m.def("_current_layer", &describe_layer);
  m.def("_call_below", [](const py::object& function) {
    const functorch::WithoutTop without_top;
    return function();
  });
  m.def("is_batched", &functorch::is_batched);
  m.def("dlevel", &level_of);
}

} // namespace reftorch::torch
