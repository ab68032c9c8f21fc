// Mirrors: torch/csrc/utils/python_dispatch.cpp (the part on libraries), torch/csrc/autograd/init.cpp (the guards)
//
// Left out: alias analysis, autocast, kernels compiled ahead of time, SafeKernelFunction.
//
// Note [Python kernels]
// A row of an op's table may be a Python function. `Library.impl` wraps the function in a PythonKernel, an
// OperatorKernel that owns the function. A call that reaches the row takes the GIL, converts the arguments into Python
// objects, calls the function and puts the result on the stack. The kernel is registered like any other kernel, so the
// keys above the row do their work: Autograd records a call of a Python kernel in the CPU row, and vmap batches it. The
// library stores how to undo its registrations, and `Library._destroy` undoes them.
#include <csrc/utils/python_library.h>

#include <ATen/core/PythonFallbackKernel.h>
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_conversions.h>
#include <csrc/python_dtype.h>
#include <csrc/python_gil.h>
#include <csrc/python_torch_dispatch.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/pybind.h>
#include <csrc/utils/python_context_manager.h>
#include <csrc/utils/python_dispatch.h>
#include <csrc/utils/python_recursion.h>

#include <functional>
#include <map>

namespace py = pybind11;

namespace reftorch::torch {

using at::Dispatcher;
using at::OperatorEntry;
using at::OperatorHandle;
using c10::DispatchKey;
using c10::DispatchKeySet;

namespace {

// See Note [Python kernels].
class PythonKernel final : public at::OperatorKernel {
 public:
  // `with_keyset` and `with_op` say whether the function gets the key set and the op before the op's arguments.
  PythonKernel(const py::object& function, bool with_keyset, bool with_op)
      : function_(py::object(function).release().ptr()), with_keyset_(with_keyset), with_op_(with_op) {}
  ~PythonKernel() override {
    decref_anywhere(function_);
  }

  void operator()(const OperatorHandle& op, DispatchKeySet keys, at::Stack* stack) override {
    const GilAcquire gil;
    const size_t count = op.schema().arguments.size();
    const PyArgsKwargs values = parse_ivalues_to_py_args_kwargs(op, at::last(*stack, count));
    py::object args = py::reinterpret_steal<py::object>(values.args);
    const py::object kwargs = py::reinterpret_steal<py::object>(values.kwargs);
    if (with_op_) {
      args = steal(PySequence_Concat(py::make_tuple(py::handle(overload_object(op.entry()))).ptr(), args.ptr()));
    }
    if (with_keyset_) {
      args = steal(PySequence_Concat(py::make_tuple(keys).ptr(), args.ptr()));
    }
    at::drop(*stack, count);
    const py::object result = steal(PyObject_Call(function_, args.ptr(), kwargs.ptr()));
    push_py_out_to_stack(op, stack, result.ptr(), "PythonKernelHolder");
  }

 private:
  PyObject* function_;
  bool with_keyset_, with_op_;
};

at::KernelFunction make_function(const py::object& function, bool with_keyset, bool with_op) {
  if (function.is(py::module_::import("reftorch._library.registration").attr("fallthrough_kernel"))) {
    return at::KernelFunction::makeFallthrough();
  }
  return at::KernelFunction::makeFromFunctor(std::make_shared<PythonKernel>(function, with_keyset, with_op));
}

// The file and line of the function are stored with the kernel, for those who read an op's table.
at::AnnotatedKernel make_kernel(const py::object& function, bool with_keyset, bool with_op = false) {
  at::AnnotatedKernel kernel;
  kernel.kernel = make_function(function, with_keyset, with_op);
  kernel.function = std::string(py::str(py::getattr(function, "__qualname__", py::repr(function))));
  const py::object code = py::getattr(function, "__code__", py::none());
  kernel.file = code.is_none() ? "Python" : std::string(py::str(code.attr("co_filename")));
  kernel.line = code.is_none() ? 0 : py::cast<int>(code.attr("co_firstlineno"));
  return kernel;
}

// For each namespace, the place of its one library of kind DEF.
std::map<std::string, std::string>& defined_libraries() {
  static auto* libraries = new std::map<std::string, std::string>;
  return *libraries;
}

// The C++ half of a torch.library.Library: see Note [Python kernels].
class PythonLibrary final {
 public:
  PythonLibrary(std::string kind, std::string ns, const std::string& dispatch_key, std::string file, int line)
      : kind_(std::move(kind)), ns_(std::move(ns)), file_(std::move(file)), line_(line) {
    TORCH_CHECK(dispatch_key.empty() || kind_ == "IMPL", "A library of kind ", kind_,
                " takes no dispatch key, but got ", dispatch_key);
    if (kind_ == "DEF") {
      const auto [twin, fresh] = defined_libraries().emplace(ns_, c10::str(file_, ":", line_));
      TORCH_CHECK(
          fresh, "Only a single TORCH_LIBRARY can be used to register the namespace ", ns_,
          "; please put all of your definitions in a single TORCH_LIBRARY block.  If you were trying to specify "
          "implementations, consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended "
          "to define operators for a single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT "
          "to explicitly indicate this.  Previous registration of TORCH_LIBRARY was registered at ",
          twin->second, "; latest registration was registered at ", file_, ":", line_);
      take_back_.emplace_back([ns = ns_] { defined_libraries().erase(ns); });
    }
  }

  // Defines an op and returns its name.
  std::string define(const std::string& text) {
    TORCH_CHECK(kind_ != "IMPL", "def(\"", text,
                "\"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  All def()s should "
                "be placed in the (unique) TORCH_LIBRARY block for their namespace.  (Error occurred at ",
                file_, ":", line_, ")");
    at::FunctionSchema schema = at::FunctionSchema::parse(text);
    const size_t colons = text.find("::");
    if (colons == std::string::npos || colons > text.find('(')) {
      schema.ns = ns_;
    }
    TORCH_CHECK(schema.ns == ns_, "Explicitly provided namespace (", schema.ns,
                ") in schema string does not match namespace of enclosing TORCH_LIBRARY block (", ns_, ").");
    const std::string name = schema.name;
    OperatorEntry* entry =
        Dispatcher::singleton().registerDef(std::move(schema), /*variants=*/0, at::TagSet(), file_, line_);
    take_back_.emplace_back([entry] { Dispatcher::singleton().deregisterDef(entry); });
    return name;
  }

  void impl(const std::string& name, const std::string& dispatch_key, const py::object& function, bool with_keyset) {
    const std::string full = name.find("::") == std::string::npos ? ns_ + "::" + name : name;
    OperatorEntry* entry = &Dispatcher::singleton().findSchemaOrThrow(full).entry();
    const DispatchKey key =
        dispatch_key.empty() ? DispatchKey::CompositeImplicitAutograd : parseDispatchKey(dispatch_key);
    const auto handle = Dispatcher::singleton().registerImpl(entry, key, make_kernel(function, with_keyset));
    take_back_.emplace_back([entry, key, handle] { Dispatcher::singleton().deregisterImpl(entry, key, handle); });
  }

  void fallback(const std::string& dispatch_key, const py::object& function, bool with_keyset) {
    const DispatchKey key = parseDispatchKey(dispatch_key);
    take_back_.emplace_back([key, former = Dispatcher::singleton().fallback(key)] {
      Dispatcher::singleton().registerFallback(key, former);
    });
    Dispatcher::singleton().registerFallback(key, make_kernel(function, with_keyset, /*with_op=*/true));
  }

  // Undoes all registrations, the newest first.
  void reset() {
    while (!take_back_.empty()) {
      const std::function<void()> last = std::move(take_back_.back());
      take_back_.pop_back();
      last();
    }
  }

 private:
  std::string kind_, ns_, file_;
  int line_;
  std::vector<std::function<void()>> take_back_;
};

// ---- guards as context managers

using KeysMember = DispatchKeySet c10::impl::LocalDispatchKeySet::*;
constexpr KeysMember kIncluded = &c10::impl::LocalDispatchKeySet::included_;
constexpr KeysMember kExcluded = &c10::impl::LocalDispatchKeySet::excluded_;

// Adds keys to the thread's included or excluded keys.
class LocalKeysGuard final {
 public:
  LocalKeysGuard(KeysMember member, DispatchKeySet keys)
      : member_(member), saved_(c10::impl::tls_local_dispatch_key_set.*member) {
    c10::impl::tls_local_dispatch_key_set.*member = saved_ | keys;
  }
  ~LocalKeysGuard() {
    c10::impl::tls_local_dispatch_key_set.*member_ = saved_;
  }
  LocalKeysGuard(const LocalKeysGuard&) = delete;
  LocalKeysGuard& operator=(const LocalKeysGuard&) = delete;

 private:
  KeysMember member_;
  DispatchKeySet saved_;
};

using KeyGuard = py_context_manager<LocalKeysGuard, KeysMember, DispatchKeySet>;

void bind_guards(py::module_& m) {
  m.attr("_after_autograd_keyset") = py::cast(c10::keys_below(DispatchKey::Autograd));
  m.attr("_after_ADInplaceOrView_keyset") = py::cast(c10::keys_below(DispatchKey::Autograd));
  m.def("_dispatch_tls_is_dispatch_key_excluded",
        [](DispatchKey k) { return c10::impl::tls_local_dispatch_key_set.excluded_.has(k); });
  m.def("_dispatch_tls_is_dispatch_key_included",
        [](DispatchKey k) { return c10::impl::tls_local_dispatch_key_set.included_.has(k); });
  m.def("_dispatch_tls_local_include_set", [] { return c10::impl::tls_local_dispatch_key_set.included_; });
  m.def("_dispatch_tls_local_exclude_set", [] { return c10::impl::tls_local_dispatch_key_set.excluded_; });
  bind_context_manager<KeyGuard>(m, "_KeyGuard", "Includes or excludes dispatch keys inside a with block.");
  m.def("_ExcludeDispatchKeyGuard", [](DispatchKeySet keys) { return KeyGuard(kExcluded, keys); });
  m.def("_IncludeDispatchKeyGuard", [](DispatchKey key) { return KeyGuard(kIncluded, key); });
  m.def("_AutoDispatchBelowAutograd", [] { return KeyGuard(kExcluded, c10::autograd_dispatch_keyset); });
  m.def("_AutoDispatchBelowADInplaceOrView", [] { return KeyGuard(kExcluded, c10::autograd_dispatch_keyset); });
  m.def("_DisableTorchDispatch", [] { return KeyGuard(kExcluded, DispatchKey::Python); });
}

void bind_libraries(py::module_& m) {
  py::class_<PythonLibrary>(m, "_DispatchModule", "The registrations of one torch.library.Library.")
      .def(
          "define",
          [](PythonLibrary& self, const std::string& schema, const std::string&, const py::object&) {
            return self.define(schema);
          },
          py::arg("schema"), py::arg("alias_analysis") = "", py::arg("tags") = py::tuple())
      .def("impl", &PythonLibrary::impl, py::arg("name"), py::arg("dispatch"), py::arg("func"),
           py::arg("with_keyset") = false)
      .def("fallback", &PythonLibrary::fallback, py::arg("dispatch"), py::arg("func"), py::arg("with_keyset") = false)
      .def("reset", [](PythonLibrary& self) { self.reset(); });
  m.def("_dispatch_library",
        [](std::string kind, std::string ns, const std::string& dispatch_key, std::string file, int line) {
          return std::make_unique<PythonLibrary>(std::move(kind), std::move(ns), dispatch_key, std::move(file), line);
        });
}

std::vector<OperatorEntry*> overloads_of(const std::string& qualified_name) {
  std::vector<OperatorEntry*> overloads;
  for (const auto& entry : Dispatcher::singleton().entries()) {
    if (entry->defined && entry->schema.qualified_name() == qualified_name) {
      overloads.push_back(entry.get());
    }
  }
  return overloads;
}

void bind_questions(py::module_& m) {
  m.def("parse_schema",
        [](const std::string& text) { return steal(describe_schema(at::FunctionSchema::parse(text))); });
  // Describes every overload of a name such as "aten::add".
  m.def("_get_op_schemas", [](const std::string& qualified_name) {
    py::list schemas;
    for (OperatorEntry* entry : overloads_of(qualified_name)) {
      schemas.append(steal(describe_schema(entry->schema)));
    }
    return schemas;
  });
  // Lets a wrapper that Python made for a view share the storage of the view's base.
  m.def("_share_storage",
        [](const at::Tensor& view, const at::Tensor& base) { view.unsafeGetTensorImpl()->storage_ = base.storage(); });
  m.def("_any_requires_grad", [](const py::args& args) {
    std::function<bool(py::handle)> requires_grad = [&](py::handle arg) {
      if (PyTuple_Check(arg.ptr()) || PyList_Check(arg.ptr())) {
        const RecursiveCall recursive_call(" while tensors are looked for in nested arguments");
        for (py::handle item : arg) {
          if (requires_grad(item)) {
            return true;
          }
        }
      }
      return THPVariable_Check(arg.ptr()) && THPVariable_Unpack(arg.ptr()).requires_grad();
    };
    return requires_grad(args);
  });
}

} // namespace

DispatchKeySet unpack_dispatch_key_set(PyObject* obj) {
  TORCH_CHECK_TYPE(py::isinstance<DispatchKeySet>(obj), "expected a DispatchKeySet, got ", Py_TYPE(obj)->tp_name);
  return py::cast<DispatchKeySet>(py::handle(obj));
}

PyObject* describe_schema(const at::FunctionSchema& schema) {
  py::dict described;
  described["name"] = schema.operator_name();
  described["schema"] = schema.str();
  py::list arguments;
  for (const at::Argument& arg : schema.arguments) {
    py::dict a;
    a["name"] = arg.name;
    a["type"] = arg.type_str();
    a["kwarg_only"] = arg.kwarg_only;
    a["has_default"] = arg.has_default;
    a["default"] = arg.has_default ? steal(wrap_ivalue(arg.default_value, arg.type)) : py::object(py::none());
    arguments.append(a);
  }
  described["arguments"] = arguments;
  py::list returns;
  for (const at::Argument& ret : schema.returns) {
    returns.append(py::make_tuple(ret.name, ret.type_str()));
  }
  described["returns"] = returns;
  return described.release().ptr();
}

void initLibraries(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  bind_guards(m);
  bind_libraries(m);
  bind_questions(m);
}

} // namespace reftorch::torch
