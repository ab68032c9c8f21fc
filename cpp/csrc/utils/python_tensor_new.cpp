// Mirrors: torch/csrc/utils/tensor_new.cpp, torch/csrc/utils/tensor_list.cpp
//
// Makes tensors from Python data, and Python data from tensors: torch.tensor(nested lists), torch.Tensor(2, 3),
// x.tolist(). Left out: sparse constructors, storages.
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/autograd/python_variable_methods.h>
#include <csrc/python_dtype.h>
#include <csrc/python_gil.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/python_arg_parser.h>
#include <csrc/utils/python_other_library.h>
#include <csrc/utils/python_recursion.h>

#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/HostData.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/PythonFallbackKernel.h>
#include <ATen/functorch/DynamicLayer.h>
#include <c10/util/Load.h>

#include <cmath>
#include <cstring>

namespace reftorch::torch {

namespace {

constexpr int kMaxDims = 128;

// Keeps a borrowed object alive while code that may run Python works on it.
struct HeldObject {
  explicit HeldObject(PyObject* borrowed) : obj(Py_NewRef(borrowed)) {}
  ~HeldObject() {
    Py_DECREF(obj);
  }
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;
  PyObject* const obj;
};

bool is_nested_sequence(PyObject* obj) {
  return PySequence_Check(obj) && !THPVariable_Check(obj) && !PyUnicode_Check(obj) && !PyBytes_Check(obj);
}

void check_is_number(PyObject* obj) {
  TORCH_CHECK_TYPE(!PyUnicode_Check(obj) && !PyBytes_Check(obj), "new(): invalid data type '", Py_TYPE(obj)->tp_name,
                   "'");
  const bool one_element = THPVariable_Check(obj) && THPVariable_Unpack(obj).numel() == 1;
  TORCH_CHECK_VALUE(!THPVariable_Check(obj) || one_element,
                    "only one element tensors can be converted to Python scalars");
  TORCH_CHECK(one_element || is_python_number(obj), "Could not infer dtype of ", type_name_of(obj));
}

// Returns the shape of nested data, which the first element of every level determines.
c10::DimVector compute_sizes(PyObject* data) {
  c10::DimVector sizes;
  PyObject* level = Py_NewRef(data);
  while (is_nested_sequence(level)) {
    const Py_ssize_t length = PySequence_Length(level);
    if (length < 0) {
      Py_DECREF(level);
      throw_python_error();
    }
    sizes.push_back(length);
    TORCH_CHECK_VALUE(sizes.size() <= kMaxDims, "too many dimensions '", Py_TYPE(data)->tp_name, "'");
    PyObject* first = length > 0 ? PySequence_GetItem(level, 0) : nullptr;
    Py_DECREF(level);
    if (length > 0 && first == nullptr) {
      throw_python_error();
    }
    if (first == nullptr) {
      return sizes;
    }
    level = first;
  }
  if (!sizes.empty() && PyUnicode_Check(level)) { // a str never ends: each letter is again a str
    Py_DECREF(level);
    TORCH_CHECK_VALUE(false, "too many dimensions 'str'");
  }
  Py_DECREF(level);
  return sizes;
}

// Returns the narrowest of bool, int64 and the default float dtype that holds every element. A tensor among the
// elements counts with its own dtype.
c10::ScalarType infer_scalar_type(PyObject* data, GilYield& gil) {
  gil.step();
  if (THPVariable_Check(data)) {
    return THPVariable_Unpack(data).scalar_type();
  }
  if (is_numpy_array(data) || is_numpy_scalar(data)) {
    return numpy_scalar_type(data);
  }
  if (!is_nested_sequence(data)) {
    check_is_number(data);
    if (PyLong_Check(data) && !PyBool_Check(data)) {
      return c10::kLong; // an int of any size; recursive_store reports an int that does not fit
    }
    const c10::Scalar value = unpack_scalar(data);
    return value.isFloatingPoint() ? at::get_default_dtype() : value.type();
  }
  c10::ScalarType result = c10::ScalarType::Undefined;
  const RecursiveCall recursive_call(" while a tensor is made of nested sequences");
  PyObject* fast = PySequence_Fast(data, "not a sequence");
  if (fast == nullptr) {
    throw_python_error();
  }
  try {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); i++) {
      const HeldObject item(PySequence_Fast_GET_ITEM(fast, i));
      TORCH_CHECK_TYPE(item.obj != data, "new(): self-referential lists are incompatible");
      const c10::ScalarType type = infer_scalar_type(item.obj, gil);
      result = result == c10::ScalarType::Undefined ? type : c10::promoteTypes(result, type);
      if (result == c10::kDouble) {
        break;
      }
    }
  } catch (...) {
    Py_DECREF(fast);
    throw;
  }
  Py_DECREF(fast);
  return result == c10::ScalarType::Undefined ? at::get_default_dtype() : result;
}

template <typename T>
void store(char* data, PyObject* obj) {
  if constexpr (!std::is_integral_v<T>) {
    if (PyLong_Check(obj) && !PyBool_Check(obj)) { // an int of any size
      const double value = PyLong_AsDouble(obj);
      if (value == -1.0 && PyErr_Occurred()) {
        throw_python_error();
      }
      *reinterpret_cast<T*>(data) = c10::Scalar(value).wrapped_to<T>();
      return;
    }
  }
  if constexpr (std::is_same_v<T, bool>) {
    if (PyLong_Check(obj)) {
      *reinterpret_cast<bool*>(data) = PyObject_IsTrue(obj) == 1;
      return;
    }
  }
  const c10::Scalar value = PyLong_Check(obj) ? c10::Scalar(unpack_int(obj)) : unpack_scalar(obj);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using limit = std::numeric_limits<T>;
    // As in PyTorch, an unsigned T accepts negative integers modulo its range (255 may be written as -1), but no
    // negative floats.
    const bool fits =
        value.isFloatingPoint()
            ? value.toDouble() >= double(limit::lowest()) &&
                  (sizeof(T) == sizeof(int64_t) ? value.toDouble() < 0x1p63 : value.toDouble() <= double(limit::max()))
            : value.toLong() <= int64_t(limit::max()) &&
                  value.toLong() >= (limit::is_signed ? int64_t(limit::lowest()) : -int64_t(limit::max()));
    TORCH_CHECK(fits, "value cannot be converted to type ", c10::dtypeName(c10::CppTypeToScalarType<T>::value),
                " without overflow");
  }
  *reinterpret_cast<T*>(data) = value.wrapped_to<T>();
}

void store_scalar(char* data, c10::ScalarType dtype, PyObject* obj) {
  at::dispatch<at::AllTypesAndBool>(dtype, "tensor", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    store<scalar_t>(data, obj);
  });
}

// Writes level `dim` of nested data. Throws a ValueError if the nesting is ragged.
char* recursive_store(char* data, c10::IntArrayRef sizes, size_t dim, c10::ScalarType type, PyObject* obj,
                      GilYield& gil) {
  const int64_t itemsize = static_cast<int64_t>(c10::elementSize(type));
  if (dim == sizes.size()) {
    TORCH_CHECK_TYPE(!is_nested_sequence(obj) || PyNumber_Check(obj),
                     c10::isFloatingType(type)
                         ? c10::str("must be real number, not ", Py_TYPE(obj)->tp_name)
                         : c10::str("'", Py_TYPE(obj)->tp_name, "' object cannot be interpreted as an integer"),
                     ". Hint: every sequence of one level must have the same length and depth.");
    check_is_number(obj);
    store_scalar(data, type, obj);
    gil.step();
    return data + itemsize;
  }
  TORCH_CHECK_TYPE(PySequence_Check(obj) && !PyUnicode_Check(obj), "not a sequence");
  PyObject* fast = PySequence_Fast(obj, "not a sequence");
  if (fast == nullptr) {
    throw_python_error();
  }
  try {
    // PySequence_Fast returns a list itself, not a copy. Another thread, or the __float__ of an element, may change the
    // list meanwhile. So each step reads the length again and holds a reference to the element.
    for (Py_ssize_t i = 0; i <= sizes[dim]; i++) {
      const Py_ssize_t length = PySequence_Fast_GET_SIZE(fast);
      TORCH_CHECK_VALUE(length == sizes[dim], "expected sequence of length ", sizes[dim], " at dim ", dim, " (got ",
                        length, ")");
      if (i < length) {
        const HeldObject item(PySequence_Fast_GET_ITEM(fast, i));
        data = recursive_store(data, sizes, dim + 1, type, item.obj, gil);
      }
    }
  } catch (...) {
    Py_DECREF(fast);
    throw;
  }
  Py_DECREF(fast);
  return data;
}

// Returns the tensor of a new reference; throws python_error for null.
at::Tensor take_tensor(PyObject* obj) {
  if (obj == nullptr) {
    throw_python_error();
  }
  return THPVariable_Take(obj);
}

at::Tensor copy_of(const at::Tensor& t, c10::ScalarType dtype) {
  const GilReleaseWhenLong no_gil(t.numel());
  return at::to(t, dtype == c10::ScalarType::Undefined ? t.scalar_type() : dtype, /*non_blocking=*/false,
                /*copy=*/true);
}

// A tensor made of Python data. Does not call lift_fresh.
at::Tensor new_from_data(PyObject* data, c10::ScalarType dtype) {
  if (is_numpy_array(data)) {
    return copy_of(take_tensor(tensor_from_numpy(nullptr, data)), dtype);
  }
  if (THPVariable_Check(data)) {
    return copy_of(at::detach(THPVariable_Unpack(data)), dtype);
  }
  if (!PyList_Check(data) && !PyTuple_Check(data) && !is_python_number(data) &&
      PyObject_HasAttrString(data, "__dlpack__")) {
    PyObject* module = PyImport_ImportModule("reftorch.utils.dlpack");
    PyObject* shared = module != nullptr ? PyObject_CallMethod(module, "from_dlpack", "O", data) : nullptr;
    Py_XDECREF(module);
    return copy_of(take_tensor(shared), dtype);
  }
  if (PyList_Check(data) && PyList_GET_SIZE(data) > 0 && is_numpy_array(PyList_GET_ITEM(data, 0))) {
    TORCH_WARN_ONCE(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the ",
        "list to a single numpy.ndarray with numpy.array() before converting to a tensor.");
  }
  GilYield gil; // see Note [GIL and kernels]
  const c10::DimVector sizes = compute_sizes(data);
  if (dtype == c10::ScalarType::Undefined) {
    dtype = infer_scalar_type(data, gil);
  }
  at::Tensor t = at::detail::empty_generic(sizes, dtype);
  if (t.numel() > 0) {
    recursive_store(static_cast<char*>(at::host_data(t, "tensor")), sizes, 0, dtype, data, gil);
  }
  return t;
}

at::Tensor tensor_from_data(PyObject* data, c10::ScalarType dtype) {
  if (THPVariable_Check(data)) {
    return new_from_data(data, dtype); // a mode sees the copy of the caller's tensor
  }
  at::Tensor made;
  {
    const c10::impl::ExcludeDispatchKeyGuard unseen(c10::DispatchKey::Python);
    made = new_from_data(data, dtype);
  }
  return show_to_mode(made);
}

PyObject* tolist_level(const at::Tensor& t, const char* data, int64_t dim, GilYield& gil) {
  if (dim == t.dim()) {
    gil.step();
    return at::dispatch<at::AllTypesAndBool>(t.scalar_type(), "tolist", [&](auto type) -> PyObject* {
      using scalar_t = typename decltype(type)::type;
      const auto value = c10::load<scalar_t>(data);
      if constexpr (std::is_same_v<scalar_t, bool>) {
        return PyBool_FromLong(value);
      } else if constexpr (std::is_integral_v<scalar_t>) {
        return PyLong_FromLongLong(value);
      } else {
        return PyFloat_FromDouble(static_cast<double>(value));
      }
    });
  }
  const int64_t size = t.sizes()[dim], step = t.strides()[dim] * static_cast<int64_t>(t.itemsize());
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(size));
  for (int64_t i = 0; list != nullptr && i < size; i++) {
    PyObject* item = tolist_level(t, data + i * step, dim + 1, gil);
    if (item == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, i, item);
  }
  return list;
}

} // namespace

at::Tensor show_to_mode(const at::Tensor& made) {
  const c10::impl::LocalDispatchKeySet& local = c10::impl::tls_local_dispatch_key_set;
  if (!(local.included_ - local.excluded_).has(c10::DispatchKey::Python)) {
    return made;
  }
  const c10::impl::ExcludeDispatchKeyGuard unrecorded(at::after_Python_keyset); // else the result is a view
  return at::lift_fresh(made);
}

PyObject* THPVariable_tolist(PyObject* self, PyObject*) {
  HANDLE_TH_ERRORS
  at::Tensor t = at::functorch::materialize(THPVariable_Unpack(self), "calling .tolist()");
  if (!t.device().is_cpu()) {
    const GilReleaseWhenLong gil(t.numel());
    t = at::_to_copy(t, std::nullopt, at::Device(), /*non_blocking=*/false, at::MemoryFormat::Preserve);
  }
  if (t.numel() >= c10::LongWork::kNumel) {
    const GilReleaseWhenLong gil(t.numel());
    t = at::clone(at::detach(t)); // the loop lets other threads run, and one may resize the tensor
  }
  GilYield gil;
  return tolist_level(t, static_cast<const char*>(at::host_data(t, "tolist")), 0, gil);
  END_HANDLE_TH_ERRORS
}

// Checks the arguments of torch.tensor in order to raise PyTorch's messages; Python's own parser has other messages.
static void check_ctor_arguments(PyObject* args, PyObject* kwargs, const char* const* keywords) {
  const Py_ssize_t nargs = PyTuple_GET_SIZE(args);
  TORCH_CHECK_TYPE(nargs <= 1, "tensor() takes 1 positional argument but ", nargs, " were given");
  TORCH_CHECK_TYPE(nargs == 1 || (kwargs != nullptr && PyDict_GetItemString(kwargs, "data") != nullptr),
                   "tensor() missing 1 required positional arguments: \"data\"");
  Py_ssize_t position = 0;
  PyObject *key, *value;
  while (kwargs != nullptr && PyDict_Next(kwargs, &position, &key, &value)) {
    bool known = false;
    for (const char* const* keyword = keywords; *keyword != nullptr; keyword++) {
      known = known || PyUnicode_CompareWithASCIIString(key, *keyword) == 0;
    }
    TORCH_CHECK_TYPE(known, "tensor() got an unexpected keyword argument '", unpack_string(key), "'");
  }
}

PyObject* tensor_ctor(PyObject* module, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"data", "dtype", "device", "requires_grad", "pin_memory", nullptr};
  PyObject *data = nullptr, *dtype = Py_None, *device = Py_None;
  int requires_grad = 0, pin_memory = 0;
  check_ctor_arguments(args, kwargs, keywords);
  if (torch_function_mode_enabled()) {
    PyObject* func = PyObject_GetAttrString(module, "tensor");
    PyObject* answer = func != nullptr ? handle_torch_function(func, args, kwargs, {}, "torch.tensor") : nullptr;
    Py_XDECREF(func);
    return answer;
  }
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOpp:tensor", const_cast<char**>(keywords), &data, &dtype, &device,
                                   &requires_grad, &pin_memory)) {
    return nullptr;
  }
  const c10::ScalarType type = dtype == Py_None ? c10::ScalarType::Undefined : scalar_type_from_python(dtype);
  TORCH_CHECK_TYPE(dtype == Py_None || type != c10::ScalarType::Undefined,
                   "tensor(): argument 'dtype' must be torch.dtype, not ", Py_TYPE(dtype)->tp_name);
  if (THPVariable_Check(data)) {
    TORCH_WARN("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or ",
               "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).");
  }
  at::Tensor made = tensor_from_data(data, type);
  if (pin_memory) {
    const c10::Device where =
        device == Py_None ? made.device() : unpack_argument(at::TypeKind::Device, 0, device).toDevice();
    at::Tensor pinned = at::detail::empty_strided_generic(made.sizes(), made.strides(), made.scalar_type(), where,
                                                          /*pin_memory=*/true);
    made = at::copy_(pinned, made);
  }
  TORCH_CHECK(!requires_grad || made.is_floating_point(),
              "Only Tensors of floating point and complex dtype can require gradients");
  PyObject* result = THPVariable_Wrap(at::functorch::lift_fresh(made));
  if (result != nullptr && device != Py_None) {
    PyObject* moved = PyObject_CallMethod(result, "to", "O", device);
    Py_DECREF(result);
    result = moved;
  }
  if (result != nullptr && requires_grad && PyObject_SetAttrString(result, "requires_grad", Py_True) < 0) {
    Py_DECREF(result);
    return nullptr;
  }
  return result;
  END_HANDLE_TH_ERRORS
}

static c10::DimVector unpack_sizes(PyObject* sizes) {
  try {
    return unpack_ints(PySequence_Fast_ITEMS(sizes), PyTuple_GET_SIZE(sizes));
  } catch (const c10::TypeError& error) {
    TORCH_CHECK_TYPE(false, "new(): argument 'size' ", error.what());
  }
}

static void check_legacy_device(PyObject* device) {
  if (device != Py_None) {
    const c10::Device wanted =
        THPDevice_Check(device) ? reinterpret_cast<THPDevice*>(device)->device : c10::Device(unpack_string(device));
    TORCH_CHECK(wanted.is_cpu(),
                "legacy constructor expects device type: cpu but device type: ", c10::DeviceTypeName(wanted.type()),
                " was passed");
  }
}

PyObject* THPVariable_pynew(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(reinterpret_cast<PyObject*>(type) != reinterpret_cast<PyObject*>(THPVariableBaseType),
                   "cannot create 'torch._C.TensorBase' instances");
  static const char* keywords[] = {"device", nullptr};
  PyObject* empty = PyTuple_New(0);
  PyObject* device = Py_None;
  const bool parsed = PyArg_ParseTupleAndKeywords(empty, kwargs, "|O:new", const_cast<char**>(keywords), &device);
  Py_DECREF(empty);
  if (!parsed) {
    return nullptr;
  }
  check_legacy_device(device);
  const Py_ssize_t nargs = PyTuple_GET_SIZE(args);
  PyObject* first = nargs > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  at::Tensor result;
  if (first == nullptr) {
    result = at::detail::empty_generic({0}, at::get_default_dtype());
  } else if (nargs == 1 && THPVariable_Check(first)) {
    result = at::Tensor(
        THPVariable_Unpack(first).unsafeGetTensorImpl()->shallow_copy_and_detach(/*allow_version_sharing=*/true));
  } else if (is_index(first) || (nargs == 1 && Py_TYPE(first) == THPSizeType)) {
    PyObject* sizes = Py_TYPE(first) == THPSizeType ? first : args;
    result = at::detail::empty_generic(unpack_sizes(sizes), at::get_default_dtype());
  } else {
    TORCH_CHECK_TYPE(!PyUnicode_Check(first), "new(): invalid data type 'str'");
    TORCH_CHECK_TYPE(nargs == 1 && (is_nested_sequence(first) || is_numpy_array(first)),
                     "new(): data must be a sequence (got ", type_name_of(first), ")");
    result = tensor_from_data(first, at::get_default_dtype());
  }
  return THPVariable_NewWithVar(type, std::move(result));
  END_HANDLE_TH_ERRORS
}

} // namespace reftorch::torch
