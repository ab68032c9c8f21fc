// Mirrors: torch/csrc/Dtype.h, torch/csrc/Device.h, torch/csrc/Layout.h, torch/csrc/MemoryFormat.h, torch/csrc/Size.h
//
// The Python types that describe a tensor. There is one object for each dtype, layout and memory format, so that `is`
// and `==` agree.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <c10/core/Device.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

namespace reftorch::torch {

// A dtype of PyTorch that no tensor has here. Programs name such dtypes, to compare a tensor's dtype with them.
struct AbsentDtype {
  const char *name, *alias, *abbr, *real; // alias, or the dtype of the real parts, can be null
  char kind;                              // c, f, i or u as in numpy; - if PyTorch does not say whether it is signed
  int itemsize;
};
struct THPDtype {
  PyObject_HEAD c10::ScalarType scalar_type; // Undefined if `absent` is not null
  const AbsentDtype* absent;
};
struct THPDevice {
  PyObject_HEAD c10::Device device;
};
struct THPLayout {
  PyObject_HEAD c10::Layout layout;
};
struct THPMemoryFormat {
  PyObject_HEAD c10::MemoryFormat memory_format;
};

extern PyTypeObject *THPDtypeType, *THPDeviceType, *THPLayoutType, *THPMemoryFormatType, *THPSizeType;

// Return borrowed references, which are valid as long as the module exists.
PyObject* getTHPDtype(c10::ScalarType scalar_type);
PyObject* getTHPLayout();
PyObject* getTHPMemoryFormat(c10::MemoryFormat memory_format);

// Returns the number of a device that Python gave, which a DeviceIndex of 8 bits can hold; -1 is the current device.
// Raises RuntimeError for any other number: a mere cast would take 257 for 1.
c10::DeviceIndex checked_device_index(int64_t index);

// Return new references, or null with a Python error set on failure.
PyObject* THPDevice_New(c10::Device device);
PyObject* THPSize_New(c10::IntArrayRef sizes);

inline bool THPDtype_Check(PyObject* obj) {
  return Py_TYPE(obj) == THPDtypeType;
}
inline bool THPDevice_Check(PyObject* obj) {
  return Py_TYPE(obj) == THPDeviceType;
}
// Returns the dtype for a dtype object or for Python's float, int or bool. Returns Undefined for any other object, and
// throws NotImplementedError for a dtype that no tensor has here.
c10::ScalarType scalar_type_from_python(PyObject* obj);

void initDtypes(PyObject* module);

} // namespace reftorch::torch
