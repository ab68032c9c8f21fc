// Mirrors: torch/csrc/utils/pybind.h
//
// Makes a C++ function callable from Python without pybind11, whose headers take four times as long to compile as
// everything that an op needs. Left out: overloads, keywords, defaults and other types; an extension that needs them
// includes torch/extension.h and uses pybind11.
#pragma once

#include <csrc/utils/python_extension.h>

#include <utility>
#include <vector>

namespace reftorch::torch {

// python_value<T> converts a T: `from` takes a borrowed reference and throws a TypeError if the object does not fit;
// `to` returns a new reference.
template <typename T>
struct python_value;

template <>
struct python_value<at::Tensor> {
  static at::Tensor from(PyObject* obj) {
    return tensor_from_python(obj);
  }
  static PyObject* to(const at::Tensor& value) {
    return tensor_to_python(value);
  }
};

template <>
struct python_value<bool> {
  static bool from(PyObject* obj) {
    TORCH_CHECK_TYPE(PyBool_Check(obj), "expected a bool, got ", Py_TYPE(obj)->tp_name);
    return obj == Py_True;
  }
  static PyObject* to(bool value) {
    return PyBool_FromLong(value);
  }
};

template <>
struct python_value<int64_t> {
  static int64_t from(PyObject* obj) {
    TORCH_CHECK_TYPE(PyLong_Check(obj), "expected an int, got ", Py_TYPE(obj)->tp_name);
    const int64_t value = PyLong_AsLongLong(obj);
    if (value == -1 && PyErr_Occurred() != nullptr) {
      throw_error_from_python();
    }
    return value;
  }
  static PyObject* to(int64_t value) {
    return PyLong_FromLongLong(value);
  }
};

template <>
struct python_value<double> {
  static double from(PyObject* obj) {
    TORCH_CHECK_TYPE(PyFloat_Check(obj) || PyLong_Check(obj), "expected a float, got ", Py_TYPE(obj)->tp_name);
    const double value = PyFloat_AsDouble(obj);
    if (value == -1 && PyErr_Occurred() != nullptr) {
      throw_error_from_python();
    }
    return value;
  }
  static PyObject* to(double value) {
    return PyFloat_FromDouble(value);
  }
};

template <typename T>
struct python_value<std::vector<T>> {
  static std::vector<T> from(PyObject* obj) {
    TORCH_CHECK_TYPE(PyTuple_Check(obj) || PyList_Check(obj), "expected a list or a tuple, got ",
                     Py_TYPE(obj)->tp_name);
    std::vector<T> values;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(obj); i++) {
      values.push_back(python_value<T>::from(PySequence_Fast_GET_ITEM(obj, i)));
    }
    return values;
  }
  static PyObject* to(const std::vector<T>& values) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(values.size()));
    for (size_t i = 0; list != nullptr && i < values.size(); i++) {
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), python_value<T>::to(values[i]));
    }
    return list;
  }
};

template <auto fn, typename Sig = decltype(fn)>
struct python_function;

template <auto fn, typename Ret, typename... Args>
struct python_function<fn, Ret (*)(Args...)> {
  static PyObject* call(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
    try {
      TORCH_CHECK_TYPE(nargs == sizeof...(Args), "expected ", sizeof...(Args), " arguments, got ", nargs);
      return invoke(args, std::index_sequence_for<Args...>());
    } catch (...) {
      error_to_python();
      return nullptr;
    }
  }
  template <size_t... I>
  static PyObject* invoke(PyObject* const* args, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<Ret>) {
      fn(python_value<std::decay_t<Args>>::from(args[I])...);
      Py_RETURN_NONE;
    } else {
      return python_value<std::decay_t<Ret>>::to(fn(python_value<std::decay_t<Args>>::from(args[I])...));
    }
  }
  static PyMethodDef def(const char* name) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call)), METH_FASTCALL, nullptr};
  }
};

} // namespace reftorch::torch

#define TORCH_EXTENSION_INIT_(name) PyInit_##name
#define TORCH_EXTENSION_INIT(name) TORCH_EXTENSION_INIT_(name)
#define TORCH_EXTENSION_TEXT_(name) #name
#define TORCH_EXTENSION_TEXT(name) TORCH_EXTENSION_TEXT_(name)
// Defines the module TORCH_EXTENSION_NAME, with the functions of the given definitions.
#define TORCH_EXTENSION_MODULE(...)                                                                    \
  PyMODINIT_FUNC TORCH_EXTENSION_INIT(TORCH_EXTENSION_NAME)() {                                        \
    static PyMethodDef functions[] = {__VA_ARGS__, {}};                                                \
    static const char name[] = TORCH_EXTENSION_TEXT(TORCH_EXTENSION_NAME);                             \
    static PyModuleDef module = {PyModuleDef_HEAD_INIT, name, nullptr, -1, functions, {}, {}, {}, {}}; \
    return PyModule_Create(&module);                                                                   \
  }
