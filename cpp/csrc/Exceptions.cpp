// Mirrors: torch/csrc/Exceptions.cpp
#include <csrc/Exceptions.h>

#include <csrc/distributed/c10d/exception.h>
#include <csrc/python_gil.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <dlfcn.h>
#include <new>

namespace reftorch::torch {

python_error::python_error(const python_error& other)
    : type(other.type), value(other.value), traceback(other.traceback), message_(other.message_) {
  for (PyObject* obj : {type, value, traceback}) {
    if (obj != nullptr) {
      incref_anywhere(obj);
    }
  }
}

python_error::python_error(python_error&& other) noexcept
    : type(std::exchange(other.type, nullptr)),
      value(std::exchange(other.value, nullptr)),
      traceback(std::exchange(other.traceback, nullptr)),
      message_(std::move(other.message_)) {}

python_error::~python_error() {
  for (PyObject* obj : {type, value, traceback}) {
    if (obj != nullptr) {
      decref_anywhere(obj);
    }
  }
}

void python_error::persist() {
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  message_ = "Python error";
  if (PyObject* text = value != nullptr ? PyObject_Str(value) : nullptr) {
    const char* utf8 = PyUnicode_AsUTF8(text);
    message_ = utf8 != nullptr ? utf8 : message_;
    Py_DECREF(text);
  }
  PyErr_Clear(); // str() may have raised an error of its own
}

void python_error::restore() {
  PyErr_Restore(std::exchange(type, nullptr), std::exchange(value, nullptr), std::exchange(traceback, nullptr));
}

void throw_python_error() {
  python_error error;
  error.persist();
  throw error;
}

static PyObject* THPException_LinAlgError;
static PyObject* THPException_OutOfMemoryError;
static PyObject* THPException_AcceleratorError;
static PyObject* THPException_DistError;
static PyObject* THPException_DistBackendError;
static PyObject* THPException_DistNetworkError;
static PyObject* THPException_DistStoreError;
static PyObject* THPException_DistQueueEmptyError;

static void warn_in_python(const std::string& msg, bool once) {
  GilAcquire gil;
  PyObject* module = PyImport_ImportModule(once ? "reftorch._utils" : "reftorch._warnings");
  const char* function = once ? "_warn_once" : "warn";
  PyObject* warned = module == nullptr ? nullptr : PyObject_CallMethod(module, function, "s", msg.c_str());
  Py_XDECREF(module);
  if (warned == nullptr) { // a filter turned the warning into an error
    throw_python_error();
  }
  Py_DECREF(warned);
}

// Makes the class `full_name`, and adds the class to the module as `attribute`.
static PyObject* add_exception(PyObject* module, const char* attribute, const char* full_name, const char* doc,
                               PyObject* base) {
  PyObject* type = PyErr_NewExceptionWithDoc(full_name, doc, base, nullptr);
  if (type == nullptr || PyObject_SetAttrString(module, attribute, type) < 0) {
    throw_python_error();
  }
  return type;
}

void initExceptions(PyObject* module) {
  c10::set_warning_handler(&warn_in_python);
  THPException_LinAlgError = add_exception(
      module, "_LinAlgError", "reftorch._C._LinAlgError",
      "A matrix has no inverse, no factor or no solution, or the algorithm did not converge.", PyExc_RuntimeError);
  THPException_OutOfMemoryError = add_exception(module, "OutOfMemoryError", "reftorch.OutOfMemoryError",
                                                "A device has not enough memory for a tensor.", PyExc_RuntimeError);
  THPException_AcceleratorError = add_exception(
      module, "AcceleratorError", "reftorch.AcceleratorError",
      "A function of a device's library failed. ``error_code`` is the number of its error.", PyExc_RuntimeError);
  THPException_DistError = add_exception(module, "_DistError", "reftorch.distributed.DistError",
                                         "Something failed in torch.distributed.", PyExc_RuntimeError);
  THPException_DistBackendError = add_exception(module, "_DistBackendError", "reftorch.distributed.DistBackendError",
                                                "An operation of a process group failed.", THPException_DistError);
  THPException_DistNetworkError = add_exception(module, "_DistNetworkError", "reftorch.distributed.DistNetworkError",
                                                "A connection to another process failed.", THPException_DistError);
  THPException_DistStoreError = add_exception(module, "_DistStoreError", "reftorch.distributed.DistStoreError",
                                              "A store failed, or a key did not come in time.", THPException_DistError);
  THPException_DistQueueEmptyError =
      add_exception(module, "_DistQueueEmptyError", "reftorch.distributed.QueueEmptyError",
                    "A queue in a store is empty.", THPException_DistStoreError);
}

// Returns the message of an error, with the names of its C++ frames if the environment asks for them. The names are
// those that Python finds in the debug information; without them, the message is the error's alone.
static std::string described(const c10::Error& error) {
  if (error.frames().empty()) {
    return error.msg();
  }
  try {
    std::vector<std::pair<std::string, size_t>> frames; // a library, and an offset into it
    for (void* frame : error.frames()) {
      Dl_info info;
      if (dladdr(frame, &info) != 0 && info.dli_fname != nullptr) {
        // A return address points behind the call, so that its line may be the next one.
        frames.emplace_back(info.dli_fname, static_cast<char*>(frame) - static_cast<char*>(info.dli_fbase) - 1);
      }
    }
    const auto text = pybind11::module_::import("reftorch.debug.core.cpp_stacktraces").attr("text")(frames);
    return error.msg() + text.cast<std::string>();
  } catch (const std::exception&) {
    return error.msg();
  }
}

static void set_accelerator_error(const c10::AcceleratorError& error) {
  PyObject* made = PyObject_CallFunction(THPException_AcceleratorError, "s", described(error).c_str());
  if (made == nullptr) {
    return; // Python has set another error
  }
  PyObject* code = PyLong_FromLong(error.error_code());
  if (code != nullptr && PyObject_SetAttrString(made, "error_code", code) == 0) {
    PyErr_SetObject(THPException_AcceleratorError, made);
  }
  Py_XDECREF(code);
  Py_DECREF(made);
}

void translate_current_exception() {
  try {
    throw;
  } catch (python_error& e) {
    e.restore();
  } catch (pybind11::error_already_set& e) {
    e.restore();
  } catch (pybind11::builtin_exception& e) {
    e.set_error();
  } catch (const c10::IndexError& e) {
    PyErr_SetString(PyExc_IndexError, described(e).c_str());
  } catch (const c10::ValueError& e) {
    PyErr_SetString(PyExc_ValueError, described(e).c_str());
  } catch (const c10::TypeError& e) {
    PyErr_SetString(PyExc_TypeError, described(e).c_str());
  } catch (const c10::LinAlgError& e) {
    PyErr_SetString(THPException_LinAlgError, described(e).c_str());
  } catch (const c10::OutOfMemoryError& e) {
    PyErr_SetString(THPException_OutOfMemoryError, described(e).c_str());
  } catch (const c10::AcceleratorError& e) {
    set_accelerator_error(e);
  } catch (const c10d::DistQueueEmptyError& e) {
    PyErr_SetString(THPException_DistQueueEmptyError, described(e).c_str());
  } catch (const c10d::DistStoreError& e) {
    PyErr_SetString(THPException_DistStoreError, described(e).c_str());
  } catch (const c10d::DistNetworkError& e) {
    PyErr_SetString(THPException_DistNetworkError, described(e).c_str());
  } catch (const c10d::DistBackendError& e) {
    PyErr_SetString(THPException_DistBackendError, described(e).c_str());
  } catch (const c10d::DistError& e) {
    PyErr_SetString(THPException_DistError, described(e).c_str());
  } catch (const c10::NotImplementedError& e) {
    PyErr_SetString(PyExc_NotImplementedError, described(e).c_str());
  } catch (const c10::Error& e) {
    PyErr_SetString(PyExc_RuntimeError, described(e).c_str());
  } catch (const std::bad_alloc& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

} // namespace reftorch::torch
