// Mirrors: tools/autograd/templates/python_variable_methods.cpp, python_torch_functions.cpp (which PyTorch generates per op)
//
// Binds every op to Python. One type of object serves all ops and reads schemas at run time. Left out: generated code.
//
// Note [Op call]
// `x.add(y)` is one vectorcall. The packet tries its signatures in order. The first signature that fits fills a stack
// of IValues, the Dispatcher is called boxed, and the result is wrapped. A small op allocates nothing but its result.
#include <csrc/python_dispatch.h>

#include <csrc/autograd/python_variable.h>
#include <csrc/python_deprecated_overloads.h>
#include <csrc/python_gil.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/python_arg_parser.h>
#include <csrc/utils/python_library.h>
#include <csrc/utils/python_other_library.h>

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <unordered_map>

namespace reftorch::torch {

// The named tuple types of a signature's results, without and with out=; null if the results have no names.
struct ReturnTypes {
  PyTypeObject* functional;
  PyTypeObject* out;
};

struct OpOverloadPacket {
  PyObject_HEAD vectorcallfunc vectorcall;
  std::vector<PythonSignature>* signatures;
  std::vector<ReturnTypes>* return_types; // one for each signature
  PyObject* name;
  PyObject* dict;
  bool is_method;
  bool gives_lists; // whether a Tensor[] is returned as a list, as by the ops of torch.ops, and not as a tuple
};

static PyTypeObject* op_function_type;
static PyTypeObject* op_method_type;
static std::unordered_map<std::string, PyObject*> methods;

PyObject* find_method(const char* name) {
  auto it = methods.find(name);
  return it == methods.end() ? nullptr : it->second;
}

static int64_t largest_numel(const at::Stack& stack) {
  int64_t numel = 0;
  for (const at::IValue& value : stack) {
    if (value.isTensor()) {
      numel = std::max(numel, value.toTensor().numel());
    } else if (value.isTensorList()) {
      for (const at::Tensor& t : value.toTensorVector()) {
        numel = std::max(numel, t.defined() ? t.numel() : 0);
      }
    }
  }
  return numel;
}

// Calls the op. If `keys` is not null, calls the kernel of the highest of these keys instead. While the GIL is
// released, the tensors of the call are counted: see Note [GIL and kernels] and Note [Borrowed arguments].
static void call_dispatcher(at::OperatorEntry* entry, const PythonArgs& call, at::Stack& stack,
                            const at::DispatchKeySet* keys) {
  std::vector<at::Tensor> counted;
  const GilReleaseWhenLong gil(largest_numel(stack), [&] { counted = call.tensors(); });
  if (__builtin_expect(keys != nullptr, 0)) {
    at::OperatorHandle(entry).redispatchBoxed(*keys, &stack);
    return;
  }
  at::OperatorHandle(entry).callBoxed(&stack);
}

static PyObject* wrap_results(const OpOverloadPacket* packet, size_t which, const at::OperatorEntry* entry,
                              const PythonArgs& call, at::Stack& stack) {
  const auto& returns = entry->schema.returns;
  if (stack.size() == 1) {
    PyObject* result = wrap_ivalue(std::move(stack[0]), returns[0].type);
    if (__builtin_expect(packet->gives_lists, 0) && result != nullptr && PyTuple_CheckExact(result)) {
      PyObject* list = PySequence_List(result);
      Py_DECREF(result);
      return list;
    }
    return result;
  }
  if (stack.empty()) { // an op that changes a list of tensors in place returns the caller's list
    const bool changes_list = entry->schema.is_inplace() && entry->schema.arguments[0].type == at::TypeKind::TensorList;
    return Py_NewRef(changes_list && call.nargs > 0 ? call.args[0] : Py_None);
  }
  const ReturnTypes& types = (*packet->return_types)[which];
  PyTypeObject* named = entry == (*packet->signatures)[which].entry() ? types.functional : types.out;
  PyObject* result =
      named != nullptr ? PyStructSequence_New(named) : PyTuple_New(static_cast<Py_ssize_t>(stack.size()));
  for (size_t i = 0; result != nullptr && i < stack.size(); i++) {
    PyObject* item = wrap_ivalue(std::move(stack[i]), returns[i].type);
    if (item == nullptr) {
      Py_DECREF(result);
      return nullptr;
    }
    if (named != nullptr) {
      PyStructSequence_SetItem(result, static_cast<Py_ssize_t>(i), item);
    } else {
      PyTuple_SET_ITEM(result, i, item);
    }
  }
  return result;
}

[[noreturn]] static void raise_no_match(const OpOverloadPacket* packet, const PythonArgs& call) {
  const auto& signatures = *packet->signatures;
  const std::string name = PyUnicode_AsUTF8(packet->name);
  if (packet->is_method) {
    TORCH_CHECK_TYPE(call.nargs > 0 && THPVariable_Check(call.args[0]), "descriptor '", name,
                     "' for 'torch._C.TensorBase' objects ",
                     call.nargs == 0 ? std::string("needs an argument")
                                     : c10::str("doesn't apply to a '", Py_TYPE(call.args[0])->tp_name, "' object"));
  }
  std::vector<const PythonSignature*> plausible;
  for (const PythonSignature& signature : signatures) {
    if (signatures.size() == 1 || signature.takes_as_many(call)) {
      plausible.push_back(&signature);
    }
  }
  if (plausible.size() == 1) {
    plausible[0]->raise_mismatch(call);
  }
  std::string expected;
  for (const PythonSignature& signature : signatures) {
    expected += "\n * " + signature.str();
  }
  TORCH_CHECK_TYPE(false, name, "() received an invalid combination of arguments - got ",
                   describe_arguments(call, packet->is_method ? 1 : 0), ", but expected one of:", expected, "\n");
}

static PyObject* call_packet(const OpOverloadPacket* packet, const PythonArgs& call,
                             const at::DispatchKeySet* keys = nullptr) {
  const auto& signatures = *packet->signatures;
  for (size_t i = 0; i < signatures.size(); i++) {
    at::Stack stack;
    if (!signatures[i].parse(call, stack)) {
      continue;
    }
    at::OperatorEntry* entry = signatures[i].target(call);
    call_dispatcher(entry, call, stack, keys);
    PyObject* result = wrap_results(packet, i, entry, call, stack);
    if (result != nullptr && signatures[i].requires_grad(call) &&
        PyObject_SetAttrString(result, "requires_grad", Py_True) < 0) {
      Py_DECREF(result);
      return nullptr;
    }
    return result;
  }
  const ModernCall modern(PyUnicode_AsUTF8(packet->name), call);
  if (modern.applies()) {
    modern.warn(signatures);
    return call_packet(packet, modern.args(), keys);
  }
  raise_no_match(packet, call);
}

// Handles a call that an argument or a mode overrides, by calling __torch_function__. See Note [torch_function].
static PyObject* call_overridden(const OpOverloadPacket* packet, PythonArgs call) {
  call.overridden = true;
  at::Stack unused;
  const auto& signatures = *packet->signatures;
  if (std::none_of(signatures.begin(), signatures.end(),
                   [&](const PythonSignature& signature) { return signature.parse(call, unused); })) {
    raise_no_match(packet, call);
  }
  const std::string name = std::string(packet->is_method ? "torch.Tensor." : "torch.") + PyUnicode_AsUTF8(packet->name);
  return handle_torch_function_of_call(reinterpret_cast<PyObject*>(const_cast<OpOverloadPacket*>(packet)), call,
                                       name.c_str());
}

static PyObject* op_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  const auto* packet = reinterpret_cast<OpOverloadPacket*>(self);
  const PythonArgs call{args, PyVectorcall_NARGS(nargsf), kwnames};
  bool overridden = torch_function_mode_enabled();
  for (Py_ssize_t i = 0; i < call.nargs + call.nkwargs(); i++) {
    overridden = overridden || argument_has_torch_function(args[i]);
  }
  return overridden ? call_overridden(packet, call) : call_packet(packet, call);
  END_HANDLE_TH_ERRORS
}

PyObject* call_operator(PyObject* packet, const OperatorNames& names, PyObject* const* args, Py_ssize_t nargs) {
  HANDLE_TH_ERRORS
  bool overridden = torch_function_mode_enabled();
  for (Py_ssize_t i = 0; i < nargs; i++) {
    if (check_has_torch_function(args[i])) {
      overridden = true;
    } else if (!THPVariable_Check(args[i]) && !is_python_number(args[i])) {
      check_not_of_other_library(args[i]);
      Py_RETURN_NOTIMPLEMENTED;
    }
  }
  return overridden ? handle_torch_function_of_operator(names, args, nargs)
                    : call_packet(reinterpret_cast<OpOverloadPacket*>(packet), PythonArgs{args, nargs, nullptr});
  END_HANDLE_TH_ERRORS
}

// ---- the Python type

static PyObject* op_repr(PyObject* self) {
  auto* packet = reinterpret_cast<OpOverloadPacket*>(self);
  return packet->is_method ? PyUnicode_FromFormat("<method '%U' of 'torch._C.TensorBase' objects>", packet->name)
                           : PyUnicode_FromFormat("<built-in method %U of type object>", packet->name);
}

static PyObject* op_get_name(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<OpOverloadPacket*>(self)->name);
}

// Calls a function of reftorch/_torch_docs. Docstrings are written in Python and read only when somebody asks for one,
// so that the import does not pay for them.
static PyObject* ask_docs(PyObject* self, const char* question) {
  PyObject* docs = PyImport_ImportModule("reftorch._torch_docs._describe");
  PyObject* answer = docs != nullptr ? PyObject_CallMethod(docs, question, "O", self) : nullptr;
  Py_XDECREF(docs);
  return answer;
}

static PyObject* op_get_doc(PyObject* self, void*) {
  auto* packet = reinterpret_cast<OpOverloadPacket*>(self);
  PyObject* doc = packet->dict != nullptr ? PyDict_GetItemString(packet->dict, "__doc__") : nullptr;
  return doc != nullptr ? Py_NewRef(doc) : ask_docs(self, "describe");
}

static PyObject* op_get_signature(PyObject* self, void*) {
  return ask_docs(self, "signature");
}

static int op_set_doc(PyObject* self, PyObject* doc, void*) {
  auto* packet = reinterpret_cast<OpOverloadPacket*>(self);
  if (packet->dict == nullptr) {
    packet->dict = PyDict_New();
  }
  return PyDict_SetItemString(packet->dict, "__doc__", doc != nullptr ? doc : Py_None);
}

static PyObject* op_get_module(PyObject*, void*) {
  return PyUnicode_FromString(library_name().c_str());
}

// Returns the operator names, in the order in which the packet tries them.
static PyObject* op_overloads(PyObject* self, PyObject*) {
  const auto& signatures = *reinterpret_cast<OpOverloadPacket*>(self)->signatures;
  PyObject* list = PyList_New(0);
  for (const PythonSignature& signature : signatures) {
    PyObject* name = PyUnicode_FromString(signature.entry()->schema.operator_name().c_str());
    PyList_Append(list, name);
    Py_DECREF(name);
  }
  return list;
}

static PyObject* op_signatures(PyObject* self, PyObject*) {
  HANDLE_TH_ERRORS
  PyObject* list = PyList_New(0);
  for (const PythonSignature& signature : *reinterpret_cast<OpOverloadPacket*>(self)->signatures) {
    PyObject* description = signature.describe();
    if (description == nullptr || PyList_Append(list, description) < 0) {
      throw_python_error();
    }
    Py_DECREF(description);
  }
  return list;
  END_HANDLE_TH_ERRORS
}

// redispatch(keyset, *args, **kwargs): calls the kernel of the highest key of `keyset`.
static PyObject* op_redispatch(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(nargs > 0, "redispatch() missing 1 required positional argument: 'keyset'");
  const at::DispatchKeySet keys = unpack_dispatch_key_set(args[0]);
  return call_packet(reinterpret_cast<OpOverloadPacket*>(self), PythonArgs{args + 1, nargs - 1, kwnames}, &keys);
  END_HANDLE_TH_ERRORS
}

static PyObject* op_reduce(PyObject* self, PyObject*) {
  return Py_NewRef(reinterpret_cast<OpOverloadPacket*>(self)->name);
}

// A function does not bind to an object, like Python's built-in functions. Because the type has this slot, inspect and
// help() regard an op as a routine.
static PyObject* op_descr_get(PyObject* self, PyObject* obj, PyObject*) {
  if (!reinterpret_cast<OpOverloadPacket*>(self)->is_method || obj == nullptr || obj == Py_None) {
    return Py_NewRef(self);
  }
  return PyMethod_New(self, obj);
}

static PyGetSetDef op_properties[] = {{"__name__", op_get_name, nullptr, nullptr, nullptr},
                                      {"__qualname__", op_get_name, nullptr, nullptr, nullptr},
                                      {"__doc__", op_get_doc, op_set_doc, nullptr, nullptr},
                                      {"__signature__", op_get_signature, nullptr, nullptr, nullptr},
                                      {"__module__", op_get_module, nullptr, nullptr, nullptr},
                                      {}};
static PyMethodDef op_methods[] = {
    {"overloads", op_overloads, METH_NOARGS,
     "Return the names of the overloads, in the order in which they are tried."},
    {"signatures", op_signatures, METH_NOARGS, "Return what the argument parser knows about each overload, as dicts."},
    {"redispatch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(op_redispatch)),
     METH_FASTCALL | METH_KEYWORDS, "Call the kernel of the highest key of a DispatchKeySet."},
    {"__reduce__", op_reduce, METH_NOARGS, nullptr},
    {}};
static PyMemberDef op_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpOverloadPacket, vectorcall), READONLY, nullptr}, {}};

static PyTypeObject* make_op_type(const char* name, bool is_method) {
  std::vector<PyType_Slot> slots = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                    {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
                                    {Py_tp_getset, op_properties},
                                    {Py_tp_methods, op_methods},
                                    {Py_tp_members, op_members},
                                    {Py_tp_descr_get, reinterpret_cast<void*>(op_descr_get)},
                                    {0, nullptr}};
  const unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL |
                         (is_method ? Py_TPFLAGS_METHOD_DESCRIPTOR : 0);
  PyType_Spec spec = {name, sizeof(OpOverloadPacket), 0, flags, slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) {
    throw_python_error();
  }
  return reinterpret_cast<PyTypeObject*>(type);
}

// Returns, for example,
//     torch.return_types.max(
//     values=tensor(...),
//     indices=tensor(...))
static PyObject* return_type_repr(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::string text = std::string(type->tp_name) + "(";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) {
    PyObject* item = PyObject_Repr(PyTuple_GET_ITEM(self, i));
    if (item == nullptr) {
      return nullptr;
    }
    const char* utf8 = PyUnicode_AsUTF8(item);
    text += std::string(i == 0 ? "\n" : ",\n") + type->tp_members[i].name + "=" + (utf8 != nullptr ? utf8 : "");
    Py_DECREF(item);
  }
  return PyErr_Occurred() ? nullptr : PyUnicode_FromString((text + ")").c_str());
}

static PyObject* return_types_module;

// Returns the type of this name in torch.return_types, and makes it on the first call. The function, the method and the
// overloads of an op share one type, so that `isinstance(x.max(0), torch.return_types.max)` holds for all of them.
static PyTypeObject* find_return_type(const std::string& op, const std::vector<at::Argument>& returns) {
  static std::unordered_map<std::string, PyTypeObject*> types;
  PyTypeObject*& type = types[op];
  if (type != nullptr) {
    return type;
  }
  // PyStructSequence keeps the pointers, so these objects live as long as the process.
  auto* fields = new std::vector<PyStructSequence_Field>;
  for (const at::Argument& ret : returns) {
    fields->push_back({(new std::string(ret.name))->c_str(), nullptr});
  }
  fields->push_back({nullptr, nullptr});
  auto* name = new std::string("torch.return_types." + op);
  PyStructSequence_Desc desc = {name->c_str(), nullptr, fields->data(), static_cast<int>(returns.size())};
  type = PyStructSequence_NewType(&desc);
  if (type == nullptr) {
    throw_python_error();
  }
  type->tp_repr = return_type_repr;
  // The module in which pickle looks for the type. The name that is printed is PyTorch's, but the module is ours.
  PyObject* module = PyUnicode_FromString("reftorch.return_types");
  if (module == nullptr || PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), "__module__", module) < 0 ||
      PyObject_SetAttrString(return_types_module, op.c_str(), reinterpret_cast<PyObject*>(type)) < 0) {
    throw_python_error();
  }
  Py_DECREF(module);
  return type;
}

// Returns torch.return_types.max for `max.dim(...) -> (Tensor values, Tensor indices)`, and max_out for the variant
// with out=.
static ReturnTypes make_return_types(const at::OperatorEntry& entry) {
  const at::FunctionSchema& schema = entry.schema;
  if (schema.returns.size() < 2 || schema.returns[0].name.empty()) {
    return {nullptr, nullptr};
  }
  return {find_return_type(schema.name, schema.returns),
          entry.out != nullptr ? find_return_type(schema.name + "_out", schema.returns) : nullptr};
}

// `variant` says where Python finds the op. NONE is torch.ops, where the op follows its schema. Several results are a
// plain tuple there and in `_C._nn`, and a named one elsewhere.
static PyObject* make_packet(const std::string& name, const std::vector<at::OperatorEntry*>& entries, int variant) {
  const bool is_method = variant == at::variants::METHOD, of_torch_ops = variant == at::variants::NONE;
  const bool named_results = !of_torch_ops && variant != at::variants::NN;
  PyTypeObject* type = is_method ? op_method_type : op_function_type;
  auto* packet = reinterpret_cast<OpOverloadPacket*>(type->tp_alloc(type, 0));
  packet->vectorcall = op_vectorcall;
  packet->is_method = is_method;
  packet->gives_lists = of_torch_ops;
  packet->name = PyUnicode_InternFromString(name.c_str());
  packet->signatures = new std::vector<PythonSignature>;
  packet->return_types = new std::vector<ReturnTypes>;
  for (at::OperatorEntry* entry : entries) {
    packet->signatures->emplace_back(entry, is_method, of_torch_ops);
  }
  std::stable_sort(packet->signatures->begin(), packet->signatures->end(),
                   [](const PythonSignature& a, const PythonSignature& b) { return a.precedes(b); });
  for (const PythonSignature& signature : *packet->signatures) {
    packet->return_types->push_back(named_results ? make_return_types(*signature.entry()) : ReturnTypes{});
  }
  return reinterpret_cast<PyObject*>(packet);
}

static PyObject* make_namespace(PyObject* module, const char* name) {
  const std::string full = std::string("reftorch._C.") + name;
  PyObject* space = PyModule_New(full.c_str());
  if (space == nullptr || PyModule_AddObject(module, name, space) < 0) {
    throw_python_error();
  }
  return space;
}

// Returns whether the entry is the out= variant of another op, which Python calls through the keyword out=.
static bool is_out_of_another(const at::OperatorEntry* entry) {
  return entry->functional != nullptr && entry->functional->out == entry;
}

// Returns one overload of "aten::add" as a function, or all its overloads if `overload` is None. Returns None if no
// such op is registered.
static PyObject* get_operation(PyObject*, PyObject* args) {
  HANDLE_TH_ERRORS
  const char *name = nullptr, *overload = nullptr;
  if (PyArg_ParseTuple(args, "sz", &name, &overload) == 0) {
    return nullptr;
  }
  std::vector<at::OperatorEntry*> chosen;
  for (const auto& entry : at::Dispatcher::singleton().entries()) {
    const at::FunctionSchema& schema = entry->schema;
    if (entry->defined && schema.qualified_name() == name &&
        (overload != nullptr ? schema.overload_name == overload : !is_out_of_another(entry.get()))) {
      chosen.push_back(entry.get());
    }
  }
  if (chosen.empty()) {
    Py_RETURN_NONE;
  }
  return make_packet(chosen[0]->schema.name, chosen, at::variants::NONE);
  END_HANDLE_TH_ERRORS
}

static PyMethodDef dispatch_functions[] = {
    {"_get_operation", get_operation, METH_VARARGS, "Return an op by its name and overload, for torch.ops."}, {}};

void initOps(PyObject* module, PyObject* tensor_base) {
  if (PyModule_AddFunctions(module, dispatch_functions) < 0) {
    throw_python_error();
  }
  op_function_type = make_op_type("reftorch._C.OpFunction", false);
  op_method_type = make_op_type("reftorch._C.OpMethod", true);
  const std::pair<int, PyObject*> places[] = {{at::variants::FUNCTION, make_namespace(module, "_VariableFunctions")},
                                              {at::variants::METHOD, tensor_base},
                                              {at::variants::NN, make_namespace(module, "_nn")},
                                              {at::variants::LINALG, make_namespace(module, "_linalg")},
                                              {at::variants::SPECIAL, make_namespace(module, "_special")}};
  return_types_module = make_namespace(module, "_return_types");

  std::map<std::string, std::vector<at::OperatorEntry*>> by_name;
  for (const auto& entry : at::Dispatcher::singleton().entries()) {
    if (!is_out_of_another(entry.get())) {
      by_name[entry->schema.name].push_back(entry.get());
    }
  }
  for (const auto& [name, entries] : by_name) {
    for (const auto& [variant, place] : places) {
      std::vector<at::OperatorEntry*> chosen;
      std::copy_if(entries.begin(), entries.end(), std::back_inserter(chosen),
                   [wanted = variant](at::OperatorEntry* entry) { return (entry->variants & wanted) != 0; });
      if (chosen.empty()) {
        continue;
      }
      PyObject* packet = make_packet(name, chosen, variant);
      if (variant == at::variants::METHOD) {
        methods[name] = packet;
      }
      if (PyObject_SetAttrString(place, name.c_str(), packet) < 0) {
        throw_python_error();
      }
    }
  }
}

} // namespace reftorch::torch
