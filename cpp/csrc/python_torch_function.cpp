// Mirrors: torch/csrc/utils/disable_torch_function.cpp, torch/csrc/utils/python_arg_parser.cpp (handle_torch_function)
#include <csrc/python_torch_function.h>

#include <csrc/Exceptions.h>
#include <csrc/python_dtype.h>
#include <csrc/python_gil.h>
#include <csrc/python_thread_local_state.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/python_context_manager.h>
#include <csrc/utils/python_other_library.h>

#include <ATen/ThreadLocalState.h>

#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>

namespace py = pybind11;

namespace reftorch::torch {

PyObject* THPParameterClass = nullptr;

using Enabled = TorchFunctionState::Enabled;

static PyObject* torch_function_name;     // "__torch_function__", interned
static PyObject* disabled_torch_function; // _C._disabled_torch_function_impl
// The modes of this thread, the innermost last. The vector is leaked, because it would otherwise be destroyed after the
// interpreter has ended.
static thread_local std::vector<py::object>* mode_stack = nullptr;

// Returns whether `type` is one of the built-in types that are frequent as arguments and have no override.
static bool is_basic_type(PyTypeObject* type) {
  return type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type || type == Py_TYPE(Py_None) ||
         type == &PyUnicode_Type || type == &PyTuple_Type || type == &PyList_Type || type == &PySlice_Type ||
         type == THPSizeType || type == THPDtypeType || type == THPDeviceType;
}

bool slow_has_torch_function(PyObject* obj) {
  if (is_basic_type(Py_TYPE(obj)) || torch_function_state.enabled != Enabled::All) {
    return false;
  }
  PyObject* attribute = _PyType_Lookup(Py_TYPE(obj), torch_function_name); // borrowed
  // PyTorch's own tensors have the method too. Theirs would call our function again, and so on without an end.
  return attribute != nullptr && attribute != disabled_torch_function && !is_defined_by_torch(attribute);
}

bool slow_argument_has_torch_function(PyObject* obj) {
  if (!PyTuple_Check(obj) && !PyList_Check(obj)) {
    return slow_has_torch_function(obj);
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(obj); i++) {
    if (check_has_torch_function(PySequence_Fast_GET_ITEM(obj, i))) {
      return true;
    }
  }
  return false;
}

void append_overloaded_arg(OverloadedArgs& overloaded, PyObject* obj) {
  PyTypeObject* type = Py_TYPE(obj);
  auto at = overloaded.end();
  for (auto it = overloaded.begin(); it != overloaded.end(); ++it) {
    if (Py_TYPE(*it) == type) {
      return; // the class is in the list already
    }
    if (at == overloaded.end() && PyType_IsSubtype(type, Py_TYPE(*it))) {
      at = it;
    }
  }
  overloaded.insert(at, obj);
}

static void append_overloaded(OverloadedArgs& overloaded, PyObject* obj) {
  if (check_has_torch_function(obj)) {
    append_overloaded_arg(overloaded, obj);
  }
}

void append_overloaded_args(OverloadedArgs& overloaded, PyObject* argument) {
  if (!PyTuple_Check(argument) && !PyList_Check(argument)) {
    append_overloaded(overloaded, argument);
    return;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(argument); i++) {
    append_overloaded(overloaded, PySequence_Fast_GET_ITEM(argument, i));
  }
}

// ---- modes

static void push_mode(const py::object& mode) {
  if (mode_stack == nullptr) {
    mode_stack = new std::vector<py::object>;
  }
  mode_stack->push_back(mode);
  torch_function_state.has_modes = true;
}

static py::object pop_mode() {
  TORCH_CHECK(torch_function_state.has_modes, "trying to pop from empty mode stack");
  py::object mode = mode_stack->back();
  mode_stack->pop_back();
  torch_function_state.has_modes = !mode_stack->empty();
  return mode;
}

// The state for another thread; `modes` is a tuple of the modes, the outermost first.
struct SavedTorchFunctionState {
  TorchFunctionState state;
  std::shared_ptr<PyObject> modes;
};

static PyObject* mode_tuple() {
  py::tuple modes(mode_stack->size());
  for (size_t i = 0; i < mode_stack->size(); i++) {
    modes[i] = (*mode_stack)[i];
  }
  return modes.release().ptr();
}

static SavedTorchFunctionState get_torch_function_state() {
  if (!torch_function_state.has_modes) {
    return {torch_function_state, nullptr};
  }
  const GilAcquire gil;
  return {torch_function_state, share_object(mode_tuple())};
}

static void set_torch_function_state(const SavedTorchFunctionState& saved) {
  const GilAcquire gil;
  torch_function_state = {saved.state.enabled, false};
  delete std::exchange(mode_stack, nullptr);
  if (saved.modes != nullptr) {
    for (py::handle mode : py::reinterpret_borrow<py::tuple>(saved.modes.get())) {
      push_mode(py::reinterpret_borrow<py::object>(mode));
    }
  }
}

static const at::RegisterThreadLocal<&get_torch_function_state, &set_torch_function_state>
    register_torch_function_state("python_torch_function.h: torch_function_state");

static size_t num_modes() {
  return mode_stack != nullptr ? mode_stack->size() : 0;
}

// Takes the innermost mode off the stack while the mode handles a call.
class PoppedMode final {
 public:
  PoppedMode() : mode(pop_mode()) {}
  ~PoppedMode() {
    push_mode(mode);
  }
  PoppedMode(const PoppedMode&) = delete;
  PoppedMode& operator=(const PoppedMode&) = delete;
  const py::object mode;
};

// ---- calling __torch_function__

static PyObject* ask(PyObject* whom, PyObject* func, PyObject* types, PyObject* args, PyObject* kwargs) {
  const py::object torch_function = steal(PyObject_GetAttr(whom, torch_function_name));
  PyObject* result = PyObject_CallFunctionObjArgs(torch_function.ptr(), func, types, args, kwargs, nullptr);
  if (result == nullptr) {
    throw_python_error();
  }
  return result;
}

void check_mode_is_no_class(PyObject* mode, PyObject* name) {
  const py::object method = steal(PyObject_GetAttr(mode, name));
  TORCH_CHECK(!PyMethod_Check(method.ptr()) || !PyType_Check(PyMethod_GET_SELF(method.ptr())), "Defining your mode's `",
              PyUnicode_AsUTF8(name), "` as a classmethod is not supported, please make it a plain method");
}

static void warn_of_plain_method(PyObject* obj) {
  PyObject* attribute = _PyType_Lookup(Py_TYPE(obj), torch_function_name);
  if (attribute != nullptr && PyFunction_Check(attribute)) {
    TORCH_WARN_ONCE(
        "Defining your `__torch_function__` as a plain method is deprecated and will be an error in future, ",
        "please define it as a classmethod.");
  }
}

[[noreturn]] static void raise_nobody_answered(const char* name, PyObject* mode, const OverloadedArgs& overloaded) {
  std::string asked;
  if (mode != nullptr) {
    asked += "  - mode object " + std::string(py::repr(mode)) + "\n";
  }
  for (PyObject* obj : overloaded) {
    asked += "  - tensor subclass " + std::string(py::repr(py::type::handle_of(obj))) + "\n";
  }
  TORCH_CHECK_TYPE(false, "Multiple dispatch failed for '", name,
                   "'; all __torch_function__ handlers returned NotImplemented:\n\n", asked);
}

PyObject* handle_torch_function(PyObject* func, PyObject* args, PyObject* kwargs, const OverloadedArgs& overloaded,
                                const char* name) {
  py::tuple types(overloaded.size());
  for (size_t i = 0; i < overloaded.size(); i++) {
    types[i] = py::type::handle_of(overloaded[i]);
  }
  py::object mode;
  if (torch_function_mode_enabled()) {
    const PoppedMode popped;
    mode = popped.mode;
    check_mode_is_no_class(mode.ptr(), torch_function_name);
    PyObject* result = ask(mode.ptr(), func, types.ptr(), args, kwargs);
    if (result != Py_NotImplemented) {
      return result;
    }
    Py_DECREF(result);
  }
  for (PyObject* obj : overloaded) {
    warn_of_plain_method(obj);
    PyObject* result = ask(obj, func, types.ptr(), args, kwargs);
    if (result != Py_NotImplemented) {
      return result;
    }
    Py_DECREF(result);
  }
  raise_nobody_answered(name, mode.ptr(), overloaded);
}

PyObject* handle_torch_function_of_self(PyObject* self, const char* attribute, PyObject* args, PyObject* kwargs,
                                        const char* accessor) {
  py::object func = steal(PyObject_GetAttrString(THPVariableClass, attribute));
  std::string name = std::string("torch.Tensor.") + attribute;
  if (accessor != nullptr) {
    func = steal(PyObject_GetAttrString(func.ptr(), accessor));
    name += std::string(".") + accessor;
  }
  OverloadedArgs overloaded;
  append_overloaded_args(overloaded, self);
  const Py_ssize_t n = args != nullptr ? PyTuple_GET_SIZE(args) : 0;
  py::tuple all(static_cast<size_t>(n + 1));
  all[0] = py::handle(self);
  for (Py_ssize_t i = 0; i < n; i++) {
    all[static_cast<size_t>(i + 1)] = py::handle(PyTuple_GET_ITEM(args, i));
    append_overloaded_args(overloaded, PyTuple_GET_ITEM(args, i));
  }
  return handle_torch_function(func.ptr(), all.ptr(), kwargs, overloaded, name.c_str());
}

PyObject* handle_torch_function_of_self(PyObject* self, const char* attribute,
                                        std::initializer_list<PyObject*> others) {
  py::list args;
  for (PyObject* other : others) {
    args.append(py::handle(other));
  }
  return handle_torch_function_of_self(self, attribute, py::tuple(args).ptr(), nullptr);
}

PyObject* handle_torch_function_of_call(PyObject* func, const PythonArgs& call, const char* name) {
  OverloadedArgs overloaded;
  py::tuple args(static_cast<size_t>(call.nargs));
  for (Py_ssize_t i = 0; i < call.nargs; i++) {
    args[static_cast<size_t>(i)] = py::handle(call.args[i]);
    append_overloaded_args(overloaded, call.args[i]);
  }
  py::dict kwargs;
  for (Py_ssize_t i = 0; i < call.nkwargs(); i++) {
    kwargs[py::handle(call.keyword(i))] = py::handle(call.keyword_value(i));
    append_overloaded_args(overloaded, call.keyword_value(i));
  }
  return handle_torch_function(func, args.ptr(), kwargs.empty() ? nullptr : kwargs.ptr(), overloaded, name);
}

PyObject* handle_torch_function_of_operator(const OperatorNames& names, PyObject* const* args, Py_ssize_t nargs) {
  const bool reflected = !THPVariable_Check(args[0]);
  py::tuple others(static_cast<size_t>(nargs - 1));
  if (nargs == 2) {
    others[0] = py::handle(args[reflected ? 0 : 1]);
  }
  try {
    return handle_torch_function_of_self(args[reflected ? 1 : 0], reflected ? names.reflected : names.name,
                                         others.ptr(), nullptr);
  } catch (const c10::TypeError&) { // the class of the other operand may implement the operator
    Py_RETURN_NOTIMPLEMENTED;
  }
}

// ---- methods and properties that are C functions

static PyObject* overridable_get(PyObject* self, void* closure) {
  const auto* def = static_cast<const PyGetSetDef*>(closure);
  if (!self_has_torch_function(self)) {
    return def->get(self, def->closure);
  }
  HANDLE_TH_ERRORS
  return handle_torch_function_of_self(self, def->name, nullptr, nullptr, "__get__");
  END_HANDLE_TH_ERRORS
}

static int overridable_set(PyObject* self, PyObject* value, void* closure) {
  const auto* def = static_cast<const PyGetSetDef*>(closure);
  if (!self_has_torch_function(self)) {
    return def->set(self, value, def->closure);
  }
  HANDLE_TH_ERRORS
  const py::object args = steal(value != nullptr ? PyTuple_Pack(1, value) : PyTuple_New(0));
  Py_DECREF(
      handle_torch_function_of_self(self, def->name, args.ptr(), nullptr, value != nullptr ? "__set__" : "__delete__"));
  return 0;
  END_HANDLE_TH_ERRORS_RET(-1)
}

PyGetSetDef overridable(const PyGetSetDef& def) {
  return {def.name, overridable_get, def.set != nullptr ? overridable_set : nullptr, def.doc,
          const_cast<PyGetSetDef*>(&def)};
}

PyObject* call_override_of_method(const PyMethodDef& def, PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  const py::object packed = (def.ml_flags & METH_O) != 0 ? steal(PyTuple_Pack(1, args)) : py::object();
  return handle_torch_function_of_self(self, def.ml_name, packed ? packed.ptr() : args, kwargs);
  END_HANDLE_TH_ERRORS
}

// ---- functions that Python calls

static PyObject* has_torch_function(PyObject*, PyObject* args) {
  if (torch_function_mode_enabled()) {
    Py_RETURN_TRUE;
  }
  PyObject* fast = PySequence_Fast(args, "expected a sequence");
  if (fast == nullptr) {
    return nullptr;
  }
  bool found = false;
  for (Py_ssize_t i = 0; !found && i < PySequence_Fast_GET_SIZE(fast); i++) {
    found = check_has_torch_function(PySequence_Fast_GET_ITEM(fast, i));
  }
  Py_DECREF(fast);
  return PyBool_FromLong(found);
}

static PyObject* has_torch_function_unary(PyObject*, PyObject* obj) {
  return PyBool_FromLong(torch_function_mode_enabled() || check_has_torch_function(obj));
}

static PyObject* has_torch_function_variadic(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  bool found = torch_function_mode_enabled();
  for (Py_ssize_t i = 0; !found && i < nargs; i++) {
    found = check_has_torch_function(args[i]);
  }
  return PyBool_FromLong(found);
}

// Takes (args, kwargs). Returns whether an argument, or an item of a list among the arguments, has an override.
static PyObject* call_has_torch_function(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  bool found = torch_function_mode_enabled();
  if (nargs != 2 || !PyTuple_Check(args[0]) || !PyDict_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "_call_has_torch_function: expected a tuple and a dict");
    return nullptr;
  }
  for (Py_ssize_t i = 0; !found && i < PyTuple_GET_SIZE(args[0]); i++) {
    found = argument_has_torch_function(PyTuple_GET_ITEM(args[0], i));
  }
  Py_ssize_t position = 0;
  PyObject *key, *value;
  while (!found && PyDict_Next(args[1], &position, &key, &value)) {
    found = argument_has_torch_function(value);
  }
  return PyBool_FromLong(found);
}

PyObject* call_disabled_override(PyObject* all, const char* format) {
  PyObject *func, *types, *args = nullptr, *kwargs = nullptr;
  if (!PyArg_ParseTuple(all, format, &func, &types, &args, &kwargs)) {
    return nullptr;
  }
  PyObject* tuple = args != nullptr ? PySequence_Tuple(args) : PyTuple_New(0);
  PyObject* result = tuple != nullptr ? PyObject_Call(func, tuple, kwargs == Py_None ? nullptr : kwargs) : nullptr;
  Py_XDECREF(tuple);
  return result;
}

// Raises a TypeError if `func` is a function, method or property of PyTorch.
static void check_is_not_function_of_torch(const py::object& func) {
  const py::object owner = py::getattr(func, "__self__", func); // of a property's `__get__`: the property
  const py::object type = py::getattr(owner, "__objclass__", py::none());
  TORCH_CHECK_TYPE(!is_defined_by_torch(func.ptr()) && !is_defined_by_torch(type.ptr()),
                   py::str(py::getattr(func, "__name__", func)).cast<std::string>(),
                   "(): this is PyTorch's function, but a tensor of reftorch came in. Hint: the program uses torch and "
                   "reftorch. Import one of them only, or convert tensors with torch.from_dlpack(x)");
}

// Calls func(*args, **kwargs) without overrides. A class assigns this function to __torch_function__ in order to have
// no override. PyTorch cannot know that and calls this function too. PyTorch's `func` would call this function again,
// and so on without an end.
static PyObject* disabled_torch_function_impl(PyObject*, PyObject* all) {
  HANDLE_TH_ERRORS
  if (PyTuple_GET_SIZE(all) > 0) {
    check_is_not_function_of_torch(py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(all, 0)));
  }
  const DisableTorchFunction guard(Enabled::Modes);
  return call_disabled_override(all, "OO|OO:__torch_function__");
  END_HANDLE_TH_ERRORS
}

// The guard of the context managers _C.DisableTorchFunctionSubclass, _C.DisableTorchFunction and
// _C._EnableTorchFunction. `still` says which overrides are called inside the block. An override that is off stays off,
// except under All, which exists to turn overrides on again.
template <Enabled still>
struct DisableGuard {
  DisableTorchFunction guard{still == Enabled::All ? still : std::max(still, torch_function_state.enabled)};
};

template <Enabled still>
static void bind_disable_context(py::module_& m, const char* name, const char* doc) {
  bind_context_manager<py_context_manager<DisableGuard<still>>>(m, name, doc).def(py::init<>());
}

static py::list overloaded_args(const py::iterable& args) {
  OverloadedArgs overloaded;
  for (py::handle arg : args) {
    append_overloaded(overloaded, arg.ptr());
  }
  py::list result;
  for (PyObject* obj : overloaded) {
    result.append(py::handle(obj));
  }
  return result;
}

static PyMethodDef functions[] = {
    {"_has_torch_function", has_torch_function, METH_O, "Return whether one of a sequence of objects overrides ops."},
    {"_has_torch_function_unary", has_torch_function_unary, METH_O, "Return whether an object overrides ops."},
    {"_has_torch_function_variadic",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(has_torch_function_variadic)), METH_FASTCALL,
     "Return whether one of the arguments overrides ops."},
    {"_call_has_torch_function", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_has_torch_function)),
     METH_FASTCALL, nullptr},
    {"_disabled_torch_function_impl", disabled_torch_function_impl, METH_VARARGS, nullptr},
    {}};

void initTorchFunction(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  torch_function_name = PyUnicode_InternFromString("__torch_function__");
  if (torch_function_name == nullptr || PyModule_AddFunctions(module, functions) < 0) {
    throw_python_error();
  }
  disabled_torch_function = PyObject_GetAttrString(module, "_disabled_torch_function_impl");
  m.def("_overloaded_args", &overloaded_args);
  m.def("_is_torch_function_enabled", [] { return torch_function_state.enabled == Enabled::All; });
  m.def("_is_torch_function_all_disabled", [] { return torch_function_state.enabled == Enabled::None; });
  m.def("_is_torch_function_mode_enabled", &torch_function_mode_enabled);
  m.def("_push_on_torch_function_stack", &push_mode);
  m.def("_pop_torch_function_stack", &pop_mode);
  m.def("_len_torch_function_stack", &num_modes);
  m.def("_get_function_stack_at", [](size_t i) {
    TORCH_CHECK_INDEX(i < num_modes(), "mode stack: index ", i, " is out of range of ", num_modes(), " modes");
    return mode_stack->at(i);
  });
  m.def("_set_parameter_class", [](const py::type& cls) { THPParameterClass = py::object(cls).release().ptr(); });
  bind_disable_context<Enabled::Modes>(
      m, "DisableTorchFunctionSubclass",
      "Inside the block no __torch_function__ of a subclass is called, but modes are.");
  bind_disable_context<Enabled::All>(m, "_EnableTorchFunction", "Inside the block __torch_function__ is called again.");
  bind_disable_context<Enabled::None>(
      m, "DisableTorchFunction", "Inside the block no __torch_function__ is called, neither of classes nor of modes.");
}

} // namespace reftorch::torch
