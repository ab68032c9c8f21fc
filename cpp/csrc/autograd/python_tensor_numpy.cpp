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
#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/GradMode.h>

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
  for (const PyTypeObject* type = Py_TYPE(obj); type != nullptr; type = type->tp_base) { // also masked arrays, matrices
    if (std::strcmp(type->tp_name, "numpy.ndarray") == 0) {
      return true;
    }
  }
  return false;
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
  const std::string dtype = py::str(array.attr("dtype").attr("type").attr("__name__"));
  TORCH_CHECK_TYPE(
      false, "can't convert np.ndarray of type numpy.", dtype,
      ". The only supported types are: float64, float32, float16, int64, int32, int16, int8, uint8, and bool.");
}

// A tensor on memory that `owner` keeps alive.
static PyObject* tensor_on(void* address, PyObject* owner, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                           c10::ScalarType dtype) {
  Py_INCREF(owner);
  c10::DataPtr data_ptr(
      address, owner,
      [](void* context) {
        if (Py_IsInitialized()) {
          py::gil_scoped_acquire gil;
          Py_DECREF(static_cast<PyObject*>(context));
        }
      },
      c10::Device(c10::DeviceType::CPU));
  c10::Storage storage(at::detail::computeStorageNbytes(sizes, strides, c10::elementSize(dtype)), std::move(data_ptr));
  const auto keys = c10::DispatchKeySet(c10::DispatchKey::CPU) | c10::autograd_dispatch_keyset;
  at::Tensor t(c10::make_intrusive<c10::TensorImpl>(std::move(storage), keys, dtype));
  t.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, 0);
  return THPVariable_Wrap(t);
}

c10::ScalarType numpy_scalar_type(PyObject* obj) {
  const py::object array = py::reinterpret_borrow<py::object>(obj);
  return numpy_dtype_to_aten(array.attr("dtype").attr("str").cast<std::string>(), array);
}

PyObject* tensor_from_numpy(PyObject* module, PyObject* obj) {
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
  // Without a module (for torch.tensor) the elements are copied at once: then it matters to nobody.
  if (module != nullptr && data[1].cast<bool>()) {
    TORCH_WARN("The given NumPy array is not writable, and PyTorch does not support non-writable tensors. ",
               "Writing to this tensor would change the array's memory.");
  }
  return tensor_on(PyLong_AsVoidPtr(data[0].ptr()), obj, sizes, strides, dtype);
  END_HANDLE_TH_ERRORS
}

static int64_t checked_buffer_count(int64_t length, int64_t itemsize, int64_t count, int64_t offset) {
  TORCH_CHECK_VALUE(length > 0 && count != 0, "both buffer length (", length, ") and count (", count,
                    ") must not be 0");
  TORCH_CHECK_VALUE(offset >= 0 && offset < length, "offset (", offset,
                    " bytes) must be non-negative and no greater than buffer length (", length, " bytes) minus 1");
  if (count < 0) {
    TORCH_CHECK_VALUE((length - offset) % itemsize == 0, "buffer length (", length - offset, " bytes) after offset (",
                      offset, " bytes) must be a multiple of element size (", itemsize, ")");
    return (length - offset) / itemsize;
  }
  TORCH_CHECK_VALUE(count <= (length - offset) / itemsize, "requested buffer length (", count, " * ", itemsize,
                    " bytes) after offset (", offset, " bytes) must not be greater than actual buffer length (", length,
                    " bytes)");
  return count;
}

PyObject* tensor_frombuffer(PyObject*, PyObject* args) {
  HANDLE_TH_ERRORS
  PyObject *buffer = nullptr, *dtype_object = nullptr;
  Py_ssize_t count = -1, offset = 0;
  if (!PyArg_ParseTuple(args, "OOnn:frombuffer", &buffer, &dtype_object, &count, &offset)) {
    return nullptr;
  }
  const c10::ScalarType dtype = scalar_type_from_python(dtype_object);
  TORCH_CHECK_TYPE(dtype != c10::ScalarType::Undefined, "frombuffer(): argument 'dtype' must be torch.dtype, not ",
                   Py_TYPE(dtype_object)->tp_name);
  TORCH_CHECK_VALUE(PyObject_CheckBuffer(buffer), "object does not implement Python buffer protocol.");
  Py_buffer view;
  if (PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE) < 0) {
    PyErr_Clear();
    TORCH_WARN("The given buffer is not writable, and PyTorch does not support non-writable tensors. Writing to ",
               "this tensor would change the buffer's memory.");
    if (PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE) < 0) {
      return nullptr;
    }
  }
  void* address = static_cast<char*>(view.buf) + offset;
  const int64_t length = view.len;
  PyBuffer_Release(&view); // the object itself is what keeps the memory
  const int64_t n =
      checked_buffer_count(length, static_cast<int64_t>(c10::elementSize(dtype)), count, static_cast<int64_t>(offset));
  return tensor_on(address, buffer, n, int64_t(1), dtype);
  END_HANDLE_TH_ERRORS
}

PyObject* THPVariable_numpy(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"force", nullptr};
  int force = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$p:numpy", const_cast<char**>(keywords), &force)) {
    return nullptr;
  }
  const at::Tensor t = at::functorch::materialize(THPVariable_Unpack(self), "calling .numpy()");
  TORCH_CHECK(force || !(c10::GradMode::is_enabled() && t.requires_grad()),
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
