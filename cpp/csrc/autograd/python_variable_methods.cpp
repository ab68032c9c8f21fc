// Mirrors: tools/autograd/templates/python_variable_methods.cpp, torch/csrc/autograd/python_variable.cpp
//
// The methods and properties of a tensor that need no op (geometry, item()), the operators, which call ops, and the
// slots of the type. The file is more than 500 lines long because one table at the end names all of them.
#include <csrc/autograd/python_variable_methods.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/function.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/autograd/variable.h>
#include <csrc/python_dispatch.h>
#include <csrc/python_dtype.h>
#include <csrc/python_gil.h>
#include <csrc/python_torch_dispatch.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/python_arg_parser.h>
#include <csrc/utils/python_other_library.h>

#include <ATen/Functions.h>
#include <ATen/TypePromotion.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/Geometry.h>

#include <cmath>

namespace reftorch::torch {

// ---- operators: each slot calls the op of its name

// clang-format off: the layout of this table would change from version to version
// Each row has the number of operands, the op, the slot, and the names under which __torch_function__ sees the
// operator: with the tensor on the left, and with the tensor on the right. The slots of the rows with OWN are written
// below.
#define FORALL_OPERATORS(_)                                                      \
  _(BINARY, add, nb_add, "add", "add")                                           \
  _(BINARY, mul, nb_multiply, "mul", "mul")                                      \
  _(BINARY, floor_divide, nb_floor_divide, "__floordiv__", "__rfloordiv__")      \
  _(BINARY, remainder, nb_remainder, "remainder", "__rmod__")                    \
  _(BINARY, matmul, nb_matrix_multiply, "matmul", "__rmatmul__")                 \
  _(BINARY, bitwise_and, nb_and, "__and__", "bitwise_and")                       \
  _(BINARY, bitwise_or, nb_or, "__or__", "bitwise_or")                           \
  _(BINARY, bitwise_xor, nb_xor, "__xor__", "bitwise_xor")                       \
  _(BINARY, bitwise_left_shift, nb_lshift, "__lshift__", "__rlshift__")          \
  _(BINARY, bitwise_right_shift, nb_rshift, "__rshift__", "__rrshift__")         \
  _(BINARY, add_, nb_inplace_add, "add_")                                        \
  _(BINARY, sub_, nb_inplace_subtract, "sub_")                                   \
  _(BINARY, mul_, nb_inplace_multiply, "mul_")                                   \
  _(BINARY, div_, nb_inplace_true_divide, "div_")                                \
  _(BINARY, floor_divide_, nb_inplace_floor_divide, "floor_divide_")             \
  _(BINARY, remainder_, nb_inplace_remainder, "remainder_")                      \
  _(BINARY, bitwise_and_, nb_inplace_and, "__iand__")                            \
  _(BINARY, bitwise_or_, nb_inplace_or, "__ior__")                               \
  _(BINARY, bitwise_xor_, nb_inplace_xor, "__ixor__")                            \
  _(BINARY, bitwise_left_shift_, nb_inplace_lshift, "__ilshift__")               \
  _(BINARY, bitwise_right_shift_, nb_inplace_rshift, "__irshift__")              \
  _(UNARY, neg, nb_negative, "neg")                                              \
  _(UNARY, positive, nb_positive, "positive")                                    \
  _(UNARY, abs, nb_absolute, "abs")                                              \
  _(OWN, bitwise_not, nb_invert)                                                 \
  _(OWN, sub, nb_subtract)                                                       \
  _(OWN, true_divide, nb_true_divide)                                            \
  _(OWN, pow, nb_power)                                                          \
  _(OWN, pow_, nb_inplace_power)
// clang-format on

struct Operators {
#define DECLARE(kind, op, ...) PyObject* op = nullptr;
  FORALL_OPERATORS(DECLARE)
#undef DECLARE
  PyObject *rsub = nullptr, *reciprocal = nullptr;
  PyObject* comparisons[6] = {};
};
static Operators operators;

#define DEFINE_UNARY(op, slot, name)                                   \
  static PyObject* slot(PyObject* self) {                              \
    return call_operator(operators.op, OperatorNames{name}, &self, 1); \
  }
#define DEFINE_OWN(op, slot)
#define DEFINE_BINARY(op, slot, ...)                                         \
  static PyObject* slot(PyObject* self, PyObject* other) {                   \
    PyObject* args[] = {self, other};                                        \
    return call_operator(operators.op, OperatorNames{__VA_ARGS__}, args, 2); \
  }
#define DEFINE_SLOT(kind, ...) DEFINE_##kind(__VA_ARGS__)
FORALL_OPERATORS(DEFINE_SLOT)

// The error of the operator ~ on floats is Python's TypeError; the op itself would report a missing kernel.
static PyObject* nb_invert(PyObject* self) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(self_has_torch_function(self) ||
                       c10::isIntegralType(THPVariable_Unpack(self).scalar_type(), /*includeBool=*/true),
                   "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
  return call_operator(operators.bitwise_not, {"__invert__", nullptr}, &self, 1);
  END_HANDLE_TH_ERRORS
}

// 2 - x is rsub(x, 2), and 2 / x is reciprocal(x) * 2.
static PyObject* nb_subtract(PyObject* left, PyObject* right) {
  PyObject* args[] = {left, right, left};
  return is_python_number(left) ? call_operator(operators.rsub, {"__rsub__", nullptr}, args + 1, 2)
                                : call_operator(operators.sub, {"sub", "__rsub__"}, args, 2);
}
static PyObject* nb_true_divide(PyObject* left, PyObject* right) {
  if (is_numpy_array(left) && THPVariable_Check(right)) {
    PyObject* inverse = call_operator(operators.reciprocal, {"reciprocal"}, &right, 1);
    PyObject* result = inverse != nullptr ? PyNumber_Multiply(inverse, left) : nullptr;
    Py_XDECREF(inverse);
    return result;
  }
  if (!is_python_number(left) || torch_function_mode_enabled() || check_has_torch_function(right)) {
    PyObject* args[] = {left, right};
    return call_operator(operators.true_divide, {"div", "__rdiv__"}, args, 2);
  }
  PyObject* inverse = call_operator(operators.reciprocal, {"reciprocal"}, &right, 1);
  if (inverse == nullptr) {
    return nullptr;
  }
  PyObject* args[] = {inverse, left};
  PyObject* result = call_operator(operators.mul, {"mul", "mul"}, args, 2);
  Py_DECREF(inverse);
  return result;
}

static PyObject* power(PyObject* packet, const OperatorNames& names, PyObject* base, PyObject* exponent,
                       PyObject* modulus) {
  if (modulus != Py_None) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject* args[] = {base, exponent};
  return call_operator(packet, names, args, 2);
}
static PyObject* nb_power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  return power(operators.pow, {"pow", "__rpow__"}, base, exponent, modulus);
}
static PyObject* nb_inplace_power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  return power(operators.pow_, {"pow_", nullptr}, base, exponent, modulus);
}

static constexpr const char* kComparisons[6] = {"lt", "le", "eq", "ne", "gt", "ge"}; // Py_LT .. Py_GE
static PyObject* richcompare(PyObject* self, PyObject* other, int op) {
  if (op == Py_EQ && is_numpy_array(other)) { // only equality reads an array as a tensor
    PyObject* tensor = tensor_from_numpy(nullptr, other);
    PyObject* result = tensor != nullptr ? richcompare(self, tensor, op) : nullptr;
    Py_XDECREF(tensor);
    return result;
  }
  PyObject* args[] = {self, other};
  return call_operator(operators.comparisons[op], {op == Py_EQ ? "__eq__" : kComparisons[op]}, args, 2);
}

// Looks up the ops of the operators. Where there is no function of that name, the method is used, which also works with
// a number on the left.
void initOperators() {
  PyObject* module = PyImport_ImportModule("reftorch._C");
  PyObject* functions = module != nullptr ? PyObject_GetAttrString(module, "_VariableFunctions") : nullptr;
  Py_XDECREF(module);
  if (functions == nullptr) {
    throw_python_error();
  }
  auto lookup = [&](const char* name) {
    PyObject* op = PyObject_GetAttrString(functions, name);
    if (op == nullptr) {
      PyErr_Clear();
      op = find_method(name);
      TORCH_INTERNAL_ASSERT(op != nullptr, "operator without op: ", name);
      Py_INCREF(op);
    }
    return op;
  };
#define LOOK_UP(kind, op, ...) operators.op = lookup(#op);
  FORALL_OPERATORS(LOOK_UP)
  operators.rsub = lookup("rsub");
  operators.reciprocal = lookup("reciprocal");
  for (int i = 0; i < 6; i++) {
    operators.comparisons[i] = lookup(kComparisons[i]);
  }
  Py_DECREF(functions);
}

// ---- conversions to Python numbers

static PyObject* scalar_to_python(const c10::Scalar& value) {
  if (value.isBoolean()) {
    return PyBool_FromLong(value.toBool());
  }
  return value.isFloatingPoint() ? PyFloat_FromDouble(value.toDouble()) : PyLong_FromLongLong(value.toLong());
}

// Returns the value of a tensor with one element. An accelerator may have long work to do before the value is there.
static c10::Scalar dispatch_item(const at::Tensor& t) {
  if (t.device().is_cpu()) {
    return t.item();
  }
  const GilReleaseWhenLong gil(c10::LongWork::kNumel);
  return t.item();
}

static PyObject* item(PyObject* self, PyObject*) {
  HANDLE_TH_ERRORS
  return scalar_to_python(dispatch_item(THPVariable_Unpack(self)));
  END_HANDLE_TH_ERRORS
}

static int nb_bool(PyObject* self) {
  HANDLE_TH_ERRORS
  if (self_has_torch_function(self)) {
    PyObject* answer = handle_torch_function_of_self(self, "__bool__", {});
    const bool is_bool = PyBool_Check(answer), is_true = answer == Py_True;
    const std::string type = Py_TYPE(answer)->tp_name;
    Py_DECREF(answer);
    TORCH_CHECK_TYPE(is_bool, "__bool__ should return bool, returned ", type);
    return is_true;
  }
  const int64_t numel = THPVariable_Unpack(self).numel();
  TORCH_CHECK(numel != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(numel == 1, "Boolean value of Tensor with more than one value is ambiguous");
  TORCH_CHECK(!at::functorch::is_batched(THPVariable_Unpack(self)),
              "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't "
              "support that yet. Hint: torch.where chooses for each example.");
  return dispatch_item(THPVariable_Unpack(self)).toBool();
  END_HANDLE_TH_ERRORS_RET(-1)
}
static c10::Scalar as_python_number(PyObject* self) {
  TORCH_CHECK_VALUE(THPVariable_Unpack(self).numel() == 1,
                    "only one element tensors can be converted to Python scalars");
  if (THPVariable_Unpack(self).requires_grad()) {
    TORCH_WARN_ONCE("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n",
                    "Consider using tensor.detach() first.");
  }
  return dispatch_item(THPVariable_Unpack(self));
}
static PyObject* nb_float(PyObject* self) {
  HANDLE_TH_ERRORS
  if (self_has_torch_function(self)) {
    return handle_torch_function_of_self(self, "__float__", {});
  }
  return PyFloat_FromDouble(as_python_number(self).toDouble());
  END_HANDLE_TH_ERRORS
}
static PyObject* nb_int(PyObject* self) {
  HANDLE_TH_ERRORS
  if (self_has_torch_function(self)) {
    return handle_torch_function_of_self(self, "__int__", {});
  }
  const c10::Scalar value = as_python_number(self);
  // Convert a float through Python, which reports infinities and holds numbers past 64 bits.
  return value.isFloatingPoint() ? PyLong_FromDouble(value.toDouble()) : PyLong_FromLongLong(value.toLong());
  END_HANDLE_TH_ERRORS
}
static PyObject* nb_index(PyObject* self) {
  HANDLE_TH_ERRORS
  if (self_has_torch_function(self)) {
    return handle_torch_function_of_self(self, "__index__", {});
  }
  const at::Tensor& t = THPVariable_Unpack(self);
  TORCH_CHECK_TYPE(c10::isIntegralType(t.scalar_type(), /*includeBool=*/true) && t.numel() == 1,
                   "only integer tensors of a single element can be converted to an index");
  return PyLong_FromLongLong(dispatch_item(t).toLong());
  END_HANDLE_TH_ERRORS
}

// ---- geometry

static int64_t unpack_dim(const char* method, PyObject* dim) {
  TORCH_CHECK_TYPE(is_int(dim), method, "(): argument 'dim' (position 1) must be int, not ", Py_TYPE(dim)->tp_name);
  return unpack_int(dim);
}

static PyObject* size(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"dim", nullptr};
  PyObject* dim = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:size", const_cast<char**>(keywords), &dim)) {
    return nullptr;
  }
  return dim == Py_None ? THPSize_New(THPVariable_Unpack(self).sizes())
                        : PyLong_FromLongLong(THPVariable_Unpack(self).size(unpack_dim("size", dim)));
  END_HANDLE_TH_ERRORS
}

static PyObject* stride(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"dim", nullptr};
  PyObject* dim = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:stride", const_cast<char**>(keywords), &dim)) {
    return nullptr;
  }
  const at::Tensor& t = THPVariable_Unpack(self);
  return dim == Py_None ? wrap_ivalue(at::IValue(t.strides()), at::TypeKind::IntList)
                        : PyLong_FromLongLong(t.stride(unpack_dim("stride", dim)));
  END_HANDLE_TH_ERRORS
}

static PyObject* is_contiguous(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"memory_format", nullptr};
  PyObject* format = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O!:is_contiguous", const_cast<char**>(keywords), THPMemoryFormatType,
                                   &format)) {
    return nullptr;
  }
  return PyBool_FromLong(THPVariable_Unpack(self).is_contiguous(
      format != nullptr ? reinterpret_cast<THPMemoryFormat*>(format)->memory_format : c10::MemoryFormat::Contiguous));
  END_HANDLE_TH_ERRORS
}

static PyObject* dim(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(THPVariable_Unpack(self).dim());
}
static PyObject* numel(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(THPVariable_Unpack(self).numel());
}
static PyObject* element_size(PyObject* self, PyObject*) {
  return PyLong_FromSize_t(THPVariable_Unpack(self).itemsize());
}
static PyObject* storage_offset(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(THPVariable_Unpack(self).storage_offset());
}
static PyObject* data_ptr(PyObject* self, PyObject*) {
  HANDLE_TH_ERRORS
  return PyLong_FromVoidPtr(THPVariable_Unpack(self).data_ptr());
  END_HANDLE_TH_ERRORS
}
static PyObject* storage_data_ptr(PyObject* self, PyObject*) {
  return PyLong_FromVoidPtr(THPVariable_Unpack(self).storage().mutable_data());
}
static PyObject* storage_nbytes(PyObject* self, PyObject*) {
  return PyLong_FromSize_t(THPVariable_Unpack(self).storage().nbytes());
}
static PyObject* storage_use_count(PyObject* self, PyObject*) {
  return PyLong_FromSize_t(THPVariable_Unpack(self).storage().use_count());
}
static PyObject* use_count(PyObject* self, PyObject*) {
  return PyLong_FromSize_t(THPVariable_Unpack(self).use_count());
}
static PyObject* is_floating_point(PyObject* self, PyObject*) {
  return PyBool_FromLong(THPVariable_Unpack(self).is_floating_point());
}
static PyObject* is_signed(PyObject* self, PyObject*) {
  return PyBool_FromLong(c10::isSignedType(THPVariable_Unpack(self).scalar_type()));
}
static PyObject* is_complex(PyObject*, PyObject*) {
  Py_RETURN_FALSE;
}

static const char* const kNoSubclass =
    "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible.";

// Tensor._make_subclass(cls, data, requires_grad=False): a Python object of class `cls` for a new tensor on the same
// storage, without history.
static PyObject* make_subclass(PyObject*, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"cls", "data", "require_grad", nullptr};
  PyObject *cls = nullptr, *data = nullptr;
  int require_grad = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|p:_make_subclass", const_cast<char**>(keywords), &cls, &data,
                                   &require_grad)) {
    return nullptr;
  }
  TORCH_CHECK_TYPE(PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), THPVariableBaseType),
                   kNoSubclass);
  TORCH_CHECK_TYPE(THPVariable_Check(data), "_make_subclass: data must be a Tensor, not ", Py_TYPE(data)->tp_name);
  const DisableTorchFunction no_overrides; // the object is not complete yet
  // Copy the data of a subclass as it is, without asking a mode or class that overrides detach.
  const c10::impl::ExcludeDispatchKeyGuard no_dispatch(c10::DispatchKey::Python);
  at::Tensor detached(
      THPVariable_Unpack(data).unsafeGetTensorImpl()->shallow_copy_and_detach(/*allow_version_sharing=*/true));
  PyObject* result = THPVariable_NewWithVar(reinterpret_cast<PyTypeObject*>(cls), std::move(detached));
  if (result != nullptr && require_grad && PyObject_SetAttrString(result, "requires_grad", Py_True) < 0) {
    Py_DECREF(result);
    return nullptr;
  }
  return result;
  END_HANDLE_TH_ERRORS
}

// Tensor._make_wrapper_subclass(cls, size, ...): a tensor that has a geometry, a dtype and a device, but no memory. The
// __torch_dispatch__ of the class computes every op.
static PyObject* make_wrapper_subclass(PyObject*, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"cls",    "size",   "strides",    "storage_offset", "memory_format", "dtype",
                                   "layout", "device", "pin_memory", "requires_grad",  nullptr};
  PyObject *cls = nullptr, *size = nullptr, *strides = Py_None, *offset = Py_None, *memory_format = Py_None;
  PyObject *dtype = Py_None, *layout = Py_None, *device = Py_None;
  int pin_memory = 0, requires_grad = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$OOOOOOpp:_make_wrapper_subclass", const_cast<char**>(keywords),
                                   &cls, &size, &strides, &offset, &memory_format, &dtype, &layout, &device,
                                   &pin_memory, &requires_grad)) {
    return nullptr;
  }
  TORCH_CHECK_TYPE(PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), THPVariableBaseType),
                   kNoSubclass, " Make sure your class inherits from Tensor.");
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  TORCH_CHECK_TYPE(check_has_torch_dispatch(type), type->tp_name, " must define __torch_dispatch__");
  TORCH_CHECK_TYPE(dtype == Py_None || THPDtype_Check(dtype),
                   "_make_wrapper_subclass(): argument 'dtype' must be torch.dtype, not ", Py_TYPE(dtype)->tp_name);
  const auto ints = [](PyObject* obj, const char* name) {
    TORCH_CHECK_TYPE(PyTuple_Check(obj) || PyList_Check(obj), "_make_wrapper_subclass(): argument '", name,
                     "' must be tuple of ints, not ", Py_TYPE(obj)->tp_name);
    return unpack_ints(PySequence_Fast_ITEMS(obj), PySequence_Fast_GET_SIZE(obj));
  };
  const c10::Device where = device == Py_None ? c10::Device(c10::DeviceType::CPU)
                                              : unpack_argument(at::TypeKind::Device, 0, device).toDevice();
  auto impl =
      c10::make_intrusive<c10::TensorImpl>(c10::Storage(0, c10::DataPtr(nullptr, nullptr, nullptr, where)),
                                           at::impl::keys_of(where) | c10::DispatchKey::Autograd,
                                           dtype == Py_None ? at::get_default_dtype() : scalar_type_from_python(dtype));
  impl->set_sizes_contiguous(ints(size, "size"));
  const c10::DimVector sizes(impl->sizes());
  const c10::DimVector steps = strides == Py_None ? c10::DimVector(impl->strides()) : ints(strides, "strides");
  const int64_t first = offset == Py_None ? 0 : unpack_int(offset);
  c10::check_geometry(sizes, steps, first, impl->itemsize());
  impl->set_sizes_and_strides(sizes, steps, first);
  PyObject* result = THPVariable_NewWithVar(type, at::Tensor(std::move(impl)));
  if (result != nullptr && requires_grad) {
    const DisableTorchFunction no_overrides; // the object is not complete yet
    if (PyObject_SetAttrString(result, "requires_grad", Py_True) < 0) {
      Py_DECREF(result);
      return nullptr;
    }
  }
  return result;
  END_HANDLE_TH_ERRORS
}

// x.as_subclass(cls): the tensor, with its history, as an object of another class.
static PyObject* as_subclass(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"cls", nullptr};
  PyObject* cls = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:as_subclass", const_cast<char**>(keywords), &cls)) {
    return nullptr;
  }
  TORCH_CHECK_TYPE(PyType_Check(cls), "cls must be a type (got ", Py_TYPE(cls)->tp_name, ")");
  TORCH_CHECK_TYPE(PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), THPVariableBaseType), kNoSubclass);
  return THPVariable_NewWithVar(reinterpret_cast<PyTypeObject*>(cls), at::alias(THPVariable_Unpack(self)));
  END_HANDLE_TH_ERRORS
}

static const PyMethodDef variable_methods[] = {
    {"item", item, METH_NOARGS,
     "item($self, /)\n--\n\nReturn the value of a one-element tensor as a Python number.\n\nExample:\n    >>> import "
     "reftorch "
     "as torch\n    >>> torch.tensor([2.5]).item()\n    2.5"},
    {"tolist", THPVariable_tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nReturn the values as nested lists of Python numbers.\n\nExample:\n    >>> import "
     "reftorch as "
     "torch\n    >>> torch.tensor([[1, 2]]).tolist()\n    [[1, 2]]"},
    {"numpy", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(THPVariable_numpy)),
     METH_VARARGS | METH_KEYWORDS,
     "numpy($self, /, *, force=False)\n--\n\nReturn an array that shares the memory of the tensor. ``force`` detaches "
     "the tensor and copies it to the CPU first, where that is necessary.\n\nExample:\n    >>> import reftorch as "
     "torch\n    >>> torch.tensor([1, 2]).numpy()\n    array([1, 2])"},
    {"size", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(size)), METH_VARARGS | METH_KEYWORDS,
     "size($self, dim=None)\n--\n\nReturn the shape, or the size of one dimension.\n\nExample:\n    >>> import "
     "reftorch as torch\n   "
     " >>> torch.ones(2, 3).size(), torch.ones(2, 3).size(-1)\n    (torch.Size([2, 3]), 3)"},
    {"stride", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(stride)), METH_VARARGS | METH_KEYWORDS,
     "stride($self, dim=None)\n--\n\nReturn the strides in elements, of all dimensions or of one.\n\nExample:\n    "
     ">>> import reftorch as torch\n    >>> torch.ones(2, 3).stride()\n    (3, 1)"},
    {"is_contiguous", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(is_contiguous)),
     METH_VARARGS | METH_KEYWORDS,
     "is_contiguous($self, memory_format=None)\n--\n\nReturn whether the elements lie densely in memory, in the order "
     "of the dimensions."},
    {"dim", dim, METH_NOARGS, "dim($self, /)\n--\n\nReturn the number of dimensions."},
    {"ndimension", dim, METH_NOARGS, "ndimension($self, /)\n--\n\nReturn the number of dimensions."},
    {"numel", numel, METH_NOARGS, "numel($self, /)\n--\n\nReturn the number of elements."},
    {"nelement", numel, METH_NOARGS, "nelement($self, /)\n--\n\nReturn the number of elements."},
    {"element_size", element_size, METH_NOARGS,
     "element_size($self, /)\n--\n\nReturn the number of bytes per element."},
    {"storage_offset", storage_offset, METH_NOARGS,
     "storage_offset($self, /)\n--\n\nReturn the place of the first element in the storage, in elements."},
    {"data_ptr", data_ptr, METH_NOARGS, "data_ptr($self, /)\n--\n\nReturn the address of the first element."},
    {"_storage_data_ptr", storage_data_ptr, METH_NOARGS, "Return the address of the storage's first byte."},
    {"_storage_nbytes", storage_nbytes, METH_NOARGS, "Return the size of the storage in bytes."},
    {"_storage_use_count", storage_use_count, METH_NOARGS, "Return how many references to the storage exist."},
    {"_use_count", use_count, METH_NOARGS, "Return how many references to the TensorImpl exist."},
    {"is_floating_point", is_floating_point, METH_NOARGS,
     "is_floating_point($self, /)\n--\n\nReturn whether the dtype is one of float16, bfloat16, float32 and float64."},
    {"is_signed", is_signed, METH_NOARGS,
     "is_signed($self, /)\n--\n\nReturn whether the dtype is signed: False for uint8 and bool."},
    {"is_complex", is_complex, METH_NOARGS,
     "is_complex($self, /)\n--\n\nReturn False, because there are no complex dtypes."},
    {"as_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(as_subclass)),
     METH_VARARGS | METH_KEYWORDS,
     "as_subclass($self, cls)\n--\n\nReturn this tensor as an object of a subclass of Tensor, on the same memory and "
     "with its history."},
    {"_make_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(make_subclass)),
     METH_VARARGS | METH_KEYWORDS | METH_STATIC, nullptr},
    {"_make_wrapper_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(make_wrapper_subclass)),
     METH_VARARGS | METH_KEYWORDS | METH_STATIC, nullptr},
    {}};

// ---- properties

static PyObject* get_shape(PyObject* self, void*) {
  return THPSize_New(THPVariable_Unpack(self).sizes());
}
static PyObject* get_dtype(PyObject* self, void*) {
  return Py_NewRef(getTHPDtype(THPVariable_Unpack(self).scalar_type()));
}
static PyObject* get_device(PyObject* self, void*) {
  return THPDevice_New(THPVariable_Unpack(self).device());
}
static PyObject* get_layout(PyObject*, void*) {
  return Py_NewRef(getTHPLayout());
}
static PyObject* get_ndim(PyObject* self, void*) {
  return PyLong_FromLongLong(THPVariable_Unpack(self).dim());
}
static PyObject* get_itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(THPVariable_Unpack(self).itemsize());
}
static PyObject* get_nbytes(PyObject* self, void*) {
  return PyLong_FromLongLong(THPVariable_Unpack(self).numel() *
                             static_cast<int64_t>(THPVariable_Unpack(self).itemsize()));
}
static PyObject* get_is_cuda(PyObject* self, void*) {
  return PyBool_FromLong(THPVariable_Unpack(self).device().is_cuda());
}
static PyObject* get_is_cpu(PyObject* self, void*) {
  return PyBool_FromLong(THPVariable_Unpack(self).device().is_cpu());
}
static PyObject* get_is_meta(PyObject* self, void*) {
  return PyBool_FromLong(THPVariable_Unpack(self).device().is_meta());
}

// x.data: a tensor with the same storage, no history, and a version counter of its own. So autograd does not notice
// writes through it.
static PyObject* get_data(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  return THPVariable_Wrap(at::Tensor(
      THPVariable_Unpack(self).unsafeGetTensorImpl()->shallow_copy_and_detach(/*allow_version_sharing=*/false)));
  END_HANDLE_TH_ERRORS
}
static int set_data(PyObject* self, PyObject* value, void*) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(value != nullptr, "Deleting tensor data is not allowed. Delete tensor instead!");
  TORCH_CHECK_TYPE(THPVariable_Check(value), "Variable data has to be a tensor, but got ", type_name_of(value));
  TORCH_CHECK(
      !at::functorch::is_wrapper(THPVariable_Unpack(self)) && !at::functorch::is_wrapper(THPVariable_Unpack(value)),
      "data: a tensor under vmap, grad or jvp can not be set, nor be what another is set to");
  c10::TensorImpl* impl = THPVariable_Unpack(self).unsafeGetTensorImpl();
  const c10::TensorImpl* source = THPVariable_Unpack(value).unsafeGetTensorImpl();
  TORCH_CHECK(!THPVariable_Unpack(self).requires_grad() || c10::isFloatingType(source->data_type_),
              "data set to a tensor that requires gradients must be floating point or complex dtype");
  impl->storage_ = source->storage_;
  impl->data_type_ = source->data_type_;
  impl->device_ = source->device_;
  impl->key_set_ = source->key_set_;
  impl->set_sizes_and_strides(source->sizes(), source->strides(), source->storage_offset_);
  // A graph that is still alive keeps the AccumulateGrad of the former data, which casts gradients to the former dtype
  // and runs on the former device. The next graph gets a new node. As in PyTorch, another shape alone keeps the node.
  const at::Tensor& tensor = THPVariable_Unpack(self);
  if (const std::shared_ptr<autograd::Node> node = autograd::impl::try_get_grad_accumulator(tensor)) {
    const autograd::InputMetadata& former = node->input_metadata(0);
    if (former.dtype() != tensor.scalar_type() || former.device() != tensor.device()) {
      autograd::impl::reset_grad_accumulator(tensor);
    }
  }
  return 0;
  END_HANDLE_TH_ERRORS_RET(-1)
}

static PyGetSetDef variable_properties[] = {
    {"shape", get_shape, nullptr, "The sizes of the dimensions, as a torch.Size.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"device", get_device, nullptr, "The device of the memory.", nullptr},
    {"layout", get_layout, nullptr, "The layout, which is always torch.strided.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    {"itemsize", get_itemsize, nullptr, "The number of bytes per element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "The number of bytes of all elements.", nullptr},
    {"is_cuda", get_is_cuda, nullptr, "Whether the tensor is on a CUDA device.", nullptr},
    {"is_cpu", get_is_cpu, nullptr, "Whether the tensor is on the CPU.", nullptr},
    {"is_meta", get_is_meta, nullptr, "Whether the tensor is on the meta device: it has a shape and no data.", nullptr},
    {"data", get_data, set_data, "A tensor on the same storage, without history.", nullptr},
};

void append_variable_slots(std::vector<PyType_Slot>& slots) {
  static std::vector<PyGetSetDef> properties;
  for (const PyGetSetDef& def : variable_properties) {
    properties.push_back(overridable(def));
  }
  for (PyGetSetDef* def = THPVariable_autograd_properties(); def->name != nullptr; def++) {
    properties.push_back(overridable(*def));
  }
  properties.push_back({});
#define ADD_SLOT(kind, op, slot, ...) slots.push_back({Py_##slot, reinterpret_cast<void*>(slot)});
  FORALL_OPERATORS(ADD_SLOT)
  const PyType_Slot more[] = {
      {Py_nb_bool, reinterpret_cast<void*>(nb_bool)},
      {Py_nb_float, reinterpret_cast<void*>(nb_float)},
      {Py_nb_int, reinterpret_cast<void*>(nb_int)},
      {Py_nb_index, reinterpret_cast<void*>(nb_index)},
      {Py_tp_richcompare, reinterpret_cast<void*>(richcompare)},
      {Py_mp_subscript, reinterpret_cast<void*>(THPVariable_getitem)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(THPVariable_setitem)},
      {Py_mp_length, reinterpret_cast<void*>(THPVariable_length)},
      {Py_tp_methods, overridable_methods<variable_methods>()},
      {Py_tp_getset, properties.data()},
  };
  slots.insert(slots.end(), std::begin(more), std::end(more));
}

} // namespace reftorch::torch
