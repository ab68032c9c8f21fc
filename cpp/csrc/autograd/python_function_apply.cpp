// Mirrors: torch/csrc/autograd/python_function.cpp (THPFunction_apply), torch/csrc/autograd/custom_function.cpp (_wrap_outputs)
//
// Function.apply runs the user's forward without recording, and then gives the outputs one node, which runs the user's
// backward.
#include <csrc/autograd/python_function.h>

#include <ATen/Functions.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <csrc/Exceptions.h>
#include <csrc/autograd/functions/utils.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/pybind.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace py = pybind11;

namespace reftorch::torch::autograd {
namespace {

using TensorSet = std::unordered_set<const c10::TensorImpl*>;

PyObject* interned(const char* text) {
  return PyUnicode_InternFromString(text);
}

py::object get_attribute(PyObject* obj, PyObject* name) {
  return steal(PyObject_GetAttr(obj, name));
}

struct Call {
  Call(PyObject* cls_, PyObject* const* inputs_, Py_ssize_t num_inputs_)
      : cls(cls_), inputs(inputs_), num_inputs(num_inputs_) {
    static PyObject* const backward_cls = interned("_backward_cls");
    ctx = steal(PyObject_CallNoArgs(get_attribute(cls, backward_cls).ptr()));
    node = PyNode::from_context(ctx.ptr());
  }
  THPFunction* self() const {
    return as_function(ctx.ptr());
  }

  void read_inputs();
  py::object call_forward();
  py::object wrap_outputs(const py::object& raw);
  void wrap_output(Variable& output);
  void mark_view(const Variable& output) const;
  void save_variables();
  void check_not_returned_as_is(PyObject* saved, const TensorSet& as_is) const;

  PyObject* cls;
  PyObject* const* inputs;
  Py_ssize_t num_inputs;
  py::object ctx;
  std::shared_ptr<Node> node;
  bool is_executable = false;
  TensorSet input_impls, dirty, non_differentiable;
  size_t num_tensor_outputs = 0;
  bool has_setup_context = false;
};

void Call::read_inputs() {
  THPFunction* function = self();
  const py::object needs_input_grad = steal(PyTuple_New(num_inputs));
  bool any = false;
  for (Py_ssize_t i = 0; i < num_inputs; i++) {
    const bool is_variable = THPVariable_Check(inputs[i]);
    const bool needs_grad = is_variable && THPVariable_Unpack(inputs[i]).requires_grad();
    any = any || needs_grad;
    function->is_variable_input.push_back(is_variable);
    PyTuple_SET_ITEM(needs_input_grad.ptr(), i, Py_NewRef(needs_grad ? Py_True : Py_False));
    if (is_variable) {
      input_impls.insert(THPVariable_Unpack(inputs[i]).unsafeGetTensorImpl());
    }
  }
  is_executable = any && c10::GradMode::is_enabled();
  function->needs_input_grad = Py_NewRef(needs_input_grad.ptr());
  for (Py_ssize_t i = 0; is_executable && i < num_inputs; i++) {
    if (function->is_variable_input[i]) {
      node->add_next_edge(impl::gradient_edge(THPVariable_Unpack(inputs[i])));
    }
  }
}

// Calls forward(ctx, *args). If the class defines setup_context, calls forward(*args) and then setup_context(ctx,
// inputs, output).
py::object Call::call_forward() {
  static PyObject* const forward_name = interned("forward");
  static PyObject* const has_setup_context_name = interned("_has_setup_context");
  static PyObject* const setup_context = interned("setup_context");
  const c10::NoGradGuard no_grad;
  const c10::AutoFwGradMode no_fw_grad(false);
  const py::object forward = get_attribute(cls, forward_name);
  has_setup_context = get_attribute(cls, has_setup_context_name).ptr() == Py_True;
  if (!has_setup_context) {
    c10::SmallVector<PyObject*, 8> args;
    args.push_back(ctx.ptr());
    args.append(inputs, inputs + num_inputs);
    return steal(PyObject_Vectorcall(forward.ptr(), args.data(), args.size(), nullptr));
  }
  py::object output = steal(PyObject_Vectorcall(forward.ptr(), inputs, static_cast<size_t>(num_inputs), nullptr));
  const py::object all_inputs = steal(PyTuple_New(num_inputs));
  for (Py_ssize_t i = 0; i < num_inputs; i++) {
    PyTuple_SET_ITEM(all_inputs.ptr(), i, Py_NewRef(inputs[i]));
  }
  steal(PyObject_CallFunctionObjArgs(get_attribute(cls, setup_context).ptr(), ctx.ptr(), all_inputs.ptr(), output.ptr(),
                                     nullptr));
  return output;
}

// Returns the tensors that ctx.mark_dirty or ctx.mark_non_differentiable named. `rule` is the error message that says
// what the mark accepts.
TensorSet marked(PyObject* tuple, const char* rule) {
  TensorSet set;
  if (tuple == nullptr || tuple == Py_None) {
    return set;
  }
  TORCH_CHECK(PyTuple_Check(tuple), rule, Py_TYPE(tuple)->tp_name);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
    PyObject* item = PyTuple_GET_ITEM(tuple, i);
    TORCH_CHECK(THPVariable_Check(item), rule, Py_TYPE(item)->tp_name, " as argument ", i);
    set.insert(THPVariable_Unpack(item).unsafeGetTensorImpl());
  }
  return set;
}

bool has_torch_function(const Variable& tensor) {
  PyObject* obj = tensor.unsafeGetTensorImpl()->pyobj();
  return obj != nullptr && check_has_torch_function(obj);
}

// Returns tensor.view_as(tensor). A subclass may override view_as, so its own method is called.
Variable view_as_itself(const Variable& tensor) {
  if (!has_torch_function(tensor)) {
    return as_view(tensor, tensor, CreationMeta::DEFAULT);
  }
  const py::object obj = py::cast(tensor);
  const py::object view = obj.attr("view_as")(obj);
  TORCH_CHECK_TYPE(THPVariable_Check(view.ptr()), "view_as of a ", Py_TYPE(obj.ptr())->tp_name,
                   " that an autograd.Function returns as it is should be a Tensor, but is ",
                   Py_TYPE(view.ptr())->tp_name);
  return THPVariable_Unpack(view.ptr());
}

// Makes an argument that forward changed in place an output of this call's node.
void rebase_dirty(const Variable& output, const Edge& edge, size_t num_tensor_outputs) {
  const DifferentiableViewMeta* view = impl::get_view_autograd_meta(output);
  check_view_inplace(output);
  TORCH_CHECK(!impl::materialize_autograd_meta(output)->requires_grad_,
              "a leaf Variable that requires grad has been used in an in-place operation.");
  TORCH_CHECK(view == nullptr || !view->base_.requires_grad() || !impl::is_leaf(view->base_),
              "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  TORCH_CHECK(view == nullptr || num_tensor_outputs == 1,
              "If your Function modifies inplace an input that is a view of another Tensor, your "
              "Function cannot return more than one Tensor. This is not supported by the current autograd engine. You "
              "should either make sure "
              "the input is not a view (using .clone() for example) or make your Function only return one Tensor "
              "(potentially splitting it into "
              "two Functions: one doing the inplace that returns a single Tensor and a second one that does the other "
              "operations).");
  impl::rebase_history(output, edge);
}

void Call::wrap_output(Variable& output) {
  const bool is_input = input_impls.count(output.unsafeGetTensorImpl()) != 0;
  const bool is_modified = dirty.count(output.unsafeGetTensorImpl()) != 0;
  const bool is_differentiable =
      is_executable && non_differentiable.count(output.unsafeGetTensorImpl()) == 0 && output.is_floating_point();
  if (is_modified) {
    impl::bump_version(output); // forward may have changed the tensor without an op, for example through numpy
  }
  if (!is_differentiable) {
    if (is_input && !is_modified && !output.requires_grad() && !output.is_inference()) {
      output = view_as_itself(output);
    } else if (is_input && !is_modified) {
      output = impl::tensor_data(output); // a new tensor without history; the caller's tensor keeps its own
    } else if (impl::is_view(output) && !is_modified && c10::GradMode::is_enabled()) {
      mark_view(output);
    } else if (output.requires_grad() && !impl::is_view(output)) {
      output = at::detach(output);
    }
    if (self()->materialize_non_diff_grads) {
      node->add_input_metadata(output);
    } else {
      node->add_undefined_input_metadata();
    }
    return;
  }
  if (is_modified) {
    if (!is_input) {
      constexpr const char* kNotAnInput =
          "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should "
          "be passed to ctx.mark_dirty().";
      TORCH_CHECK(!impl::is_view(output), kNotAnInput);
      TORCH_WARN(kNotAnInput);
    }
    const uint32_t nr = node->add_input_metadata(output);
    rebase_dirty(output, Edge(node, nr), num_tensor_outputs);
    return;
  }
  if (is_input) {
    const c10::NoGradGuard no_grad; // make a view, so that the output can have this node as its grad_fn
    output = view_as_itself(output);
  }
  impl::set_gradient_edge(output, Edge(node, node->add_input_metadata(output)));
  mark_view(output);
}

// Marks a view that forward made. Its grad_fn is this node and not a view op, so an in-place change of the view could
// not be differentiated as a change of its base.
void Call::mark_view(const Variable& output) const {
  if (DifferentiableViewMeta* view = impl::get_view_autograd_meta(output)) {
    view->creation_meta_ = self()->pure_view        ? CreationMeta::DEFAULT
                           : num_tensor_outputs > 1 ? CreationMeta::MULTI_OUTPUT_NODE
                                                    : CreationMeta::IN_CUSTOM_FUNCTION;
  }
}

py::object Call::wrap_outputs(const py::object& raw) {
  dirty = marked(self()->dirty_tensors, "mark_dirty can only accept variables, but got ");
  non_differentiable =
      marked(self()->non_differentiable, "mark_non_differentiable only accepts variable arguments, but got ");
  const py::tuple outputs = PyTuple_Check(raw.ptr()) ? py::tuple(raw) : py::make_tuple(raw);
  TensorSet dirty_outputs, as_is; // a tensor may be returned twice
  for (py::handle output : outputs) {
    if (THPVariable_Check(output.ptr())) {
      num_tensor_outputs++;
      const c10::TensorImpl* impl = THPVariable_Unpack(output.ptr()).unsafeGetTensorImpl();
      if (dirty.count(impl) != 0) {
        dirty_outputs.insert(impl);
      } else if (has_setup_context && input_impls.count(impl) != 0) {
        as_is.insert(impl);
      }
    }
  }
  if (self()->pure_view) {
    const auto& is_tensor = self()->is_variable_input;
    TORCH_CHECK(num_tensor_outputs == 1 && std::count(is_tensor.begin(), is_tensor.end(), true) == 1,
                "Pure view custom Function can only have one input Tensor and one output Tensor. Open an issue if you "
                "need to support more.");
  }
  TORCH_CHECK(dirty_outputs.size() == dirty.size(),
              "Some elements marked as dirty during the forward method were not returned as output. The inputs "
              "that are modified inplace must all be outputs of the Function.");
  if (!as_is.empty()) {
    check_not_returned_as_is(self()->to_save, as_is);
    check_not_returned_as_is(self()->saved_for_forward, as_is);
  }
  py::tuple wrapped(outputs.size());
  for (size_t i = 0; i < outputs.size(); i++) {
    PyObject* output = outputs[i].ptr();
    if (THPVariable_Check(output)) {
      Variable variable = THPVariable_Unpack(output);
      wrap_output(variable);
      wrapped[i] = py::cast(variable);
    } else {
      node->add_undefined_input_metadata();
      wrapped[i] = py::reinterpret_borrow<py::object>(output);
    }
  }
  return PyTuple_Check(raw.ptr()) ? py::object(wrapped) : py::object(wrapped[0]);
}

// Raises an error if setup_context has saved an input that forward returned as is. Such an output becomes a view of the
// input, but setup_context saw the input in its place.
void Call::check_not_returned_as_is(PyObject* saved, const TensorSet& as_is) const {
  if (saved == nullptr || !PyTuple_Check(saved)) {
    return;
  }
  for (py::handle item : py::reinterpret_borrow<py::tuple>(saved)) {
    TORCH_CHECK(
        !THPVariable_Check(item.ptr()) || as_is.count(THPVariable_Unpack(item.ptr()).unsafeGetTensorImpl()) == 0,
        "An input that has been returned as-is as output is being saved for backward. This is not supported if you "
        "override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or "
        "setup ctx inside the forward function itself.");
  }
}

void Call::save_variables() {
  THPFunction* function = self();
  const py::object to_save = py::reinterpret_steal<py::object>(std::exchange(function->to_save, nullptr));
  if (!to_save || to_save.is_none() || !is_executable) {
    return;
  }
  TORCH_CHECK_TYPE(PyTuple_Check(to_save.ptr()), "saved tensors should be a tuple but got ",
                   Py_TYPE(to_save.ptr())->tp_name);
  for (py::handle item : to_save) {
    if (item.is_none()) {
      function->saved_variables.emplace_back();
      continue;
    }
    TORCH_CHECK_TYPE(THPVariable_Check(item.ptr()), "save_for_backward can only save variables, but argument ",
                     function->saved_variables.size(), " is of type ", Py_TYPE(item.ptr())->tp_name);
    const Variable& variable = THPVariable_Unpack(item.ptr());
    // The history of a view that was changed in place leads to this node through the history of its base.
    const bool is_changed_view = dirty.count(variable.unsafeGetTensorImpl()) != 0 && impl::is_view(variable);
    const bool is_output = is_changed_view || impl::grad_fn(variable) == node;
    function->saved_variables.emplace_back(variable, is_output, is_changed_view);
  }
}

// Records an event for a profile, with the number of the node that the call is about to make.
void record_call(std::optional<at::RecordFunction>& record, PyObject* cls, PyObject* const* inputs,
                 Py_ssize_t num_inputs) {
  std::vector<at::DimVector> shapes;
  for (Py_ssize_t i = 0; at::RecordFunction::records_shapes() && i < num_inputs; i++) {
    if (THPVariable_Check(inputs[i])) {
      shapes.emplace_back(THPVariable_Unpack(inputs[i]).sizes());
    }
  }
  record.emplace(reinterpret_cast<PyTypeObject*>(cls)->tp_name, at::profiler_hooks.next_sequence_nr(), false,
                 std::move(shapes));
}

} // namespace

PyObject* THPFunction_apply(PyObject* cls, PyObject* const* inputs, Py_ssize_t num_inputs, PyObject** context) {
  std::optional<at::RecordFunction> record;
  if (at::RecordFunction::is_enabled()) {
    record_call(record, cls, inputs, num_inputs);
  }
  Call call(cls, inputs, num_inputs);
  call.read_inputs();
  const py::object raw = call.call_forward();
  py::object outputs = call.wrap_outputs(raw);
  call.save_variables();
  THPFunction* function = call.self();
  Py_CLEAR(function->dirty_tensors);
  if (context != nullptr) {
    *context = Py_NewRef(call.ctx.ptr()); // the caller reads the remaining fields and clears them
  } else {
    Py_CLEAR(function->saved_for_forward);
    Py_CLEAR(function->non_differentiable);
  }
  return outputs.release().ptr();
}

} // namespace reftorch::torch::autograd
