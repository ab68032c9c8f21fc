// Mirrors: torch/csrc/PyInterpreter.cpp, torch/csrc/autograd/init.cpp (the functions on the stack of modes), torch/csrc/utils/python_arg_parser.cpp (dispatch_on_mode, dispatch_on_subclass)
//
// Left out: infrastructure modes, hermetic objects, hooks of a tensor class other than detach (sizes, strides, device).
#include <csrc/python_torch_dispatch.h>

#include <ATen/EmptyTensor.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/core/PythonFallbackKernel.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_conversions.h>
#include <csrc/python_dtype.h>
#include <csrc/python_generator.h>
#include <csrc/python_gil.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/pybind.h>

namespace py = pybind11;

namespace reftorch::torch {

using at::IValue;
using at::TypeKind;
using c10::impl::SafePyObject;
using c10::impl::TorchDispatchModeTLS;

static PyObject* torch_dispatch_name;     // "__torch_dispatch__", interned
static PyObject* disabled_torch_dispatch; // _C._disabled_torch_dispatch_impl
static PyObject* overload_resolver;       // a Python function: (qualified name, overload name) -> OpOverload
static PyObject*
    torch_dispatch_rules; // a dict: (OpOverload, class) -> the rule of torch.library.register_torch_dispatch

static const at::RegisterThreadLocal<&TorchDispatchModeTLS::get_state, &TorchDispatchModeTLS::set_state> register_modes(
    "TorchDispatchModeTLS.cpp: torch_dispatch_modes");

bool check_has_torch_dispatch(PyTypeObject* type) {
  PyObject* attribute = _PyType_Lookup(type, torch_dispatch_name); // borrowed
  return attribute != nullptr && attribute != disabled_torch_dispatch;
}

// ---- values

static PyObject* wrap_argument(const at::OperatorEntry& entry, const IValue& value, TypeKind type) {
  if (type == TypeKind::Layout && !value.isNone()) {
    return Py_NewRef(getTHPLayout());
  }
  const bool takes_numbers = entry.hasTag(at::Tag::numbers_as_tensors) || entry.hasTag(at::Tag::numbers_as_operands);
  if (takes_numbers && value.isTensor() && value.toTensor().unsafeGetTensorImpl()->is_wrapped_number_) {
    // The caller passed a number, so Python receives the number again. Another op would not accept a number from
    // Python, so Python receives the tensor that C++ made of the number.
    const c10::Scalar number = at::detail::number_in(value.toTensor());
    return wrap_ivalue(IValue(number), TypeKind::Scalar);
  }
  PyObject* object = wrap_ivalue(value, type);
  if (object == nullptr || !PyTuple_Check(object)) {
    return object;
  }
  PyObject* list = PySequence_List(object); // like PyTorch, pass a list and not a tuple
  Py_DECREF(object);
  return list;
}

static bool equal_to_default(const at::Argument& argument, const IValue& value) {
  const IValue& wanted = argument.default_value;
  if (!argument.has_default || value.tag() != wanted.tag()) {
    return false;
  }
  switch (value.tag()) {
    case IValue::Tag::None: return true;
    case IValue::Tag::Double: return value.toDouble() == wanted.toDouble();
    case IValue::Tag::Int:
    case IValue::Tag::Bool: return value.toInt() == wanted.toInt();
    case IValue::Tag::String: return value.toStringRef() == wanted.toStringRef();
    case IValue::Tag::IntList: return at::IntArrayRef(value.toIntList()) == at::IntArrayRef(wanted.toIntList());
    case IValue::Tag::DoubleList: return value.toDoubleList() == wanted.toDoubleList();
    case IValue::Tag::BoolList: return value.toBoolList() == wanted.toBoolList();
    case IValue::Tag::TensorList: return value.toTensorVector().empty() && wanted.toTensorVector().empty();
    default: return false;
  }
}

PyArgsKwargs parse_ivalues_to_py_args_kwargs(const at::OperatorHandle& op, const IValue* values) {
  const auto& arguments = op.schema().arguments;
  size_t num_positional = 0;
  while (num_positional < arguments.size() && !arguments[num_positional].kwarg_only) {
    num_positional++;
  }
  size_t num_passed = num_positional;
  while (num_passed > 0 && equal_to_default(arguments[num_passed - 1], values[num_passed - 1])) {
    num_passed--;
  }
  py::tuple args(num_passed);
  for (size_t i = 0; i < num_passed; i++) {
    args[i] = steal(wrap_argument(op.entry(), values[i], arguments[i].type));
  }
  py::dict kwargs;
  for (size_t i = num_positional; i < arguments.size(); i++) {
    if (!equal_to_default(arguments[i], values[i])) {
      kwargs[arguments[i].name.c_str()] = steal(wrap_argument(op.entry(), values[i], arguments[i].type));
    }
  }
  return {args.release().ptr(), kwargs.release().ptr()};
}

static bool fits(const at::Argument& ret, PyObject* obj) {
  switch (ret.type) {
    case TypeKind::Tensor: return THPVariable_Check(obj);
    case TypeKind::Scalar:
    case TypeKind::Float: return is_scalar(obj);
    case TypeKind::Int: return is_int(obj) || PyBool_Check(obj);
    case TypeKind::Bool: return PyBool_Check(obj);
    case TypeKind::String: return PyUnicode_Check(obj);
    case TypeKind::IntList: return is_sequence_of(obj, is_index);
    case TypeKind::FloatList: return is_sequence_of(obj, is_float);
    case TypeKind::BoolList: return is_sequence_of(obj, [](PyObject* item) { return PyBool_Check(item) != 0; });
    case TypeKind::ScalarList: return is_sequence_of(obj, is_python_number);
    case TypeKind::TensorList: return is_sequence_of(obj, [](PyObject* item) { return THPVariable_Check(item); });
    case TypeKind::OptionalTensorList:
      return is_sequence_of(obj, [](PyObject* item) { return item == Py_None || THPVariable_Check(item); });
    case TypeKind::ScalarType: return scalar_type_from_python(obj) != c10::ScalarType::Undefined;
    case TypeKind::Layout: return Py_TYPE(obj) == THPLayoutType;
    case TypeKind::Device: return THPDevice_Check(obj) || PyUnicode_Check(obj);
    case TypeKind::MemoryFormat: return Py_TYPE(obj) == THPMemoryFormatType;
    case TypeKind::Generator: return is_generator(obj);
  }
  return false;
}

static IValue to_ivalue(const at::Argument& ret, PyObject* obj) {
  if (obj == Py_None) { // an undefined tensor, or None as an optional result
    return IValue();
  }
  TORCH_CHECK(fits(ret, obj), "Unable to cast ", std::string(py::repr(obj)), " to ", ret.type_str());
  return unpack_argument(ret.type, ret.list_size, obj);
}

void push_py_out_to_stack(const at::OperatorHandle& op, at::Stack* stack, PyObject* out, const char* who) {
  const auto& returns = op.schema().returns;
  if (returns.empty()) {
    TORCH_CHECK(out == Py_None, "Expected ", who, " for ", op.schema().operator_name(),
                " to return None but it returned something else instead.");
  } else if (returns.size() == 1) {
    stack->emplace_back(to_ivalue(returns[0], out));
  } else {
    TORCH_CHECK(PyTuple_Check(out) || PyList_Check(out), "Expected ", who, " for ", op.schema().operator_name(),
                " to return a tuple but it returned something else instead.");
    TORCH_CHECK(PySequence_Fast_GET_SIZE(out) == static_cast<Py_ssize_t>(returns.size()), "Expected ", who, " for ",
                op.schema().operator_name(), " to return ", returns.size(), " values but it returned ",
                PySequence_Fast_GET_SIZE(out), " instead.");
    for (size_t i = 0; i < returns.size(); i++) {
      stack->emplace_back(to_ivalue(returns[i], PySequence_Fast_GET_ITEM(out, static_cast<Py_ssize_t>(i))));
    }
  }
}

PyObject* overload_object(const at::OperatorEntry& entry) {
  static auto* overloads = new std::vector<PyObject*>; // indexed by OperatorEntry::index; lives as long as the process
  if (overloads->size() <= entry.index) {
    overloads->resize(entry.index + 1, nullptr);
  }
  if ((*overloads)[entry.index] == nullptr) {
    TORCH_INTERNAL_ASSERT(overload_resolver != nullptr, "there is no torch.ops");
    const std::string name = entry.schema.qualified_name();
    PyObject* made = PyObject_CallFunction(overload_resolver, "ss", name.c_str(), entry.schema.overload_name.c_str());
    (*overloads)[entry.index] = steal(made).release().ptr();
  }
  return (*overloads)[entry.index];
}

// ---- calling __torch_dispatch__

static void append_dispatching(OverloadedArgs& overloaded, const at::Tensor& tensor) {
  PyObject* obj = tensor.defined() ? tensor.unsafeGetTensorImpl()->pyobj() : nullptr;
  if (obj == nullptr || !tensor.key_set().has(c10::DispatchKey::Python)) {
    return;
  }
  append_overloaded_arg(overloaded, obj);
}

static OverloadedArgs overloaded_arguments(const at::OperatorHandle& op, const IValue* values) {
  OverloadedArgs overloaded;
  for (uint8_t i : op.entry().tensor_args) {
    if (values[i].isTensor()) {
      append_dispatching(overloaded, values[i].toTensor());
    } else if (values[i].isTensorList()) {
      for (const at::Tensor& t : values[i].toTensorVector()) {
        append_dispatching(overloaded, t);
      }
    }
  }
  return overloaded;
}

// Takes the innermost mode off the stack while the mode handles a call.
class StashTorchDispatchModeGuard final {
 public:
  StashTorchDispatchModeGuard() : mode_(TorchDispatchModeTLS::pop_stack()) {}
  ~StashTorchDispatchModeGuard() {
    TorchDispatchModeTLS::push_onto_stack(std::move(mode_));
  }
  StashTorchDispatchModeGuard(const StashTorchDispatchModeGuard&) = delete;
  StashTorchDispatchModeGuard& operator=(const StashTorchDispatchModeGuard&) = delete;

  PyObject* mode() const {
    return mode_->ptr();
  }

 private:
  std::shared_ptr<SafePyObject> mode_;
};

// Returns the rule that torch.library.register_torch_dispatch has set for the op and a class; a borrowed reference,
// null if there is none.
static PyObject* find_rule(PyObject* func, PyTypeObject* type) {
  if (PyDict_GET_SIZE(torch_dispatch_rules) == 0) {
    return nullptr;
  }
  const py::object key = steal(PyTuple_Pack(2, func, reinterpret_cast<PyObject*>(type)));
  return PyDict_GetItemWithError(torch_dispatch_rules, key.ptr());
}

struct Question {
  PyObject* func;
  py::tuple types;
  py::object args, kwargs;
};

// Calls the rule for the class, or the __torch_dispatch__ of `whom`. `self` is the first argument of a rule: the mode,
// or the tensor's class.
static py::object ask(PyObject* whom, PyObject* self, const Question& question) {
  PyObject* type = PyType_Check(self) ? self : reinterpret_cast<PyObject*>(Py_TYPE(self));
  if (PyObject* rule = find_rule(question.func, reinterpret_cast<PyTypeObject*>(type))) {
    return steal(PyObject_CallFunctionObjArgs(rule, self, question.func, question.types.ptr(), question.args.ptr(),
                                              question.kwargs.ptr(), nullptr));
  }
  const py::object torch_dispatch = steal(PyObject_GetAttr(whom, torch_dispatch_name));
  return steal(PyObject_CallFunctionObjArgs(torch_dispatch.ptr(), question.func, question.types.ptr(),
                                            question.args.ptr(), question.kwargs.ptr(), nullptr));
}

static py::object ask_all(const Question& question, const OverloadedArgs& overloaded) {
  std::string asked;
  if (TorchDispatchModeTLS::stack_len() > 0) {
    const StashTorchDispatchModeGuard guard;
    check_mode_is_no_class(guard.mode(), torch_dispatch_name);
    py::object answer = ask(guard.mode(), guard.mode(), question);
    if (answer.ptr() != Py_NotImplemented) {
      return answer;
    }
    asked = "  - mode object " + std::string(py::repr(guard.mode())) + "\n";
  }
  for (PyObject* obj : overloaded) {
    py::object answer = ask(obj, reinterpret_cast<PyObject*>(Py_TYPE(obj)), question);
    if (answer.ptr() != Py_NotImplemented) {
      return answer;
    }
    asked += "  - tensor subclass " + std::string(py::repr(py::type::handle_of(obj))) + "\n";
  }
  TORCH_CHECK_TYPE(false, "Multiple dispatch failed for 'torch._ops.", std::string(py::str(question.func)),
                   "'; all __torch_dispatch__ handlers returned NotImplemented:\n\n", asked);
}

static py::tuple types_of(const OverloadedArgs& objects) {
  py::tuple types(objects.size());
  for (size_t i = 0; i < objects.size(); i++) {
    types[i] = py::type::handle_of(objects[i]);
  }
  return types;
}

static void dispatch_in_python(const at::OperatorHandle& op, at::Stack* stack) {
  const GilAcquire gil;
  const size_t count = op.schema().arguments.size();
  // The pointers are borrowed from objects that the arguments below keep alive.
  const OverloadedArgs overloaded = overloaded_arguments(op, at::last(*stack, count));
  const PyArgsKwargs values = parse_ivalues_to_py_args_kwargs(op, at::last(*stack, count));
  const Question question{overload_object(op.entry()), types_of(overloaded),
                          py::reinterpret_steal<py::object>(values.args),
                          py::reinterpret_steal<py::object>(values.kwargs)};
  at::drop(*stack, count);
  const py::object answer = ask_all(question, overloaded);
  push_py_out_to_stack(op, stack, answer.ptr(), "__torch_dispatch__");
}

static c10::intrusive_ptr<c10::TensorImpl> detach_in_python(c10::TensorImpl* self) {
  const GilAcquire gil;
  const c10::impl::ExcludeDispatchKeyGuard guard(at::after_Python_keyset);
  const at::Tensor tensor(c10::intrusive_ptr<c10::TensorImpl>::unsafe_reclaim_from_nonowning(self));
  static const at::OperatorHandle op = at::Dispatcher::singleton().findSchemaOrThrow("aten::detach");
  OverloadedArgs overloaded;
  append_dispatching(overloaded, tensor);
  const py::object obj = steal(THPVariable_Wrap(tensor));
  const Question question{overload_object(op.entry()), py::make_tuple(py::type::handle_of(obj)), py::make_tuple(obj),
                          py::dict()};
  const py::object answer = ask_all(question, overloaded);
  TORCH_CHECK(THPVariable_Check(answer.ptr()), "detach returned invalid type ", Py_TYPE(answer.ptr())->tp_name,
              ", expected Tensor");
  return c10::intrusive_ptr<c10::TensorImpl>::unsafe_reclaim_from_nonowning(
      THPVariable_Unpack(answer.ptr()).unsafeGetTensorImpl());
}

// ---- functions that Python calls

// Calls func(*args, **kwargs) below the Python key. A class assigns this function to __torch_dispatch__ in order to
// have no override.
static PyObject* disabled_torch_dispatch_impl(PyObject*, PyObject* all) {
  const c10::impl::ExcludeDispatchKeyGuard guard(at::after_Python_keyset | c10::DispatchKey::Python);
  return call_disabled_override(all, "OO|OO:__torch_dispatch__");
}

static PyMethodDef torch_dispatch_functions[] = {
    {"_disabled_torch_dispatch_impl", disabled_torch_dispatch_impl, METH_VARARGS, nullptr}, {}};

void initTorchDispatch(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  torch_dispatch_name = PyUnicode_InternFromString("__torch_dispatch__");
  if (PyModule_AddFunctions(module, torch_dispatch_functions) < 0) {
    throw_python_error();
  }
  disabled_torch_dispatch = steal(PyObject_GetAttrString(module, "_disabled_torch_dispatch_impl")).release().ptr();
  torch_dispatch_rules = steal(PyDict_New()).release().ptr();
  m.attr("_torch_dispatch_rules") = py::reinterpret_borrow<py::object>(torch_dispatch_rules);
  at::python_dispatch_hook = &dispatch_in_python;
  c10::python_detach_hook = &detach_in_python;
  c10::impl::pyobj_decref_hook = &decref_anywhere;
  m.def("_set_overload_resolver",
        [](const py::object& resolver) { overload_resolver = py::object(resolver).release().ptr(); });
  m.def("_push_on_torch_dispatch_stack", [](const py::object& mode) {
    TorchDispatchModeTLS::push_onto_stack(std::make_shared<SafePyObject>(py::object(mode).release().ptr()));
  });
  m.def(
      "_pop_torch_dispatch_stack",
      [](const py::object&) { return py::reinterpret_borrow<py::object>(TorchDispatchModeTLS::pop_stack()->ptr()); },
      py::arg("mode_key") = py::none());
  m.def("_len_torch_dispatch_stack", &TorchDispatchModeTLS::stack_len);
  m.def("_get_dispatch_stack_at", [](size_t index) {
    TORCH_CHECK(index < TorchDispatchModeTLS::stack_len(), "Tried to get stack at idx that's too big");
    return py::reinterpret_borrow<py::object>(TorchDispatchModeTLS::get_state()[index]->ptr());
  });
}

} // namespace reftorch::torch
