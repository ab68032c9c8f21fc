// Mirrors: torch/csrc/utils/tensor_numpy.cpp
// One memory, two libraries: no element is copied either way, and each side keeps the other alive. numpy's
// __array_interface__ carries address, shape, strides and dtype, so nothing of numpy is needed to compile or import
// this. Left out: complex, read-only warnings.
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/autograd/python_variable_methods.h>
#include <csrc/python_arg_parser.h>
#include <csrc/python_dtype.h>

#include <ATen/EmptyTensor.h>

#include <pybind11/pybind11.h>

#include <cstring>

namespace reftorch::torch {

namespace py = pybind11;

struct NumpyType {
  c10::ScalarType scalar_type;
  const char* typestr; // kind and size; the byte order stands before it
};
static constexpr NumpyType kNumpyTypes[] = {
    {c10::kDouble, "f8"}, {c10::kFloat, "f4"}, {c10::kHalf, "f2"}, {c10::kLong, "i8"}, {c10::kInt, "i4"},
    {c10::kShort, "i2"},  {c10::kChar, "i1"},  {c10::kByte, "u1"}, {c10::kBool, "b1"},
};

bool is_numpy_array(PyObject* obj) {
  return std::strcmp(Py_TYPE(obj)->tp_name, "numpy.ndarray") == 0;
}

static c10::ScalarType numpy_dtype_to_aten(const std::string& typestr, const py::object& array) {
  TORCH_CHECK_VALUE(typestr[0] != '>',
                    "given numpy array has byte order different from the native byte order. Conversion between byte "
                    "orders is currently not supported.");
  for (const NumpyType& type : kNumpyTypes) {
    if (typestr.compare(1, std::string::npos, type.typestr) == 0) {
      return type.scalar_type;
    }
  }
  const std::string dtype = py::str(array.attr("dtype"));
  TORCH_CHECK_TYPE(
      false, "can't convert np.ndarray of type ", dtype,
      ". The only supported types are: float64, float32, float16, int64, int32, int16, int8, uint8, and bool.");
}

PyObject* tensor_from_numpy(PyObject*, PyObject* obj) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(is_numpy_array(obj), "expected np.ndarray (got ", Py_TYPE(obj)->tp_name, ")");
  const py::object array = py::reinterpret_borrow<py::object>(obj);
  const py::dict interface = array.attr("__array_interface__");
  const c10::ScalarType dtype = numpy_dtype_to_aten(interface["typestr"].cast<std::string>(), array);
  const int64_t itemsize = static_cast<int64_t>(c10::elementSize(dtype));
  c10::DimVector sizes, strides;
  for (py::handle size : array.attr("shape")) {
    sizes.push_back(size.cast<int64_t>());
  }
  for (py::handle bytes : array.attr("strides")) {
    const int64_t step = bytes.cast<int64_t>();
    TORCH_CHECK_VALUE(
        step >= 0,
        "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
        "currently supported. (You can probably work around this by making a copy of your array  with array.copy().)");
    TORCH_CHECK_VALUE(step % itemsize == 0,
                      "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
                      "reallocate the memory.");
    strides.push_back(step / itemsize);
  }
  const py::tuple data = interface["data"];
  if (data[1].cast<bool>() &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. "
                   "Writing to this tensor would change the array's memory.",
                   1) < 0) {
    return nullptr;
  }
  void* address = PyLong_AsVoidPtr(data[0].ptr());
  Py_INCREF(obj);
  c10::DataPtr data_ptr(
      address, obj,
      [](void* context) {
        if (Py_IsInitialized()) {
          py::gil_scoped_acquire gil;
          Py_DECREF(static_cast<PyObject*>(context));
        }
      },
      c10::Device(c10::DeviceType::CPU));
  c10::Storage storage(at::detail::computeStorageNbytes(sizes, strides, static_cast<size_t>(itemsize)),
                       std::move(data_ptr));
  const auto keys = c10::DispatchKeySet(c10::DispatchKey::CPU) | c10::autograd_dispatch_keyset;
  at::Tensor t(c10::make_intrusive<c10::TensorImpl>(std::move(storage), keys, dtype));
  t.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, 0);
  return THPVariable_Wrap(t);
  END_HANDLE_TH_ERRORS
}

PyObject* THPVariable_numpy(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"force", nullptr};
  int force = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$p:numpy", const_cast<char**>(keywords), &force)) {
    return nullptr;
  }
  const at::Tensor& t = THPVariable_Unpack(self);
  TORCH_CHECK(force || !t.requires_grad(),
              "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
  TORCH_CHECK_TYPE(t.device().is_cpu(), "can't convert ", t.device(),
                   " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
                   "host memory first.");
  const char* typestr = nullptr;
  for (const NumpyType& type : kNumpyTypes) {
    typestr = type.scalar_type == t.scalar_type() ? type.typestr : typestr;
  }
  TORCH_CHECK_TYPE(typestr != nullptr, "Got unsupported ScalarType ", t.scalar_type());
  const int64_t itemsize = static_cast<int64_t>(t.itemsize());
  py::tuple shape(t.dim()), strides(t.dim());
  for (int64_t i = 0; i < t.dim(); i++) {
    shape[i] = py::int_(t.sizes()[i]);
    strides[i] = py::int_(t.strides()[i] * itemsize);
  }
  const std::string order = itemsize == 1 ? "|" : "<";
  // The array's base is this holder, which keeps the tensor (and so the memory) alive.
  const py::object holder =
      py::module_::import("reftorch._utils")
          .attr("ArrayInterface")(py::handle(self),
                                  py::reinterpret_steal<py::object>(PyLong_FromVoidPtr(
                                      t.storage().mutable_data() == nullptr ? nullptr : t.data_ptr())),
                                  shape, strides, order + typestr);
  return py::module_::import("numpy").attr("asarray")(holder).release().ptr();
  END_HANDLE_TH_ERRORS
}

} // namespace reftorch::torch
