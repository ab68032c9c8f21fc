// Mirrors: torch/csrc/autograd/python_function.cpp (PyNode, the type THPFunction)
#include <csrc/autograd/python_function.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_cpp_function.h>
#include <csrc/autograd/python_saved_variable_hooks.h>
#include <csrc/autograd/python_traverse.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_gil.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/pybind.h>

namespace py = pybind11;

namespace reftorch::torch::autograd {

PyTypeObject* THPFunctionType = nullptr;

// ---- the node

// Releases the saved tensors. The vector keeps its length, because a SavedTensor may refer to an element.
static void release_saved(THPFunction* self) {
  for (SavedVariable& saved : self->saved_variables) {
    saved.release();
  }
}

std::string PyNode::name() const {
  const GilAcquire gil;
  return Py_TYPE(obj)->tp_name;
}

void PyNode::release_variables() {
  const GilAcquire gil;
  release_saved(as_function(obj));
  as_function(obj)->has_freed_buffers = true;
}

std::shared_ptr<Node> PyNode::from_context(PyObject* obj) {
  if (!PyObject_TypeCheck(obj, THPFunctionType) || as_function(obj)->cdata == nullptr) {
    return nullptr;
  }
  PyNode* node = as_function(obj)->cdata.get();
  if (std::shared_ptr<Node> held = node->weak_from_this().lock()) {
    return held;
  }
  // The last of the pointers drops the reference, on any thread. Dropping the reference may delete the node.
  Py_INCREF(obj);
  return std::shared_ptr<Node>(node, [obj](Node*) { decref_anywhere(obj); });
}

static py::object call_backward(PyObject* ctx, const PyNode& node, const variable_list& grads) {
  py::tuple args(grads.size() + 1);
  args[0] = py::reinterpret_borrow<py::object>(ctx);
  for (size_t i = 0; i < grads.size(); i++) {
    Variable grad = grads[i];
    if (!grad.defined() && as_function(ctx)->materialize_grads && node.input_metadata(i).defined()) {
      grad = node.input_metadata(i).zeros_like();
    }
    args[i + 1] = py::cast(grad);
  }
  const py::object backward =
      py::handle(reinterpret_cast<PyObject*>(Py_TYPE(ctx))).attr("_forward_cls").attr("backward");
  return steal(PyObject_Call(backward.ptr(), args.ptr(), nullptr));
}

// Calls backward. It returns one value for each argument of forward; the result has one gradient for each tensor
// argument.
variable_list PyNode::apply(variable_list&& grads) {
  const GilAcquire gil;
  const auto ctx = py::reinterpret_borrow<py::object>(obj);
  const THPFunction* self = as_function(obj);
  py::object returned;
  try {
    returned = call_backward(ctx.ptr(), *this, grads);
  } catch (py::error_already_set& e) {
    e.restore();
    throw_python_error();
  }
  py::tuple outputs = PyTuple_Check(returned.ptr()) ? py::tuple(returned) : py::make_tuple(returned);

  const size_t expected = self->is_variable_input.size();
  TORCH_CHECK(outputs.size() >= expected, "function ", name(), " returned an incorrect number of gradients (expected ",
              expected, ", got ", outputs.size(), ")");
  variable_list results;
  for (size_t i = 0; i < outputs.size(); i++) {
    const py::object output = outputs[i];
    if (i >= expected) {
      TORCH_CHECK(output.is_none(), "function ", name(), " returned an incorrect number of gradients (expected ",
                  expected, ", got ", outputs.size(), ")");
    } else if (!self->is_variable_input[i]) {
      TORCH_CHECK(output.is_none(), "function ", name(), " returned a gradient different from None at position ", i + 1,
                  ", but the corresponding forward input was not a Variable");
    } else if (output.is_none()) {
      results.emplace_back();
    } else {
      TORCH_CHECK(THPVariable_Check(output.ptr()), "expected Variable or None (got ", Py_TYPE(output.ptr())->tp_name,
                  ") from the backward of ", name());
      results.push_back(THPVariable_Unpack(output.ptr()));
    }
  }
  return results;
}

// ---- the type of ctx

static PyObject* THPFunction_new(PyTypeObject* type, PyObject*, PyObject*) {
  HANDLE_TH_ERRORS
  const py::object ctx = steal(type->tp_alloc(type, 0));
  THPFunction* self = as_function(ctx.ptr());
  self->materialize_grads = true;
  self->materialize_non_diff_grads = true;
  new (&self->saved_variables) std::vector<SavedVariable>;
  new (&self->is_variable_input) std::vector<bool>;
  new (&self->cdata) std::unique_ptr<PyNode>;
  self->cdata = std::make_unique<PyNode>(ctx.ptr()); // may throw in anomaly mode, which stores the Python stack
  return Py_NewRef(ctx.ptr());
  END_HANDLE_TH_ERRORS
}

static int THPFunction_traverse(PyObject* obj, visitproc visit, void* arg) {
  const THPFunction* self = as_function(obj);
  Py_VISIT(Py_TYPE(obj));
  Py_VISIT(self->needs_input_grad);
  Py_VISIT(self->to_save);
  Py_VISIT(self->saved_for_forward);
  Py_VISIT(self->non_differentiable);
  Py_VISIT(self->dirty_tensors);
  GraphTraversal traversal(visit, arg);
  for (const SavedVariable& saved : self->saved_variables) {
    saved.visit_owned(traversal);
  }
  if (self->cdata != nullptr && (self->cdata->weak_from_this().expired() || !RunsNodes::any())) {
    self->cdata->Node::visit_owned(traversal);
  }
  return traversal.run();
}

static int THPFunction_clear(PyObject* obj) {
  THPFunction* self = as_function(obj);
  Py_CLEAR(self->needs_input_grad);
  Py_CLEAR(self->to_save);
  Py_CLEAR(self->saved_for_forward);
  Py_CLEAR(self->non_differentiable);
  Py_CLEAR(self->dirty_tensors);
  release_saved(self);
  if (self->cdata != nullptr && self->cdata->weak_from_this().expired()) {
    const std::unique_ptr<PyNode> node = std::move(self->cdata);
  }
  return 0;
}

static void THPFunction_dealloc(PyObject* obj) {
  PyObject_GC_UnTrack(obj);
  THPFunction_clear(obj);
  THPFunction* self = as_function(obj);
  self->cdata.~unique_ptr();
  self->saved_variables.~vector();
  self->is_variable_input.~vector();
  PyTypeObject* type = Py_TYPE(obj);
  type->tp_free(obj);
  Py_DECREF(type);
}

static PyObject* get_saved_tensors(PyObject* obj, void*) {
  HANDLE_TH_ERRORS
  THPFunction* self = as_function(obj);
  if (self->to_save != nullptr) { // still inside forward, or inside jvp
    return Py_NewRef(self->to_save);
  }
  TORCH_CHECK(!self->has_freed_buffers, ERR_BACKWARD_TWICE);
  py::tuple tensors(self->saved_variables.size());
  const std::shared_ptr<Node> node = PyNode::from_context(obj);
  for (size_t i = 0; i < self->saved_variables.size(); i++) {
    tensors[i] = py::cast(self->saved_variables[i].unpack(node));
  }
  return tensors.release().ptr();
  END_HANDLE_TH_ERRORS
}

static PyObject* get_raw_saved_tensors(PyObject* obj, void*) {
  HANDLE_TH_ERRORS
  THPFunction* self = as_function(obj);
  TORCH_CHECK(!self->has_freed_buffers, ERR_BACKWARD_TWICE);
  return wrap_saved_tensors(PyNode::from_context(obj), self->saved_variables, /*as_tuple=*/true);
  END_HANDLE_TH_ERRORS
}

template <PyObject* THPFunction::* field>
static PyObject* get_field(PyObject* obj, void*) {
  PyObject* value = as_function(obj)->*field;
  return Py_NewRef(value != nullptr ? value : Py_None);
}

template <PyObject* THPFunction::* field>
static int set_field(PyObject* obj, PyObject* value, void*) {
  Py_XSETREF(as_function(obj)->*field, Py_XNewRef(value));
  return 0;
}

template <bool THPFunction::* flag>
static PyObject* get_flag(PyObject* obj, void*) {
  return PyBool_FromLong(as_function(obj)->*flag);
}

template <bool THPFunction::* flag>
static int set_flag(PyObject* obj, PyObject* value, void* name) {
  if (value == nullptr || !PyBool_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s expects a bool", static_cast<const char*>(name));
    return -1;
  }
  as_function(obj)->*flag = value == Py_True;
  return 0;
}

static PyObject* apply_method(PyObject* cls, PyObject* const* args, Py_ssize_t nargs) {
  HANDLE_TH_ERRORS
  return THPFunction_apply(cls, args, nargs);
  END_HANDLE_TH_ERRORS
}

static PyObject* apply_with_context(PyObject* cls, PyObject* const* args, Py_ssize_t nargs) {
  HANDLE_TH_ERRORS
  PyObject* context = nullptr;
  PyObject* outputs = THPFunction_apply(cls, args, nargs, &context);
  return outputs != nullptr ? Py_BuildValue("(NN)", context, outputs) : nullptr;
  END_HANDLE_TH_ERRORS
}

static PyObject* release_saved_tensors(PyObject* self, PyObject*) {
  release_saved(as_function(self));
  Py_RETURN_NONE;
}

void initFunction(PyObject* module) {
  static std::vector<PyGetSetDef> properties = {
      {"saved_tensors", get_saved_tensors, nullptr,
       "The tensors of save_for_backward. Raises RuntimeError if they were freed, or were changed in place.", nullptr},
      {"_raw_saved_tensors", get_raw_saved_tensors, nullptr,
       "The tensors of save_for_backward, still packed, as SavedTensor objects.", nullptr},
      {"needs_input_grad", get_field<&THPFunction::needs_input_grad>, set_field<&THPFunction::needs_input_grad>,
       "A tuple of bools: whether each argument of forward needs a gradient.", nullptr},
      {"to_save", get_field<&THPFunction::to_save>, set_field<&THPFunction::to_save>, nullptr, nullptr},
      {"saved_for_forward", get_field<&THPFunction::saved_for_forward>, set_field<&THPFunction::saved_for_forward>,
       nullptr, nullptr},
      {"non_differentiable", get_field<&THPFunction::non_differentiable>, set_field<&THPFunction::non_differentiable>,
       nullptr, nullptr},
      {"dirty_tensors", get_field<&THPFunction::dirty_tensors>, set_field<&THPFunction::dirty_tensors>, nullptr,
       nullptr},
      {"materialize_grads", get_flag<&THPFunction::materialize_grads>, set_flag<&THPFunction::materialize_grads>,
       nullptr, const_cast<char*>("set_materialize_grads")},
      {"_materialize_non_diff_grads", get_flag<&THPFunction::materialize_non_diff_grads>,
       set_flag<&THPFunction::materialize_non_diff_grads>, nullptr, const_cast<char*>("_materialize_non_diff_grads")},
      {"_is_pure_view", get_flag<&THPFunction::pure_view>, set_flag<&THPFunction::pure_view>,
       "Whether forward only returns a view of its only tensor. Such a view may be changed in place.",
       const_cast<char*>("_is_pure_view")},
  };
  static std::vector<PyMethodDef> methods = {
      {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(apply_method)), METH_FASTCALL | METH_CLASS,
       "apply(*args): run forward on args and record the call."},
      {"_apply_with_context", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(apply_with_context)),
       METH_FASTCALL | METH_CLASS, "Like apply, but returns (ctx, outputs)."},
      {"_release_saved_tensors", release_saved_tensors, METH_NOARGS, nullptr},
  };
  for (PyGetSetDef* def = node_properties; def->name != nullptr; def++) {
    properties.push_back(*def);
  }
  for (PyMethodDef* def = node_methods; def->ml_name != nullptr; def++) {
    methods.push_back(*def);
  }
  properties.push_back({});
  methods.push_back({});

  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(THPFunction_new)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(THPFunction_dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(THPFunction_traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(THPFunction_clear)},
                         {Py_tp_call, reinterpret_cast<void*>(THPCppFunction_call)},
                         {Py_tp_getset, properties.data()},
                         {Py_tp_methods, methods.data()},
                         {0, nullptr}};
  PyType_Spec spec = {"reftorch._C._FunctionBase", sizeof(THPFunction), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) {
    throw_python_error();
  }
  THPFunctionType = reinterpret_cast<PyTypeObject*>(type);
  PyModule_AddObject(module, "_FunctionBase", Py_NewRef(type));
}

} // namespace reftorch::torch::autograd
