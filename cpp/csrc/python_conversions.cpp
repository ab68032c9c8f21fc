// Mirrors: torch/csrc/utils/python_numbers.h, torch/csrc/utils/python_scalars.h, torch/csrc/jit/python/pybind_utils.cpp
//
// Left out: complex numbers, symbolic ints.
#include <csrc/python_conversions.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>
#include <csrc/python_generator.h>

#include <ATen/DeviceAccelerator.h>
#include <ATen/EmptyTensor.h>

#include <cstring>

namespace reftorch::torch {

using at::IValue;
using at::TypeKind;

// ---- what an object may stand for

bool is_numpy_scalar(PyObject* obj) {
  const char* name = Py_TYPE(obj)->tp_name;
  return std::strncmp(name, "numpy.", 6) == 0 && PyNumber_Check(obj) && !PySequence_Check(obj) &&
         PyObject_HasAttrString(obj, "dtype");
}

bool is_python_number(PyObject* obj) {
  return PyFloat_Check(obj) || PyLong_Check(obj) || is_numpy_scalar(obj);
}

static bool is_integer_tensor(PyObject* obj) {
  return THPVariable_Check(obj) && c10::isIntegralType(THPVariable_Unpack(obj).scalar_type(), /*includeBool=*/false);
}

bool is_int(PyObject* obj) {
  if (PyLong_Check(obj)) {
    return !PyBool_Check(obj);
  }
  if (THPVariable_Check(obj)) {
    return is_integer_tensor(obj) && THPVariable_Unpack(obj).dim() == 0;
  }
  return is_numpy_scalar(obj) && is_index(obj);
}

bool is_index(PyObject* obj) {
  if (PyLong_Check(obj)) {
    return !PyBool_Check(obj);
  }
  if (THPVariable_Check(obj)) {
    return is_integer_tensor(obj) && THPVariable_Unpack(obj).numel() == 1;
  }
  if (!PyIndex_Check(obj)) {
    return false;
  }
  PyObject* number = PyNumber_Index(obj); // an array has the method, which raises if the array has several elements
  if (number == nullptr) {
    PyErr_Clear();
    return false;
  }
  Py_DECREF(number);
  return true;
}

bool is_float(PyObject* obj) {
  if (THPVariable_Check(obj)) {
    return THPVariable_Unpack(obj).dim() == 0 && !THPVariable_Unpack(obj).requires_grad();
  }
  return PyFloat_Check(obj) || PyLong_Check(obj) || is_numpy_scalar(obj);
}

bool is_scalar(PyObject* obj) {
  if (THPVariable_Check(obj)) {
    return THPVariable_Unpack(obj).dim() == 0 && !THPVariable_Unpack(obj).requires_grad();
  }
  return is_python_number(obj);
}

// ---- conversion

std::string unpack_string(PyObject* obj) {
  const char* utf8 = PyUnicode_AsUTF8(obj);
  if (utf8 == nullptr) {
    throw_python_error();
  }
  return utf8;
}

int64_t unpack_int(PyObject* obj) {
  PyObject* number = PyLong_CheckExact(obj) ? Py_NewRef(obj) : PyNumber_Index(obj);
  if (number == nullptr) {
    throw_python_error();
  }
  const long long value = PyLong_AsLongLong(number);
  Py_DECREF(number);
  if (value == -1 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
      PyErr_Clear();
      TORCH_CHECK_VALUE(false, "Overflow when unpacking long long: the number does not fit in 64 bits");
    }
    throw_python_error();
  }
  return value;
}

static c10::Scalar unpack_integer(PyObject* obj) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(obj, &overflow);
  if (overflow == 0) {
    return c10::Scalar(static_cast<int64_t>(value));
  }
  const unsigned long long bits = PyLong_AsUnsignedLongLong(obj);
  if (PyErr_Occurred()) {
    throw_python_error();
  }
  return c10::Scalar(static_cast<uint64_t>(bits));
}

c10::Scalar unpack_scalar(PyObject* obj) {
  if (PyBool_Check(obj)) {
    return c10::Scalar(obj == Py_True);
  }
  if (PyLong_Check(obj)) {
    return unpack_integer(obj);
  }
  if (PyFloat_Check(obj)) {
    return c10::Scalar(PyFloat_AS_DOUBLE(obj));
  }
  if (THPVariable_Check(obj)) {
    return THPVariable_Unpack(obj).item();
  }
  if (is_index(obj)) { // numpy's integers
    PyObject* number = PyNumber_Index(obj);
    const c10::Scalar value = unpack_integer(number);
    Py_DECREF(number);
    return value;
  }
  return c10::Scalar(unpack_double(obj)); // also numpy's bools, which PyTorch reads as floats
}

double unpack_double(PyObject* obj) {
  if (THPVariable_Check(obj)) {
    return THPVariable_Unpack(obj).item().toDouble();
  }
  const double value = PyFloat_AsDouble(obj);
  if (value == -1.0 && PyErr_Occurred()) {
    throw_python_error();
  }
  return value;
}

static int64_t unpack_int_at(PyObject* obj, Py_ssize_t i) {
  std::string why;
  if (!PyIndex_Check(obj)) {
    why = c10::str("type must be tuple of ints,but got ", Py_TYPE(obj)->tp_name);
  } else {
    try {
      return unpack_int(obj);
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
  TORCH_CHECK_TYPE(false, "failed to unpack the object at pos ", i + 1, " with error \"", why, '"');
}

c10::DimVector unpack_ints(PyObject* const* items, Py_ssize_t n) {
  c10::DimVector values;
  values.reserve(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; i++) {
    values.push_back(unpack_int_at(items[i], i));
  }
  return values;
}

static IValue unpack_int_list(PyObject* obj, int list_size) {
  if (PyTuple_Check(obj) || PyList_Check(obj)) {
    return IValue(unpack_ints(PySequence_Fast_ITEMS(obj), PySequence_Fast_GET_SIZE(obj)));
  }
  return IValue(c10::DimVector(static_cast<size_t>(std::max(list_size, 1)), unpack_int(obj)));
}

static IValue unpack_tensor_list(PyObject* obj) {
  std::vector<at::Tensor> tensors;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(obj);
  tensors.reserve(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* item = PySequence_Fast_GET_ITEM(obj, i);
    tensors.push_back(item == Py_None ? at::Tensor() : THPVariable_Unpack(item));
  }
  return IValue(std::move(tensors));
}

static c10::Device parse_device(PyObject* obj) {
  if (THPDevice_Check(obj)) {
    return reinterpret_cast<THPDevice*>(obj)->device;
  }
  if (PyUnicode_Check(obj)) {
    return c10::Device(unpack_string(obj));
  }
  const int64_t index = unpack_int(obj);
  TORCH_CHECK(index >= 0, "Device index must not be negative");
  return c10::Device(*at::getAccelerator(/*checked=*/true), checked_device_index(index));
}

// Returns the device that an argument names. If the device is a GPU, starts CUDA first, in Python; in a build without
// CUDA this raises Python's AssertionError. Mirrors torch/csrc/utils/device_lazy_init.cpp.
static c10::Device unpack_device(PyObject* obj) {
  const c10::Device device = parse_device(obj);
  if (device.is_cuda()) {
    PyObject* cuda = PyImport_ImportModule("reftorch.cuda");
    PyObject* started = cuda == nullptr ? nullptr : PyObject_CallMethod(cuda, "init", nullptr);
    Py_XDECREF(cuda);
    if (started == nullptr) {
      throw_python_error();
    }
    Py_DECREF(started);
  }
  return device;
}

// `obj` has passed PythonSignature::check() for this type.
IValue unpack_argument(TypeKind type, int list_size, PyObject* obj) {
  switch (type) {
    case TypeKind::Tensor:
      if (THPVariable_Check(obj)) {
        return IValue(THPVariable_Unpack(obj));
      }
      return IValue(at::detail::wrapped_scalar_tensor(unpack_scalar(obj)));
    case TypeKind::Scalar: return IValue(unpack_scalar(obj));
    case TypeKind::Int: return IValue(unpack_int(obj));
    case TypeKind::Float: return IValue(unpack_double(obj));
    case TypeKind::Bool: return IValue(PyObject_IsTrue(obj) == 1);
    case TypeKind::String: return IValue(unpack_string(obj));
    case TypeKind::IntList: return unpack_int_list(obj, list_size);
    case TypeKind::TensorList:
    case TypeKind::OptionalTensorList: return unpack_tensor_list(obj);
    case TypeKind::ScalarType: return IValue(scalar_type_from_python(obj));
    case TypeKind::Layout: return IValue(reinterpret_cast<THPLayout*>(obj)->layout);
    case TypeKind::Device: return IValue(unpack_device(obj));
    case TypeKind::MemoryFormat: return IValue(reinterpret_cast<THPMemoryFormat*>(obj)->memory_format);
    case TypeKind::Generator: return IValue(unpack_generator(obj));
    case TypeKind::FloatList: {
      std::vector<double> values;
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(obj); i++) {
        values.push_back(unpack_double(PySequence_Fast_GET_ITEM(obj, i)));
      }
      return IValue(std::move(values));
    }
    case TypeKind::ScalarList: {
      std::vector<c10::Scalar> values;
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(obj); i++) {
        values.push_back(unpack_scalar(PySequence_Fast_GET_ITEM(obj, i)));
      }
      return IValue(std::move(values));
    }
    case TypeKind::BoolList: {
      std::vector<bool> values;
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(obj); i++) {
        values.push_back(PyObject_IsTrue(PySequence_Fast_GET_ITEM(obj, i)) == 1);
      }
      return IValue(std::move(values));
    }
  }
  return IValue();
}

template <typename List, typename Wrap>
static PyObject* wrap_list(const List& list, Wrap wrap) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(list.size()));
  for (size_t i = 0; tuple != nullptr && i < list.size(); i++) {
    PyObject* item = wrap(list[i]);
    if (item == nullptr) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

static PyObject* wrap_scalar(const c10::Scalar& value) {
  return wrap_ivalue(IValue(value), TypeKind::Scalar);
}

PyObject* wrap_ivalue(IValue value, TypeKind type) {
  switch (value.tag()) {
    case IValue::Tag::None: return Py_NewRef(Py_None);
    case IValue::Tag::BorrowedTensor: // a parameter that is a value owns its tensor
    case IValue::Tag::Tensor: return THPVariable_Wrap(std::move(value.toTensor()));
    case IValue::Tag::Double: return PyFloat_FromDouble(value.toDouble());
    case IValue::Tag::Bool: return PyBool_FromLong(value.toBool());
    case IValue::Tag::UInt: return PyLong_FromUnsignedLongLong(value.toScalar().wrapped_to<uint64_t>());
    case IValue::Tag::Int:
      if (type == TypeKind::ScalarType) {
        return Py_NewRef(getTHPDtype(value.toScalarType()));
      }
      if (type == TypeKind::MemoryFormat) {
        return Py_NewRef(getTHPMemoryFormat(static_cast<c10::MemoryFormat>(value.toInt())));
      }
      return PyLong_FromLongLong(value.toInt());
    case IValue::Tag::Device: return THPDevice_New(value.toDevice());
    case IValue::Tag::String: return PyUnicode_FromString(value.toStringRef().c_str());
    case IValue::Tag::IntList: return wrap_list(value.toIntList(), PyLong_FromLongLong);
    case IValue::Tag::DoubleList: return wrap_list(value.toDoubleList(), PyFloat_FromDouble);
    case IValue::Tag::BoolList: return wrap_list(value.toBoolList(), PyBool_FromLong);
    case IValue::Tag::ScalarList: return wrap_list(value.toScalarList(), wrap_scalar);
    case IValue::Tag::TensorList: return wrap_list(value.toTensorVector(), THPVariable_Wrap);
    case IValue::Tag::Generator: return wrap_generator(value.toGenerator());
  }
  Py_RETURN_NONE;
}

} // namespace reftorch::torch
