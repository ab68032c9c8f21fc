// Mirrors: nothing in PyTorch: no second library has its names.
#include <csrc/utils/python_other_library.h>

#include <string_view>

namespace reftorch::torch {

std::string library_name() {
  PyObject* library = PyImport_AddModule("reftorch"); // borrowed
  PyObject* name = library != nullptr ? PyObject_GetAttrString(library, "__name__") : nullptr;
  const char* text = name != nullptr && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  std::string found = text != nullptr ? text : "reftorch";
  Py_XDECREF(name);
  PyErr_Clear();
  return found;
}

bool is_defined_by_torch(PyObject* obj) {
  PyObject* module = PyObject_GetAttrString(obj, "__module__");
  const char* text = module != nullptr && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : nullptr;
  const std::string_view name = text != nullptr ? text : "";
  const bool found = name == "torch" || name.substr(0, 6) == "torch.";
  Py_XDECREF(module);
  PyErr_Clear(); // an object may have no __module__
  return found && library_name() != "torch";
}

std::string other_library_hint(PyObject* obj) {
  PyObject* bases = Py_TYPE(obj)->tp_mro;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); i++) {
    if (is_defined_by_torch(PyTuple_GET_ITEM(bases, i))) {
      return " of PyTorch. Hint: the program uses torch and reftorch. Import one of them only, or convert tensors with "
             "reftorch.from_dlpack(x)";
    }
  }
  return "";
}

void check_not_of_other_library(PyObject* operand) {
  const std::string hint = other_library_hint(operand);
  TORCH_CHECK_TYPE(hint.empty(), "unsupported operand: ", Py_TYPE(operand)->tp_name, hint);
}

} // namespace reftorch::torch
