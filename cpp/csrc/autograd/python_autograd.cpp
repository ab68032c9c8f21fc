// Mirrors: torch/csrc/autograd/init.cpp
#include <csrc/autograd/python_autograd.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/functions/python_basic_ops.h>
#include <csrc/autograd/python_anomaly_mode.h>
#include <csrc/autograd/python_cpp_function.h>
#include <csrc/autograd/python_engine.h>
#include <csrc/autograd/python_formula.h>
#include <csrc/autograd/python_forward_ad.h>
#include <csrc/autograd/python_function.h>
#include <csrc/autograd/python_profiler.h>
#include <csrc/autograd/python_saved_variable_hooks.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/autograd/python_variable_properties.h>
#include <csrc/python_gil.h>
#include <csrc/python_thread_local_state.h>

#include <ATen/ThreadLocalState.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

namespace reftorch::torch {

static PyObject* is_grad_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(c10::GradMode::is_enabled());
}

static PyObject* set_grad_enabled(PyObject*, PyObject* enabled) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(PyBool_Check(enabled), "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not ",
                   Py_TYPE(enabled)->tp_name);
  c10::GradMode::set_enabled(enabled == Py_True);
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

// ---- inference mode

static PyObject* is_inference_mode_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(c10::InferenceMode::is_enabled());
}

// Sets inference mode, and the grad mode that goes with it. Returns the former values of both, for
// _exit_inference_mode.
static PyObject* enter_inference_mode(PyObject*, PyObject* enabled) {
  const int on = PyObject_IsTrue(enabled);
  if (on < 0) {
    return nullptr;
  }
  const c10::InferenceMode::State former = c10::InferenceMode::current();
  c10::InferenceMode::restore({on != 0, on == 0});
  return Py_BuildValue("(NN)", PyBool_FromLong(former.inference), PyBool_FromLong(former.grad));
}

static PyObject* exit_inference_mode(PyObject*, PyObject* former) {
  int inference = 0, grad = 0;
  if (!PyArg_ParseTuple(former, "pp:_exit_inference_mode", &inference, &grad)) {
    return nullptr;
  }
  c10::InferenceMode::restore({inference != 0, grad != 0});
  Py_RETURN_NONE;
}

// ---- the other modes of this thread

static PyObject* is_multithreading_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(c10::BackwardMultithreading::is_enabled());
}

static PyObject* set_multithreading_enabled(PyObject*, PyObject* enabled) {
  const int on = PyObject_IsTrue(enabled);
  if (on < 0) {
    return nullptr;
  }
  c10::BackwardMultithreading::set_enabled(on != 0);
  Py_RETURN_NONE;
}

static PyObject* is_view_replay_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(c10::ViewReplay::is_enabled());
}

static PyObject* set_view_replay_enabled(PyObject*, PyObject* enabled) {
  const int on = PyObject_IsTrue(enabled);
  if (on < 0) {
    return nullptr;
  }
  c10::ViewReplay::set_enabled(on != 0);
  Py_RETURN_NONE;
}

// ---- the hook that runs before an in-place change, which allow_mutation_on_saved_tensors uses

static thread_local PyObject* before_write = nullptr;

static void call_before_write(const at::Tensor& tensor) {
  GilAcquire gil;
  PyObject* const hook = Py_NewRef(before_write);
  PyObject* obj = THPVariable_Wrap(tensor);
  PyObject* result = obj != nullptr ? PyObject_CallOneArg(hook, obj) : nullptr;
  Py_XDECREF(obj);
  Py_DECREF(hook);
  if (result == nullptr) {
    throw_python_error();
  }
  Py_DECREF(result);
}

static std::shared_ptr<PyObject> get_before_write() {
  return before_write != nullptr ? share_object(Py_NewRef(before_write)) : nullptr;
}
static void set_before_write(const std::shared_ptr<PyObject>& hook) {
  const GilAcquire gil;
  PyObject* former = before_write;
  before_write = Py_XNewRef(hook.get());
  autograd::before_write_hook = before_write != nullptr ? call_before_write : nullptr;
  Py_XDECREF(former);
}
// before_write_hook in variable.h is set and restored along with this variable.
static const at::RegisterThreadLocal<&get_before_write, &set_before_write> register_before_write(
    "python_autograd.cpp: before_write");

static PyObject* set_before_write_hook(PyObject*, PyObject* hook) {
  PyObject* former = before_write;
  before_write = hook == Py_None ? nullptr : Py_NewRef(hook);
  autograd::before_write_hook = before_write != nullptr ? call_before_write : nullptr;
  return former != nullptr ? former : Py_NewRef(Py_None);
}

static PyObject* get_sequence_nr(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(autograd::Node::peek_sequence_nr());
}

static PyObject* increment_version(PyObject*, PyObject* obj) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(THPVariable_Check(obj), "increment_version expect each element of the iterable to be a tensor, not ",
                   Py_TYPE(obj)->tp_name);
  autograd::impl::bump_version(THPVariable_Unpack(obj));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

static PyObject* unsafe_set_version_counter(PyObject*, PyObject* args) {
  HANDLE_TH_ERRORS
  PyObject *tensors = nullptr, *versions = nullptr;
  if (!PyArg_ParseTuple(args, "O!O!:_unsafe_set_version_counter", &PyTuple_Type, &tensors, &PyTuple_Type, &versions)) {
    return nullptr;
  }
  TORCH_CHECK(PyTuple_GET_SIZE(tensors) == PyTuple_GET_SIZE(versions), "_unsafe_set_version_counter: got ",
              PyTuple_GET_SIZE(tensors), " tensors and ", PyTuple_GET_SIZE(versions), " versions");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); i++) {
    PyObject* tensor = PyTuple_GET_ITEM(tensors, i);
    TORCH_CHECK_TYPE(THPVariable_Check(tensor), "_unsafe_set_version_counter expects tensors, but got ",
                     Py_TYPE(tensor)->tp_name);
    const long long version = PyLong_AsLongLong(PyTuple_GET_ITEM(versions, i));
    if (version == -1 && PyErr_Occurred() != nullptr) {
      return nullptr;
    }
    TORCH_CHECK(version >= 0, "Cannot set a version_counter to a value below 0: ", version);
    autograd::impl::set_version(THPVariable_Unpack(tensor), static_cast<uint32_t>(version));
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

static PyMethodDef mode_functions[] = {
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "Return whether autograd records the ops of this thread."},
    {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
    {"is_inference_mode_enabled", is_inference_mode_enabled, METH_NOARGS,
     "Return whether this thread is in inference mode."},
    {"_enter_inference_mode", enter_inference_mode, METH_O, nullptr},
    {"_exit_inference_mode", exit_inference_mode, METH_O, nullptr},
    {"_is_multithreading_enabled", is_multithreading_enabled, METH_NOARGS, nullptr},
    {"_set_multithreading_enabled", set_multithreading_enabled, METH_O, nullptr},
    {"_is_view_replay_enabled", is_view_replay_enabled, METH_NOARGS, nullptr},
    {"_set_view_replay_enabled", set_view_replay_enabled, METH_O, nullptr},
    {}};
static PyMethodDef autograd_functions[] = {
    {"_set_before_write_hook", set_before_write_hook, METH_O,
     "Set the function that is called with each tensor that an op of this thread is about to change in place. Return "
     "the "
     "former function."},
    {"_increment_version", increment_version, METH_O, "Bump the version of a tensor, as an in-place op does."},
    {"_unsafe_set_version_counter", unsafe_set_version_counter, METH_VARARGS,
     "Set the versions of tensors. Autograd no longer notices the changes that this hides, so the caller answers for "
     "them."},
    {"_get_sequence_nr", get_sequence_nr, METH_NOARGS, "Return the number that this thread's next node will get."},
    {}};

static PyObject* make_autograd_module(PyObject* module) {
  PyObject* space = PyModule_New("reftorch._C._autograd");
  if (space == nullptr || PyModule_AddFunctions(space, autograd_functions) < 0 ||
      PyModule_AddObject(module, "_autograd", space) < 0) {
    throw_python_error();
  }
  return space;
}

void initAutogradBindings(PyObject* module) {
  if (PyModule_AddFunctions(module, mode_functions) < 0) {
    throw_python_error();
  }
  PyObject* space = make_autograd_module(module);
  autograd::initVariableMethods();
  autograd::initAnomalyMode(module);
  autograd::initSavedVariableHooks(space);
  autograd::initProfiler(space);
  autograd::initCppFunction(module);
  autograd::initBasicOps(module);
  autograd::initFunction(module);
  autograd::initFormulas(module);
  autograd::initForwardAD(module);
  autograd::initEngine(module);
}

} // namespace reftorch::torch
