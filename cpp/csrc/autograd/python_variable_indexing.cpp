// Mirrors: torch/csrc/autograd/python_variable_indexing.cpp, aten/src/ATen/TensorIndexing.h
//
// x[i] walks over the elements of the index. Ints, slices, None and ... become views, one dimension at a time. Tensors,
// masks and lists are collected and go to at::index in one call. Left out: tracing, complex values.
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/autograd/python_variable_methods.h>
#include <csrc/python_gil.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/python_arg_parser.h>
#include <csrc/utils/python_other_library.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <ATen/functorch/TensorWrapper.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <memory>

namespace reftorch::torch {

Py_ssize_t THPVariable_length(PyObject* self) {
  HANDLE_TH_ERRORS
  if (self_has_torch_function(self)) {
    PyObject* answer = handle_torch_function_of_self(self, "__len__", {});
    PyObject* number = PyNumber_Index(answer);
    Py_DECREF(answer);
    const Py_ssize_t length = number != nullptr ? PyNumber_AsSsize_t(number, PyExc_OverflowError) : -1;
    Py_XDECREF(number);
    TORCH_CHECK_VALUE(length >= 0 || PyErr_Occurred() != nullptr, "__len__() should return >= 0");
    return length;
  }
  const at::Tensor& t = THPVariable_Unpack(self);
  TORCH_CHECK_TYPE(t.dim() > 0, "len() of a 0-d tensor");
  return static_cast<Py_ssize_t>(t.sizes()[0]);
  END_HANDLE_TH_ERRORS_RET(-1)
}

namespace {

using IndexTensors = c10::SmallVector<at::Tensor, 4>;

struct SliceBounds {
  int64_t start, stop, step;
};

SliceBounds unpack_slice(PyObject* slice, int64_t length) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(slice, &start, &stop, &step) < 0) {
    throw_python_error();
  }
  TORCH_CHECK_VALUE(step > 0, "step must be greater than zero");
  PySlice_AdjustIndices(static_cast<Py_ssize_t>(length), &start, &stop, step);
  return {start, stop, step};
}

bool is_bool_scalar(PyObject* obj) {
  return PyBool_Check(obj);
}

bool is_integer_index(PyObject* obj) {
  if (PyLong_Check(obj)) {
    return !PyBool_Check(obj);
  }
  if (!PyIndex_Check(obj) || THPVariable_Check(obj) || is_numpy_array(obj)) {
    return false;
  }
  check_not_of_other_library(obj); // a tensor of PyTorch also has __index__
  return true;
}

at::Tensor apply_select(const at::Tensor& self, int64_t dim, int64_t index, int64_t real_dim) {
  TORCH_CHECK_INDEX(
      !(index == 0 && dim == 0 && self.dim() == 0),
      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
      "tensor to a number");
  TORCH_CHECK_INDEX(self.dim() > dim, "too many indices for tensor of dimension ", self.dim());
  const int64_t size = self.sizes()[dim];
  TORCH_CHECK_INDEX(-size <= index && index < size, "index ", index, " is out of bounds for dimension ", real_dim,
                    " with size ", size);
  return at::select(self, dim, index);
}

bool is_mask(const at::Tensor& t) {
  return t.scalar_type() == c10::kBool || t.scalar_type() == c10::kByte;
}

// Returns the number of dimensions that an index consumes: a mask consumes as many as it has, any other tensor one.
int64_t num_indexed_dims(const at::Tensor& index) {
  return is_mask(index) ? index.dim() : 1;
}

// Makes a tensor of the values of a list or an array.
at::Tensor sequence_to_tensor(PyObject* obj) {
  PyObject* module = PyImport_ImportModule("reftorch._C");
  PyObject* t = module != nullptr ? PyObject_CallMethod(module, "tensor", "(O)", obj) : nullptr;
  Py_XDECREF(module);
  if (t == nullptr) {
    throw_python_error();
  }
  return THPVariable_Take(t);
}

// Makes an index tensor of a list or an array. A mask stays a mask; other numbers become int64, so that [] selects
// nothing.
at::Tensor sequence_to_index(PyObject* obj) {
  TORCH_CHECK_TYPE(!PyUnicode_Check(obj) && !PyBytes_Check(obj), "new(): invalid data type '", Py_TYPE(obj)->tp_name,
                   "'");
  const at::Tensor values = sequence_to_tensor(obj);
  return is_mask(values) ? values : at::to(values, c10::kLong);
}

// Returns the index tensor for a single bool: x[True] adds a dimension of size 1, x[False] one of size 0.
at::Tensor bool_to_indices(bool value) {
  return at::zeros({value ? 1 : 0}, c10::kLong);
}

int64_t count_specified_dims(PyObject* index) {
  int64_t count = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); i++) {
    PyObject* obj = PyTuple_GET_ITEM(index, i);
    if (THPVariable_Check(obj)) {
      count += num_indexed_dims(THPVariable_Unpack(obj));
    } else if (obj != Py_None && obj != Py_Ellipsis && !PyBool_Check(obj)) {
      count++;
    }
  }
  return count;
}

// Applies the parts of a tuple index that make views. Stores each tensor of the index in `indices`, at the place of the
// dimension that the tensor indexes.
at::Tensor apply_slicing(const at::Tensor& self, PyObject* index, IndexTensors& indices) {
  const int64_t specified = count_specified_dims(index);
  TORCH_CHECK_INDEX(specified <= self.dim(), "too many indices for tensor of dimension ", self.dim());
  at::Tensor result = self;
  int64_t dim = 0, real_dim = 0;
  int64_t covered = 0; // the number of dimensions that `indices` covers; an undefined entry takes a whole dimension
  auto record = [&](const at::Tensor& t) {
    indices.resize(indices.size() + static_cast<size_t>(dim - covered));
    indices.push_back(t);
    dim += num_indexed_dims(t);
    covered = dim;
  };
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); i++) {
    PyObject* obj = PyTuple_GET_ITEM(index, i);
    if (is_integer_index(obj)) {
      result = apply_select(result, dim, unpack_int(obj), real_dim);
      real_dim++;
    } else if (PySlice_Check(obj)) {
      const SliceBounds bounds = unpack_slice(obj, result.sizes()[dim]);
      if (bounds.start != 0 || bounds.stop != result.sizes()[dim] || bounds.step != 1) {
        result = at::slice(result, dim, bounds.start, bounds.stop, bounds.step);
      }
      dim++;
      real_dim++;
    } else if (obj == Py_Ellipsis) {
      dim += self.dim() - specified;
      real_dim += self.dim() - specified;
    } else if (obj == Py_None) {
      result = at::unsqueeze(result, dim);
      dim++;
    } else if (is_bool_scalar(obj)) {
      result = at::unsqueeze(result, dim);
      record(bool_to_indices(obj == Py_True));
    } else if (THPVariable_Check(obj)) {
      const at::Tensor& t = THPVariable_Unpack(obj);
      if (t.dim() == 0 && is_mask(t)) {
        result = at::unsqueeze(result, dim);
        record(bool_to_indices(t.item().toBool()));
      } else if (t.dim() == 0 && c10::isIntegralType(t.scalar_type(), /*includeBool=*/false) &&
                 !at::functorch::is_batched(t)) {
        result = apply_select(result, dim, t.item().toLong(), real_dim);
      } else {
        record(t);
      }
      real_dim++;
    } else if (is_numpy_array(obj) || PySequence_Check(obj)) {
      const at::Tensor t = sequence_to_index(obj);
      if (t.dim() == 0 && is_mask(t)) {
        result = at::unsqueeze(result, dim);
        record(bool_to_indices(t.item().toBool()));
      } else if (t.dim() == 0) {
        result = apply_select(result, dim, t.item().toLong(), real_dim);
      } else {
        record(t);
      }
      real_dim++;
    } else {
      TORCH_CHECK_INDEX(
          false,
          "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ",
          Py_TYPE(obj)->tp_name, ")");
    }
  }
  return result;
}

// Returns whether a sequence is read as a tuple. A list of plain numbers is one index. A short list that holds anything
// else is read as a tuple, as in old numpy: x[[0, slice(1)]] is x[0, :1], and x[[[0, 1], [1, 0]]] is x[[0, 1], [1, 0]].
bool treat_sequence_as_tuple(PyObject* index) {
  if (PyTuple_Check(index)) {
    return true;
  }
  constexpr Py_ssize_t kMaxDims = 32;
  if (THPVariable_Check(index) || is_numpy_array(index) || PyUnicode_Check(index) || PyBytes_Check(index) ||
      !PySequence_Check(index)) {
    return false;
  }
  const Py_ssize_t n = PySequence_Size(index);
  if (n < 0 || n >= kMaxDims) {
    PyErr_Clear();
    return false;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* obj = PySequence_GetItem(index, i);
    if (obj == nullptr) {
      PyErr_Clear();
      return false;
    }
    const bool is_index =
        THPVariable_Check(obj) || PySequence_Check(obj) || PySlice_Check(obj) || obj == Py_Ellipsis || obj == Py_None;
    Py_DECREF(obj);
    if (is_index) {
      return true;
    }
  }
  return false;
}

// Returns the index as a tuple, a new reference.
PyObject* wrap_tuple(PyObject* index) {
  const bool several = treat_sequence_as_tuple(index);
  if (several && !PyTuple_Check(index)) {
    TORCH_WARN("Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch ",
               "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, ",
               "x[torch.tensor(seq)], which will result either in an error or a different result");
  }
  PyObject* tuple = several ? PySequence_Tuple(index) : PyTuple_Pack(1, index);
  if (tuple == nullptr) {
    throw_python_error(); // the index is of a user's class whose __iter__ raised
  }
  return tuple;
}

// The two parts of an index: the view that its integers, slices, None and Ellipsis select, and the tensors for index().
struct Indexed {
  at::Tensor sliced;
  IndexTensors indices;

  Indexed(const at::Tensor& self, PyObject* index) {
    const std::unique_ptr<PyObject, void (*)(PyObject*)> tuple(wrap_tuple(index),
                                                               [](PyObject* obj) { Py_DECREF(obj); });
    sliced = apply_slicing(self, tuple.get(), indices);
  }
};

// Returns the tensor that x[index] = value writes.
at::Tensor value_to_tensor(const at::Tensor& self, PyObject* value) {
  if (THPVariable_Check(value)) {
    return THPVariable_Unpack(value);
  }
  if (is_int(value)) {
    return show_to_mode(at::detail::wrapped_scalar_tensor(unpack_int(value)));
  }
  if (PyFloat_Check(value) || PyBool_Check(value)) {
    return show_to_mode(at::detail::wrapped_scalar_tensor(unpack_scalar(value)));
  }
  check_not_of_other_library(value);
  TORCH_CHECK_TYPE(false, "can't assign a ", Py_TYPE(value)->tp_name, " to a torch.", c10::toString(self.scalar_type()),
                   "Tensor. Hint: make a tensor of it first.");
}

// Drops leading dimensions of size 1. Broadcasting adds them again where they are needed.
at::Tensor slice_prefix_ones(const at::Tensor& src) {
  int64_t drop = 0;
  while (drop < src.dim() && src.sizes()[drop] == 1) {
    drop++;
  }
  return drop == 0 ? src : at::view(at::contiguous(src), src.sizes().slice(drop, src.dim() - drop));
}

// Returns a number of elements that index() and index_put_() process at least; see Note [GIL and kernels].
int64_t largest_numel(at::TensorList indices) {
  int64_t numel = 0;
  for (const at::Tensor& index : indices) {
    numel = std::max(numel, index.defined() ? index.numel() : 0);
  }
  return numel;
}

at::Tensor dispatch_index(const at::Tensor& self, at::TensorList indices) {
  const GilReleaseWhenLong gil(largest_numel(indices));
  return at::index(self, indices);
}

void copy_to(at::Tensor dst, const at::Tensor& src) {
  const GilReleaseWhenLong gil(dst.numel());
  if (src.unsafeGetTensorImpl()->is_wrapped_number_ && !src.requires_grad()) {
    at::fill_(dst, src); // not fill_ by a number, which takes an expanded `dst`
    return;
  }
  at::copy_(dst, src.sizes() == dst.sizes() ? src : at::expand(slice_prefix_ones(src), dst.sizes()));
}

} // namespace

PyObject* THPVariable_getitem(PyObject* self, PyObject* index) {
  HANDLE_TH_ERRORS
  if (self_has_torch_function(self) || argument_has_torch_function(index)) {
    return handle_torch_function_of_self(self, "__getitem__", {index});
  }
  const at::Tensor& t = THPVariable_Unpack(self);
  if (is_integer_index(index)) {
    return THPVariable_Wrap(apply_select(t, 0, unpack_int(index), 0));
  }
  if (PySlice_Check(index)) {
    const SliceBounds bounds = unpack_slice(index, t.dim() > 0 ? t.sizes()[0] : 0); // the op refuses a 0-dim tensor
    return THPVariable_Wrap(at::slice(t, 0, bounds.start, bounds.stop, bounds.step));
  }
  if (index == Py_Ellipsis) {
    return THPVariable_Wrap(at::alias(t));
  }
  if (index == Py_None) {
    return THPVariable_Wrap(at::unsqueeze(t, 0));
  }
  if (THPVariable_Check(index)) { // a single tensor needs no tuple around it and no walk over the tuple
    const at::Tensor& places = THPVariable_Unpack(index);
    if (places.dim() > 0 && num_indexed_dims(places) <= t.dim()) {
      return THPVariable_Wrap(dispatch_index(t, places));
    }
  }
  auto [sliced, indices] = Indexed(t, index);
  if (indices.empty()) {
    return THPVariable_Wrap(sliced.is_same(t) ? at::alias(sliced) : sliced);
  }
  return THPVariable_Wrap(dispatch_index(sliced, indices));
  END_HANDLE_TH_ERRORS
}

int THPVariable_setitem(PyObject* self, PyObject* index, PyObject* value) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(value != nullptr, "Tensor does not support deleting items");
  if (self_has_torch_function(self) || argument_has_torch_function(index) || check_has_torch_function(value)) {
    Py_DECREF(handle_torch_function_of_self(self, "__setitem__", {index, value}));
    return 0;
  }
  const at::Tensor& t = THPVariable_Unpack(self);
  const at::Tensor src = value_to_tensor(t, value);
  if (index == Py_False) {
    return 0; // x[False] has no elements
  }
  if (index == Py_True || index == Py_None) {
    copy_to(at::unsqueeze(t, 0), src);
    return 0;
  }
  auto [sliced, indices] = Indexed(t, index);
  if (indices.empty()) {
    copy_to(sliced, src);
  } else {
    // A Python number is cast to the tensor's dtype, and so is a single element that fills a mask. Otherwise the dtypes
    // must be equal.
    const bool fills_mask =
        indices.size() == 1 && indices[0].scalar_type() == c10::kBool && src.numel() == 1 && indices[0].dim() > 0;
    const bool casts = src.unsafeGetTensorImpl()->is_wrapped_number_ || fills_mask;
    const GilReleaseWhenLong gil(std::max(largest_numel(indices), src.numel()));
    at::index_put_(sliced, indices, slice_prefix_ones(casts ? at::to(src, t.scalar_type()) : src));
  }
  return 0;
  END_HANDLE_TH_ERRORS_RET(-1)
}

} // namespace reftorch::torch
