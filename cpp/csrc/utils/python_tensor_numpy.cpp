// Mirrors: torch/csrc/utils/tensor_numpy.cpp
//
// Makes tensors and numpy arrays that share memory: no element is copied either way, and each side keeps the other
// alive. pybind11 knows the memory layout of an array and imports numpy when a function first needs it. So this file
// needs numpy neither for compiling nor for importing reftorch. Left out: complex numbers.
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/autograd/python_variable_methods.h>
#include <csrc/python_dtype.h>
#include <csrc/python_gil.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/python_arg_parser.h>
#include <csrc/utils/python_other_library.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/HostData.h>
#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/Geometry.h>
#include <c10/core/GradMode.h>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace reftorch::torch {

namespace py = pybind11;

using numpy = py::detail::npy_api;

struct NumpyType {
  c10::ScalarType scalar_type;
  int number; // numpy's type number; pybind11's normalized_num maps the several numbers for one size to this one
};
constexpr int kNumpyHalf = 23;
static constexpr NumpyType kNumpyTypes[] = {
    {c10::kDouble, numpy::NPY_DOUBLE_}, {c10::kFloat, numpy::NPY_FLOAT_}, {c10::kHalf, kNumpyHalf},
    {c10::kLong, numpy::NPY_INT64_},    {c10::kInt, numpy::NPY_INT32_},   {c10::kShort, numpy::NPY_INT16_},
    {c10::kChar, numpy::NPY_INT8_},     {c10::kByte, numpy::NPY_UINT8_},  {c10::kBool, numpy::NPY_BOOL_},
};

bool is_numpy_array(PyObject* obj) {
  for (const PyTypeObject* type = Py_TYPE(obj); type != nullptr; type = type->tp_base) { // also masked arrays, matrices
    if (std::strcmp(type->tp_name, "numpy.ndarray") == 0) {
      return true;
    }
  }
  return false;
}

static c10::ScalarType numpy_dtype_to_aten(const py::dtype& dtype) {
  TORCH_CHECK_VALUE(dtype.byteorder() != '>',
                    "given numpy array has byte order different from the native byte order. Conversion between byte "
                    "orders is currently not supported.");
  for (const NumpyType& type : kNumpyTypes) {
    if (dtype.normalized_num() == type.number) {
      return type.scalar_type;
    }
  }
  const std::string name = py::str(dtype.attr("type").attr("__name__"));
  TORCH_CHECK_TYPE(
      false, "can't convert np.ndarray of type numpy.", name,
      ". The only supported types are: float64, float32, float16, int64, int32, int16, int8, uint8, and bool.");
}

// Returns a tensor on memory that `owner` keeps alive.
static PyObject* tensor_on(void* address, PyObject* owner, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                           c10::ScalarType dtype) {
  const size_t nbytes = c10::check_geometry(sizes, strides, 0, c10::elementSize(dtype));
  Py_INCREF(owner);
  c10::DataPtr data_ptr(
      address, owner, [](void* context) { decref_anywhere(static_cast<PyObject*>(context)); },
      c10::Device(c10::DeviceType::CPU));
  c10::Storage storage(nbytes, std::move(data_ptr));
  const auto keys = c10::DispatchKeySet(c10::DispatchKey::CPU) | c10::autograd_dispatch_keyset;
  at::Tensor t(c10::make_intrusive<c10::TensorImpl>(std::move(storage), keys, dtype));
  t.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, 0);
  return THPVariable_Wrap(show_to_mode(t));
}

c10::ScalarType numpy_scalar_type(PyObject* obj) {
  return numpy_dtype_to_aten(py::reinterpret_borrow<py::object>(obj).attr("dtype"));
}

PyObject* tensor_from_numpy(PyObject* module, PyObject* obj) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(is_numpy_array(obj), "expected np.ndarray (got ", type_name_of(obj), ")");
  const py::detail::PyArray_Proxy* array = py::detail::array_proxy(obj); // py::array would check the class first
  const c10::ScalarType dtype = numpy_dtype_to_aten(py::reinterpret_borrow<py::dtype>(array->descr));
  const int64_t itemsize = static_cast<int64_t>(c10::elementSize(dtype));
  c10::DimVector sizes(array->dimensions, array->dimensions + array->nd), strides;
  for (int d = 0; d < array->nd; d++) {
    const int64_t step = array->strides[d];
    TORCH_CHECK_VALUE(
        step >= 0,
        "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
        "currently supported. (You can probably work around this by making a copy of your array  with array.copy().)");
    TORCH_CHECK_VALUE(step % itemsize == 0,
                      "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
                      "reallocate the memory.");
    strides.push_back(step / itemsize);
  }
  // torch.tensor passes no module. It copies the elements at once, so it needs no warning.
  const bool writeable = (array->flags & numpy::NPY_ARRAY_WRITEABLE_) != 0;
  if (module != nullptr && !writeable) {
    TORCH_WARN_ONCE("The given NumPy array is not writable, and PyTorch does not support non-writable tensors. ",
                    "Writing to this tensor would change the array's memory.");
  }
  return tensor_on(array->data, obj, sizes, strides, dtype);
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
    TORCH_WARN_ONCE("The given buffer is not writable, and PyTorch does not support non-writable tensors. Writing to ",
                    "this tensor would change the buffer's memory.");
    if (PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE) < 0) {
      return nullptr;
    }
  }
  void* address = static_cast<char*>(view.buf) + offset;
  const int64_t length = view.len;
  PyBuffer_Release(&view); // the tensor keeps the object alive, and the object keeps the memory
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
  if (force && !t.device().is_cpu()) {
    const at::Tensor copy =
        at::_to_copy(t, std::nullopt, at::Device(), /*non_blocking=*/false, at::MemoryFormat::Preserve);
    const auto object = steal(THPVariable_Wrap(copy));
    return THPVariable_numpy(object.ptr(), args, kwargs);
  }
  TORCH_CHECK(force || !(c10::GradMode::is_enabled() && t.requires_grad()),
              "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
  TORCH_CHECK(!t.key_set().has(c10::DispatchKey::Python), ".numpy() is not supported for tensor subclasses.");
  TORCH_CHECK_TYPE(t.device().is_cpu(), "can't convert ", t.device(),
                   " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
                   "host memory first.");
  const auto* type = std::find_if(std::begin(kNumpyTypes), std::end(kNumpyTypes),
                                  [&](const NumpyType& known) { return known.scalar_type == t.scalar_type(); });
  TORCH_CHECK_TYPE(type != std::end(kNumpyTypes), "Got unsupported ScalarType ", t.scalar_type());
  const int64_t itemsize = static_cast<int64_t>(t.itemsize());
  std::vector<py::ssize_t> shape(t.sizes().begin(), t.sizes().end()), strides;
  for (int64_t stride : t.strides()) {
    strides.push_back(stride * itemsize);
  }
  const void* data = t.storage().mutable_data() == nullptr ? nullptr : at::host_data(t, "numpy");
  // The base of the array is the tensor, which keeps the storage alive. From now on the storage must not move its
  // memory.
  t.storage().storage_impl_->resizable_ = false;
  return py::array(py::dtype(type->number), std::move(shape), std::move(strides), data, py::handle(self))
      .release()
      .ptr();
  END_HANDLE_TH_ERRORS
}

} // namespace reftorch::torch
