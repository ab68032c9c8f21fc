// Mirrors: torch/csrc/Exceptions.cpp
#include <csrc/Exceptions.h>

#include <csrc/python_gil.h>

#include <pybind11/pybind11.h>

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

static void warn_in_python(const std::string& msg) {
  GilAcquire gil;
  PyObject* module = PyImport_ImportModule("reftorch._warnings");
  PyObject* warned = module == nullptr ? nullptr : PyObject_CallMethod(module, "warn", "s", msg.c_str());
  Py_XDECREF(module);
  if (warned == nullptr) { // a filter turned the warning into an error
    throw_python_error();
  }
  Py_DECREF(warned);
}

void initExceptions(PyObject* module) {
  c10::set_warning_handler(&warn_in_python);
  THPException_LinAlgError =
      PyErr_NewExceptionWithDoc("reftorch._C._LinAlgError",
                                "A matrix has no inverse, no factor or no solution, or the algorithm did not converge.",
                                PyExc_RuntimeError, nullptr);
  if (THPException_LinAlgError == nullptr ||
      PyObject_SetAttrString(module, "_LinAlgError", THPException_LinAlgError) < 0) {
    throw_python_error();
  }
  THPException_OutOfMemoryError = PyErr_NewExceptionWithDoc(
      "reftorch.OutOfMemoryError", "A device has not enough memory for a tensor.", PyExc_RuntimeError, nullptr);
  if (THPException_OutOfMemoryError == nullptr ||
      PyObject_SetAttrString(module, "OutOfMemoryError", THPException_OutOfMemoryError) < 0) {
    throw_python_error();
  }
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
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const c10::ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const c10::TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const c10::LinAlgError& e) {
    PyErr_SetString(THPException_LinAlgError, e.what());
  } catch (const c10::OutOfMemoryError& e) {
    PyErr_SetString(THPException_OutOfMemoryError, e.what());
  } catch (const c10::NotImplementedError& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
  } catch (const std::bad_alloc& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

} // namespace reftorch::torch
