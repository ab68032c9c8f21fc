// Mirrors: torch/csrc/utils/pybind.cpp
//
// Left out: everything but tensors and errors. An extension converts numbers itself (python_function.h).
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/utils/python_extension.h>

namespace reftorch::torch {

at::Tensor tensor_from_python(PyObject* obj) {
  TORCH_CHECK_TYPE(THPVariable_Check(obj), "expected a Tensor, got ", Py_TYPE(obj)->tp_name);
  return THPVariable_Unpack(obj);
}

PyObject* tensor_to_python(const at::Tensor& tensor) {
  return THPVariable_Wrap(tensor);
}

bool is_tensor(PyObject* obj) {
  return THPVariable_Check(obj);
}

void error_to_python() {
  translate_current_exception();
}

void throw_error_from_python() {
  throw_python_error();
}

} // namespace reftorch::torch
