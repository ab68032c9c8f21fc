// Mirrors: torch/csrc/Module.cpp
//
// PyInit__C runs at `import reftorch._C` and fills the module. The ops are registered before that, by static objects
// that are constructed when the library is loaded. Left out: the several hundred functions of PyTorch's _C that serve
// backends and compilers.
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_autograd.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/autograd/python_variable_methods.h>
#include <csrc/autograd/variable.h>
#include <csrc/cuda/python_cuda.h>
#include <csrc/debug/python_debug.h>
#include <csrc/distributed/c10d/init.h>
#include <csrc/functorch/python_functorch.h>
#include <csrc/python_dispatch.h>
#include <csrc/python_dlpack.h>
#include <csrc/python_dtype.h>
#include <csrc/python_generator.h>
#include <csrc/python_gil.h>
#include <csrc/python_storage.h>
#include <csrc/python_stream.h>
#include <csrc/python_torch_dispatch.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/python_arg_parser.h>
#include <csrc/utils/python_dispatch.h>
#include <csrc/utils/python_instances.h>
#include <csrc/utils/python_library.h>
#include <csrc/utils/python_other_library.h>

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/TypePromotion.h>
#include <ATen/autocast_mode.h>
#include <c10/core/CPUAllocator.h>

#include <reftorch_config.h>

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace reftorch::torch {

static c10::ScalarType unpack_dtype(const py::object& obj) {
  TORCH_CHECK_TYPE(THPDtype_Check(obj.ptr()), "invalid dtype object: expected torch.dtype, got ",
                   type_name_of(obj.ptr()));
  return scalar_type_from_python(obj.ptr());
}

static py::object dtype_object(c10::ScalarType type) {
  return py::reinterpret_borrow<py::object>(getTHPDtype(type));
}

// Returns what the registry knows about every op, as a list of dicts. Tests, the documentation and debug.where_op read
// this list. `ns` selects one namespace; the empty string selects all.
static py::list all_op_schemas(const std::string& ns) {
  py::list result;
  for (const auto& entry : at::Dispatcher::singleton().entries()) {
    if (!entry->defined || (!ns.empty() && entry->schema.ns != ns)) {
      continue;
    }
    py::dict op = py::reinterpret_steal<py::dict>(describe_schema(entry->schema));
    op["file"] = entry->file;
    op["line"] = entry->line;
    op["function"] = (entry->variants & at::variants::FUNCTION) != 0;
    op["method"] = (entry->variants & at::variants::METHOD) != 0;
    op["nn"] = (entry->variants & at::variants::NN) != 0;
    op["composite"] = entry->is_composite.load();
    op["alias_of"] =
        entry->alias_of != nullptr ? py::object(py::str(entry->alias_of->schema.operator_name())) : py::none();
    op["functional"] =
        entry->functional != nullptr ? py::object(py::str(entry->functional->schema.operator_name())) : py::none();
    result.append(op);
  }
  return result;
}

static py::dict cpu_memory_stats() {
  const c10::CPUMemoryStats stats = c10::getCPUMemoryStats();
  py::dict result;
  result["allocated_bytes"] = stats.allocated_bytes;
  result["cached_bytes"] = stats.cached_bytes;
  result["allocations"] = stats.allocations;
  return result;
}

static std::string show_config() {
  return c10::str("reftorch built with:\n  - build type: ", REFTORCH_BUILD_TYPE, "\n  - compiler: ", REFTORCH_COMPILER,
                  "\n  - C++ flags: ", REFTORCH_CXX_FLAGS, "\n  - BLAS: ", REFTORCH_BLAS,
                  "\n  - OpenMP: ", REFTORCH_OPENMP, "\n  - CUDA: ", REFTORCH_CUDA, "\n");
}

static bool unpack_bool(const py::object& obj, const char* function, const char* argument) {
  TORCH_CHECK_TYPE(PyBool_Check(obj.ptr()), function, "(): argument '", argument, "' must be bool, not ",
                   Py_TYPE(obj.ptr())->tp_name);
  return obj.ptr() == Py_True;
}

// Binds the settings of at::Context. Users reach them through reftorch/_determinism.py.
static void init_context(py::module_& m) {
  at::Context& context = at::globalContext();
  m.def("_get_deterministic_algorithms", [&context] { return context.deterministicAlgorithms(); });
  m.def("_get_deterministic_algorithms_warn_only", [&context] { return context.deterministicAlgorithmsWarnOnly(); });
  m.def(
      "_set_deterministic_algorithms",
      [&context](const py::object& mode, const py::object& warn_only) {
        const bool on = unpack_bool(mode, "_set_deterministic_algorithms", "mode");
        context.setDeterministicAlgorithms(on, unpack_bool(warn_only, "_set_deterministic_algorithms", "warn_only"));
      },
      py::arg("mode"), py::kw_only(), py::arg("warn_only") = false);
  m.def("_get_deterministic_fill_uninitialized_memory",
        [&context] { return context.deterministicFillUninitializedMemory(); });
  m.def("_set_deterministic_fill_uninitialized_memory", [&context](const py::object& mode) {
    TORCH_CHECK(PyBool_Check(mode.ptr()), "expected a bool, but got ", Py_TYPE(mode.ptr())->tp_name);
    context.setDeterministicFillUninitializedMemory(mode.ptr() == Py_True);
  });
  m.def("_get_flash_sdp_enabled", [&context] { return context.userEnabledFlashSDP(); });
  m.def("_set_sdp_use_flash",
        [&context](const py::object& on) { context.setSDPUseFlash(unpack_bool(on, "_set_sdp_use_flash", "on")); });
  m.def("_get_math_sdp_enabled", [&context] { return context.userEnabledMathSDP(); });
  m.def("_set_sdp_use_math",
        [&context](const py::object& on) { context.setSDPUseMath(unpack_bool(on, "_set_sdp_use_math", "on")); });
  m.def(
      "set_flush_denormal",
      [&context](const py::object& mode) {
        TORCH_CHECK(PyBool_Check(mode.ptr()), "flush_denormal expects a bool, but got ", Py_TYPE(mode.ptr())->tp_name);
        return context.setFlushDenormal(mode.ptr() == Py_True);
      },
      py::arg("mode"),
      "Treat denormal floats (too small for the normal format) as zero, on this thread.\n\n"
      "Arithmetic on denormal numbers is slow. Returns whether the processor can do so (x86 and arm64 can).\n\n"
      "Example:\n    >>> import reftorch as torch\n    >>> _ = torch.set_flush_denormal(True)\n"
      "    >>> torch.tensor([1e-39]) * 1\n    tensor([0.])\n    >>> _ = torch.set_flush_denormal(False)\n\n"
      "Mirrors torch/csrc/Module.cpp, ``THPModule_setFlushDenormal``.");
}

static bool is_leaf_and_no_view(const at::Tensor& t) {
  return autograd::impl::is_leaf(t) && !autograd::impl::is_view(t);
}

// The state of autocast, for reftorch/amp/autocast_mode.py.
static void init_autocast(py::module_& m) {
  namespace autocast = at::autocast;
  autocast::is_leaf_and_no_view = &is_leaf_and_no_view;
  m.def("_is_autocast_enabled",
        [](const std::string& device) { return autocast::is_autocast_enabled(c10::Device(device).type()); });
  m.def("_set_autocast_enabled", [](const std::string& device, bool enabled) {
    autocast::set_autocast_enabled(c10::Device(device).type(), enabled);
  });
  m.def("_get_autocast_dtype", [](const std::string& device) {
    return dtype_object(autocast::get_autocast_dtype(c10::Device(device).type()));
  });
  m.def("_set_autocast_dtype", [](const std::string& device, const py::object& dtype) {
    autocast::set_autocast_dtype(c10::Device(device).type(), unpack_dtype(dtype));
  });
  m.def("_log_api_usage_once", [](const std::string&) {}); // nothing is counted; libraries call it in constructors
  m.def("_get_tracing_state", [] { return py::none(); });  // nothing traces
  m.def("_is_autocast_cache_enabled", &autocast::is_autocast_cache_enabled);
  m.def("_set_autocast_cache_enabled", &autocast::set_autocast_cache_enabled);
  m.def("_autocast_increment_nesting", &autocast::increment_nesting);
  m.def("_autocast_decrement_nesting", &autocast::decrement_nesting);
  m.def("_clear_autocast_cache", &autocast::clear_cache);
}

// A weak reference to a tensor's Python object, for tests of object lifetimes.
struct WeakTensorRef {
  py::weakref object;
};

static void init_weak_tensor_ref(py::module_& m) {
  py::class_<WeakTensorRef>(m, "_WeakTensorRef",
                            "A weak reference to a tensor: expired() tells whether it was deleted.")
      .def(py::init([](const py::object& tensor) {
        TORCH_CHECK_TYPE(THPVariable_Check(tensor.ptr()), "_WeakTensorRef expects a Tensor, but got ",
                         Py_TYPE(tensor.ptr())->tp_name);
        return WeakTensorRef{py::weakref(tensor)};
      }))
      .def("expired", [](const WeakTensorRef& self) { return self.object().is_none(); });
}

static void init_globals(py::module_& m) {
  init_weak_tensor_ref(m);
  m.def("_show_config", &show_config);
  m.attr("_build_type") = REFTORCH_BUILD_TYPE;
  m.def("get_num_threads", &at::get_num_threads, "Return how many threads a large kernel may use.");
  m.def(
      "set_num_threads",
      [](const py::object& num_threads) {
        TORCH_CHECK(is_int(num_threads.ptr()) && !THPVariable_Check(num_threads.ptr()),
                    "set_num_threads expects an int, but got ", Py_TYPE(num_threads.ptr())->tp_name);
        at::set_num_threads(num_threads.cast<int>());
      },
      py::arg("num_threads"), "Set how many threads a large kernel may use.");
  m.def(
      "get_default_dtype", [] { return dtype_object(at::get_default_dtype()); },
      "Return the dtype of a tensor that is made from floats without a dtype argument.");
  m.def("_set_default_dtype", [](const py::object& dtype) { at::set_default_dtype(unpack_dtype(dtype)); });
  m.def(
      "promote_types",
      [](const py::object& a, const py::object& b) {
        return dtype_object(c10::promoteTypes(unpack_dtype(a), unpack_dtype(b)));
      },
      py::arg("type1"), py::arg("type2"), "Return the dtype of the result of an op on tensors of the two dtypes.");
  m.def(
      "can_cast",
      [](const py::object& from, const py::object& to) { return c10::canCast(unpack_dtype(from), unpack_dtype(to)); },
      py::arg("from_"), py::arg("to"),
      "Return whether an op may store a result of one dtype in a tensor of the other.");
  m.def("_result_type", [](const py::object& a, const py::object& b) {
    auto as_tensor = [](const py::object& obj) {
      return THPVariable_Check(obj.ptr()) ? THPVariable_Unpack(obj.ptr())
                                          : at::detail::wrapped_scalar_tensor(unpack_scalar(obj.ptr()));
    };
    return dtype_object(at::result_type(as_tensor(a), as_tensor(b)));
  });
  m.def("_get_all_op_schemas", &all_op_schemas, py::arg("ns") = "aten");
  m.def("_cpu_memory_stats", &cpu_memory_stats);
  m.def("_cpu_empty_cache", [] { return c10::GetCPUAllocator()->empty_cache(); });
  m.def("_other_library_hint", [](const py::object& obj) { return other_library_hint(obj.ptr()); });
  m.def("_set_tensor_class", [](const py::type& cls) { THPVariableClass = py::object(cls).release().ptr(); });
}

static PyMethodDef tensor_functions[] = {
    {"tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(tensor_ctor)), METH_VARARGS | METH_KEYWORDS,
     "tensor($module, data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)\n--\n\n"
     "Make a tensor from a copy of Python data.\n\nArgs:\n"
     "    data: a number, a sequence of sequences of numbers, an array or a tensor.\n"
     "    dtype: the default is get_default_dtype() for floats, int64 for ints and bool for bools.\n"
     "    device: the device of the tensor. By default the device of ``data`` if that is a tensor, else the default "
     "device.\n"
     "    requires_grad: whether autograd records the ops on the tensor.\n"
     "    pin_memory: accepted for the sake of PyTorch's signature; it has no effect here.\n\n"
     "Raises:\n    ValueError: the sequences differ in length.\n    TypeError: an element is not a number.\n\n"
     "Example:\n    >>> import reftorch as torch\n    >>> torch.tensor([[1, 2], [3, 4]])\n"
     "    tensor([[1, 2],\n            [3, 4]])\n\nMirrors torch/csrc/utils/tensor_new.cpp, ``tensor_ctor``."},
    {"from_numpy", tensor_from_numpy, METH_O,
     "from_numpy($module, ndarray, /)\n--\n\n"
     "Make a tensor that shares the memory of an array: a change of one shows in the other.\n\n"
     "Raises:\n    TypeError: the argument is not an array, or no dtype corresponds to the array's.\n\n"
     "Example:\n    >>> import numpy, reftorch as torch\n    >>> torch.from_numpy(numpy.array([1, 2]))\n"
     "    tensor([1, 2])\n\nMirrors torch/csrc/utils/tensor_numpy.cpp, ``tensor_from_numpy``."},
    {"_frombuffer", tensor_frombuffer, METH_VARARGS, nullptr},
    {}};

} // namespace reftorch::torch

PYBIND11_MODULE(_C, m) {
  using namespace reftorch::torch;
  m.doc() = "The C++ half of reftorch: tensors, ops and the autograd engine.";
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const reftorch::c10::Error&) {
      translate_current_exception();
    } catch (const python_error&) {
      translate_current_exception();
    }
  });
  note_main_thread();
  initExceptions(m.ptr());
  initDtypes(m.ptr());
  initTensorBase(m.ptr());
  initTorchFunction(m.ptr());
  initGenerator(m.ptr());
  initStream(m.ptr());
  initStorage(m.ptr());
  initDLPack(m.ptr());
#if REFTORCH_USE_CUDA
  initCuda(m.ptr());
#endif
  initAutogradBindings(m.ptr());
  if (PyModule_AddFunctions(m.ptr(), tensor_functions) < 0) {
    throw py::error_already_set();
  }
  initOps(m.ptr(), reinterpret_cast<PyObject*>(THPVariableBaseType));
  initTorchDispatch(m.ptr());
  initOperators();
  initFunctorch(m.ptr());
  init_globals(m);
  init_context(m);
  init_autocast(m);
  initDispatchBindings(m.ptr());
  initLibraries(m.ptr());
  debug::init_debug_bindings(m.ptr());
  reftorch::c10d::initC10d(m.ptr());
  initInstances(m.ptr());
}
