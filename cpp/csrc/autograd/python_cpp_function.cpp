// Mirrors: torch/csrc/autograd/python_cpp_function.cpp
#include <csrc/autograd/python_cpp_function.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/functions/accumulate_grad.h>
#include <csrc/autograd/python_anomaly_mode.h>
#include <csrc/autograd/python_formula.h>
#include <csrc/autograd/python_function.h>
#include <csrc/autograd/python_hook.h>
#include <csrc/autograd/python_saved_variable_hooks.h>
#include <csrc/autograd/python_traverse.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>
#include <csrc/python_gil.h>

#include <unordered_map>

namespace reftorch::torch::autograd {

struct THPCppFunction {
  PyObject_HEAD std::shared_ptr<Node> cdata;
};

static PyTypeObject* node_base_type;

static THPCppFunction* as_cpp_function(PyObject* obj) {
  return reinterpret_cast<THPCppFunction*>(obj);
}

std::shared_ptr<Node> nodeFromPyObject(PyObject* obj) {
  if (PyObject_TypeCheck(obj, node_base_type)) {
    return as_cpp_function(obj)->cdata;
  }
  return PyNode::from_context(obj);
}

// Returns the node of an object. `attribute` is the attribute that the program reads, for the error message.
static std::shared_ptr<Node> unpack_node(PyObject* self, const char* attribute) {
  std::shared_ptr<Node> node = nodeFromPyObject(self);
  TORCH_CHECK(
      node != nullptr, "Attribute '", attribute, "' is invalid for this instance of _C._FunctionBase (",
      Py_TYPE(self)->tp_name,
      "): its underlying PyNode has already been deallocated. Hint: it came from a weak reference while only the "
      "graph held it; a grad_fn that is read from its tensor keeps the node alive.");
  return node;
}

// ---- one Python type per name

static int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  GraphTraversal traversal(visit, arg);
  if (as_cpp_function(self)->cdata != nullptr) {
    traversal.node(as_cpp_function(self)->cdata);
  }
  return traversal.run();
}

static int clear(PyObject* self) {
  if (as_cpp_function(self)->cdata != nullptr) {
    as_cpp_function(self)->cdata->set_pyobj(nullptr);
    as_cpp_function(self)->cdata.reset();
  }
  return 0;
}

static void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  as_cpp_function(self)->cdata.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<%U object at %p>", reinterpret_cast<PyHeapTypeObject*>(Py_TYPE(self))->ht_name, self);
}

// Returns the saved field that the attribute `name` stands for, if `name` starts with `prefix`; null if there is none.
static const SavedField* find_field(const FormulaNode& node, const char* name, const char* prefix) {
  if (strncmp(name, prefix, strlen(prefix)) != 0) {
    return nullptr;
  }
  std::string wanted = name + strlen(prefix);
  if (const size_t symbolic = wanted.rfind("_sym_sizes"); symbolic != std::string::npos) {
    wanted.erase(symbolic, 4); // PyTorch's name of the field, whose sizes may be symbolic there
  }
  for (const SavedField& field : node.formula.fields) {
    if (field.name == wanted) {
      return &field;
    }
  }
  return nullptr;
}

// _saved_other and _saved_result are the values that the graph keeps for this node. _raw_saved_other is the packed
// form.
static PyObject* getattro(PyObject* self, PyObject* name) {
  HANDLE_TH_ERRORS
  const char* text = PyUnicode_AsUTF8(name);
  if (auto node = std::dynamic_pointer_cast<FormulaNode>(as_cpp_function(self)->cdata); node != nullptr && text) {
    if (const SavedField* field = find_field(*node, text, "_saved_")) {
      return wrap_saved_field(*node, *field);
    }
    if (const SavedField* field = find_field(*node, text, "_raw_saved_"); field != nullptr && field->holds_tensors()) {
      return wrap_saved_tensors(node, node->raw(*field), field->kind == SavedField::Kind::VariableList);
    }
  }
  auto* accumulate = dynamic_cast<AccumulateGrad*>(as_cpp_function(self)->cdata.get());
  if (accumulate != nullptr && text != nullptr && strcmp(text, "variable") == 0) {
    return THPVariable_Wrap(accumulate->variable);
  }
  return PyObject_GenericGetAttr(self, name);
  END_HANDLE_TH_ERRORS
}

PyObject* THPCppFunction_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(kwargs == nullptr || PyDict_GET_SIZE(kwargs) == 0, "keyword arguments are not supported");
  const std::shared_ptr<Node> node = unpack_node(self, "__call__");
  TORCH_CHECK_TYPE(static_cast<size_t>(PyTuple_GET_SIZE(args)) == node->num_inputs(), "expected ", node->num_inputs(),
                   " arguments, got ", PyTuple_GET_SIZE(args), " instead");
  variable_list inputs;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
    PyObject* arg = PyTuple_GET_ITEM(args, i);
    TORCH_CHECK_TYPE(arg == Py_None || THPVariable_Check(arg), "expected Variable argument, but got ",
                     Py_TYPE(arg)->tp_name);
    inputs.push_back(arg == Py_None ? Variable() : THPVariable_Unpack(arg));
  }
  variable_list outputs;
  {
    const RunsNodes runs_nodes;
    const GilRelease no_gil;
    outputs = (*node)(std::move(inputs));
  }
  return outputs.size() == 1 ? THPVariable_Wrap(outputs[0]) : wrap_variables(outputs);
  END_HANDLE_TH_ERRORS
}

static PyTypeObject* make_type(const char* name, PyTypeObject* base) {
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                    {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                    {Py_tp_repr, reinterpret_cast<void*>(repr)}};
  if (base == nullptr) {
    slots.push_back({Py_tp_getset, node_properties});
    slots.push_back({Py_tp_methods, node_methods});
    slots.push_back({Py_tp_getattro, reinterpret_cast<void*>(getattro)});
    slots.push_back({Py_tp_call, reinterpret_cast<void*>(THPCppFunction_call)});
  } else {
    slots.push_back({Py_tp_base, base});
  }
  slots.push_back({0, nullptr});
  const unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                         (base == nullptr ? Py_TPFLAGS_BASETYPE : 0);
  PyType_Spec spec = {name, sizeof(THPCppFunction), 0, flags, slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) {
    throw_python_error();
  }
  auto* made = reinterpret_cast<PyTypeObject*>(type);
  made->tp_name = strrchr(name, '.') + 1; // the name in Python's messages, without the module, as in PyTorch
  return made;
}

// Returns the Python type for nodes of a name such as "MulBackward0" or "torch::autograd::AccumulateGrad". Makes the
// type on the first call.
static PyTypeObject* type_of(const std::string& full_name) {
  static auto* types = new std::unordered_map<std::string, PyTypeObject*>; // guarded by the GIL
  PyTypeObject*& type = (*types)[full_name];
  if (type == nullptr) {
    const size_t colon = full_name.rfind(':');
    // Python keeps the pointer to the name, so the string is never destroyed.
    auto* name = new std::string("reftorch._C._functions." +
                                 (colon == std::string::npos ? full_name : full_name.substr(colon + 1)));
    type = make_type(name->c_str(), node_base_type);
  }
  return type;
}

PyObject* functionToPyObject(const std::shared_ptr<Node>& cdata) {
  if (cdata == nullptr) {
    Py_RETURN_NONE;
  }
  if (auto* py_node = dynamic_cast<PyNode*>(cdata.get())) {
    return Py_NewRef(py_node->obj);
  }
  if (cdata->pyobj() != nullptr) {
    return Py_NewRef(cdata->pyobj());
  }
  PyTypeObject* type = type_of(cdata->name());
  PyObject* obj = type->tp_alloc(type, 0);
  if (obj == nullptr) {
    return nullptr;
  }
  new (&as_cpp_function(obj)->cdata) std::shared_ptr<Node>(cdata);
  cdata->set_pyobj(obj);
  return obj;
}

// ---- what every node has

static PyTypeObject* make_input_metadata_type() {
  static PyStructSequence_Field fields[] = {
      {"shape", nullptr}, {"dtype", nullptr}, {"device", nullptr}, {nullptr, nullptr}};
  static PyStructSequence_Desc desc = {"reftorch._C._autograd._InputMetadata",
                                       "What a node knows about a tensor that its op made.", fields, 3};
  return PyStructSequence_NewType(&desc);
}

static PyObject* get_next_functions(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  const std::shared_ptr<Node> node = unpack_node(self, "next_functions");
  PyObject* tuple = PyTuple_New(node->num_outputs());
  for (size_t i = 0; tuple != nullptr && i < node->num_outputs(); i++) {
    const Edge& edge = node->next_edge(i);
    PyObject* pair = Py_BuildValue("(NI)", functionToPyObject(edge.function), edge.input_nr);
    if (pair == nullptr) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, i, pair);
  }
  return tuple;
  END_HANDLE_TH_ERRORS
}

static PyObject* get_metadata(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  return PyAnomalyMetadata::dict_of(*unpack_node(self, "metadata"));
  END_HANDLE_TH_ERRORS
}

// Returns (shape, dtype, device) for each output of the node's op; None for an undefined output.
static PyObject* get_input_metadata(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  static PyTypeObject* const type = make_input_metadata_type();
  const std::shared_ptr<Node> node = unpack_node(self, "_input_metadata");
  PyObject* list = PyList_New(node->num_inputs());
  for (size_t i = 0; list != nullptr && i < node->num_inputs(); i++) {
    const InputMetadata& metadata = node->input_metadata(i);
    PyObject* item = metadata.defined() ? PyStructSequence_New(type) : Py_NewRef(Py_None);
    if (metadata.defined() && item != nullptr) {
      PyStructSequence_SetItem(item, 0, THPSize_New(metadata.shape()));
      PyStructSequence_SetItem(item, 1, Py_NewRef(getTHPDtype(metadata.dtype())));
      PyStructSequence_SetItem(item, 2, THPDevice_New(metadata.device()));
    }
    PyList_SET_ITEM(list, i, item);
  }
  return list;
  END_HANDLE_TH_ERRORS
}

static PyObject* get_requires_grad(PyObject*, void*) {
  Py_RETURN_TRUE;
}

// Returns the names of object.__dir__ and of the fields that getattro finds.
static PyObject* dir(PyObject* self, PyObject*) {
  HANDLE_TH_ERRORS
  static PyObject* const object_dir =
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__dir__");
  PyObject* names = PyObject_CallOneArg(object_dir, self);
  const auto* node = dynamic_cast<FormulaNode*>(nodeFromPyObject(self).get());
  if (names == nullptr || node == nullptr) {
    return names;
  }
  for (const SavedField& field : node->formula.fields) {
    for (const char* prefix : {"_saved_", "_raw_saved_"}) {
      PyObject* name = PyUnicode_FromString((prefix + field.name).c_str());
      if (name == nullptr || ((prefix[1] == 's' || field.holds_tensors()) && PyList_Append(names, name) < 0)) {
        Py_XDECREF(name);
        Py_DECREF(names);
        return nullptr;
      }
      Py_DECREF(name);
    }
  }
  return names;
  END_HANDLE_TH_ERRORS
}

static PyObject* name(PyObject* self, PyObject*) {
  HANDLE_TH_ERRORS
  return PyUnicode_FromString(unpack_node(self, "name")->name().c_str());
  END_HANDLE_TH_ERRORS
}

static PyObject* sequence_nr(PyObject* self, PyObject*) {
  HANDLE_TH_ERRORS
  return PyLong_FromUnsignedLongLong(unpack_node(self, "_sequence_nr")->sequence_nr());
  END_HANDLE_TH_ERRORS
}

static PyObject* set_sequence_nr(PyObject* self, PyObject* value) {
  HANDLE_TH_ERRORS
  const unsigned long long number = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  unpack_node(self, "_set_sequence_nr")->set_sequence_nr(number);
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

// Puts `hook` into the dict that the node's hook of the kind Hook owns, and makes that dict for the node's first hook
// of the kind: with one dict per hook, a node would keep an empty dict for every hook that was removed. Returns the
// RemovableHandle for the hook. The GIL guards the search and the registration together.
template <typename Hook, typename List, typename Add>
static PyObject* add_hook(const List& present, PyObject* hook, const Add& add) {
  for (const auto& other : present) {
    if (const auto* of_python = dynamic_cast<const Hook*>(other.get())) {
      return add_to_hook_dict(hook, of_python->dict());
    }
  }
  PyObject* dict = nullptr;
  PyObject* handle = make_hook_dict(hook, &dict);
  add(std::make_unique<Hook>(dict));
  Py_DECREF(dict);
  return handle;
}

static PyObject* register_hook(PyObject* self, PyObject* hook) {
  HANDLE_TH_ERRORS
  const std::shared_ptr<Node> node = unpack_node(self, "register_hook");
  return add_hook<PyFunctionPostHook>(node->post_hooks(), hook,
                                      [&](auto made) { node->add_post_hook(std::move(made)); });
  END_HANDLE_TH_ERRORS
}

static PyObject* register_prehook(PyObject* self, PyObject* hook) {
  HANDLE_TH_ERRORS
  const std::shared_ptr<Node> node = unpack_node(self, "register_prehook");
  return add_hook<PyFunctionPreHook>(node->pre_hooks(), hook, [&](auto made) { node->add_pre_hook(std::move(made)); });
  END_HANDLE_TH_ERRORS
}

// Adds the hook dict of a tensor that this node made, for Tensor.register_hook.
static PyObject* register_hook_dict(PyObject* self, PyObject* tensor) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(THPVariable_Check(tensor), "_register_hook_dict expected a Tensor, but got ",
                   Py_TYPE(tensor)->tp_name);
  PyObject* dict = reinterpret_cast<THPVariable*>(tensor)->backward_hooks;
  TORCH_CHECK(dict != nullptr, "the tensor has no hooks");
  unpack_node(self, "_register_hook_dict")
      ->add_tensor_pre_hook(
          std::make_unique<PyFunctionTensorPreHook>(dict, impl::output_nr(THPVariable_Unpack(tensor))));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

// Returns whether the tensor's hooks run at this node. After an in-place change the tensor has another node, which does
// not have the hooks.
static PyObject* has_hook_dict(PyObject* self, PyObject* tensor) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(THPVariable_Check(tensor), "_has_hook_dict expected a Tensor, but got ", Py_TYPE(tensor)->tp_name);
  const PyObject* dict = reinterpret_cast<THPVariable*>(tensor)->backward_hooks;
  return PyBool_FromLong(unpack_node(self, "_has_hook_dict")->any_tensor_pre_hook([dict](const auto& hook) {
    const auto* of_python = dynamic_cast<const PyFunctionTensorPreHook*>(hook.get());
    return of_python != nullptr && of_python->dict() == dict;
  }));
  END_HANDLE_TH_ERRORS
}

PyGetSetDef node_properties[] = {
    {"next_functions", get_next_functions, nullptr,
     "Where the node's gradients go: a tuple of pairs (node, number of that node's input).", nullptr},
    {"metadata", get_metadata, nullptr, "A dict for any notes about the node; anomaly mode keeps the traceback here.",
     nullptr},
    {"_input_metadata", get_input_metadata, nullptr, "Shape, dtype and device of each output of the op.", nullptr},
    {"requires_grad", get_requires_grad, nullptr, nullptr, nullptr},
    {}};

PyMethodDef node_methods[] = {
    {"name", name, METH_NOARGS, "The node's name, such as 'MulBackward0'."},
    {"_sequence_nr", sequence_nr, METH_NOARGS,
     "The number by which the engine orders nodes; nodes recorded later have higher numbers."},
    {"_set_sequence_nr", set_sequence_nr, METH_O, "Set the number by which the engine orders nodes."},
    {"register_hook", register_hook, METH_O,
     "register_hook(fn): call fn(grad_inputs, grad_outputs) after the node ran; a tuple that fn returns replaces "
     "grad_inputs."},
    {"register_prehook", register_prehook, METH_O,
     "register_prehook(fn): call fn(grad_outputs) before the node runs; a tuple that fn returns replaces "
     "grad_outputs."},
    {"_register_hook_dict", register_hook_dict, METH_O, nullptr},
    {"_has_hook_dict", has_hook_dict, METH_O, nullptr},
    {"__dir__", dir, METH_NOARGS, nullptr},
    {}};

void initCppFunction(PyObject* module) {
  node_base_type = make_type("reftorch._C._functions.Node", nullptr);
  PyObject* space = PyModule_New("reftorch._C._functions");
  if (space == nullptr || PyModule_AddObject(module, "_functions", space) < 0 ||
      PyObject_SetAttrString(space, "Node", reinterpret_cast<PyObject*>(node_base_type)) < 0 ||
      PyObject_SetAttrString(space, "AccumulateGrad",
                             reinterpret_cast<PyObject*>(type_of("torch::autograd::AccumulateGrad"))) < 0) {
    throw_python_error();
  }
}

} // namespace reftorch::torch::autograd
