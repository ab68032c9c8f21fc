// Mirrors: torch/csrc/Dtype.cpp, torch/csrc/Device.cpp, torch/csrc/Layout.cpp, torch/csrc/MemoryFormat.cpp, torch/csrc/Size.cpp
//
// The Python types that describe a tensor: dtype, device, layout, memory_format and Size. Left out: symbolic sizes.
// This file is more than 500 lines long because there are five types, and a table of dtypes that are names only.
#include <csrc/python_dtype.h>

#include <csrc/Exceptions.h>

#include <ATen/DeviceAccelerator.h>

#include <string>
#include <vector>

namespace reftorch::torch {

PyTypeObject *THPDtypeType, *THPDeviceType, *THPLayoutType, *THPMemoryFormatType, *THPSizeType;

static PyObject* dtype_registry[c10::kNumScalarTypes];
static PyObject* strided_layout;
static PyObject* memory_format_registry[3];

PyObject* getTHPDtype(c10::ScalarType scalar_type) {
  return dtype_registry[static_cast<int>(scalar_type)];
}
PyObject* getTHPLayout() {
  return strided_layout;
}
PyObject* getTHPMemoryFormat(c10::MemoryFormat memory_format) {
  return memory_format_registry[static_cast<int>(memory_format)];
}

c10::ScalarType scalar_type_from_python(PyObject* obj) {
  if (THPDtype_Check(obj)) {
    const auto* dtype = reinterpret_cast<THPDtype*>(obj);
    TORCH_CHECK_NOT_IMPLEMENTED(dtype->absent == nullptr, "torch.", dtype->absent->name,
                                " is only a name here: there are no tensors of this dtype, and no op takes it. Hint: "
                                "the dtypes are float16, bfloat16, float32, float64, int8 to int64, uint8 and bool");
    return dtype->scalar_type;
  }
  if (obj == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    return c10::kDouble;
  }
  if (obj == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    return c10::kLong;
  }
  return obj == reinterpret_cast<PyObject*>(&PyBool_Type) ? c10::kBool : c10::ScalarType::Undefined;
}

static PyTypeObject* make_type(const char* name, int basicsize, PyType_Slot* slots, PyTypeObject* base = nullptr,
                               unsigned more_flags = 0) {
  PyType_Spec spec = {name, basicsize, 0, static_cast<unsigned>(Py_TPFLAGS_DEFAULT) | more_flags, slots};
  PyObject* bases = base != nullptr ? PyTuple_Pack(1, base) : nullptr;
  PyObject* type = PyType_FromSpecWithBases(&spec, bases);
  Py_XDECREF(bases);
  if (type == nullptr) {
    throw_python_error();
  }
  return reinterpret_cast<PyTypeObject*>(type);
}

static void add_to_module(PyObject* module, const char* name, PyObject* value) {
  Py_INCREF(value);
  if (PyModule_AddObject(module, name, value) < 0) {
    throw_python_error();
  }
}

// ---- dtype

static c10::ScalarType dtype_of(PyObject* self) {
  return reinterpret_cast<THPDtype*>(self)->scalar_type;
}
static const AbsentDtype* absent(PyObject* self) {
  return reinterpret_cast<THPDtype*>(self)->absent;
}
static const char* name_of(PyObject* self) {
  return absent(self) != nullptr ? absent(self)->name : c10::dtypeName(dtype_of(self));
}
static PyObject* dtype_repr(PyObject* self) {
  return PyUnicode_FromFormat("torch.%s", name_of(self));
}
// Pickles the dtype as the name of an attribute of the reftorch module.
static PyObject* dtype_reduce(PyObject* self, PyObject*) {
  return PyUnicode_FromString(name_of(self));
}
static PyObject* attribute_of_module(const char* name) {
  PyObject* module = PyImport_ImportModule("reftorch._C");
  PyObject* found = module != nullptr ? PyObject_GetAttrString(module, name) : nullptr;
  Py_XDECREF(module);
  return found;
}
static PyObject* dtype_to_real(PyObject* self, PyObject*) {
  const AbsentDtype* dtype = absent(self);
  return dtype != nullptr && dtype->real != nullptr ? attribute_of_module(dtype->real) : Py_NewRef(self);
}
static PyObject* dtype_to_complex(PyObject* self, PyObject*) {
  const std::string name = name_of(self);
  if (name.substr(0, 7) == "complex") {
    return Py_NewRef(self);
  }
  const char* found = name == "float64"                         ? "complex128"
                      : name == "float32" || name == "bfloat16" ? "complex64"
                      : name == "float16"                       ? "complex32"
                                                                : nullptr;
  if (found == nullptr) {
    return PyErr_Format(PyExc_RuntimeError, "torch.%s has no complex dtype", name.c_str());
  }
  return attribute_of_module(found);
}
static PyObject* dtype_is_signed(PyObject* self, void*) {
  if (absent(self) == nullptr) {
    return PyBool_FromLong(c10::isSignedType(dtype_of(self)));
  }
  if (absent(self)->kind == '-') {
    return PyErr_Format(PyExc_RuntimeError, "torch.%s does not say whether it is signed", name_of(self));
  }
  return PyBool_FromLong(absent(self)->kind != 'u' && name_of(self) != std::string("float8_e8m0fnu"));
}
// Returns the kind and the number of bits; bool, which takes a byte, is b8.
static PyObject* dtype_abbr(PyObject* self, void*) {
  if (absent(self) != nullptr) {
    return PyUnicode_FromString(absent(self)->abbr);
  }
  const c10::ScalarType type = dtype_of(self);
  const char* kind = type == c10::kBool          ? "b"
                     : type == c10::kBFloat16    ? "bf"
                     : c10::isFloatingType(type) ? "f"
                     : c10::isSignedType(type)   ? "i"
                                                 : "u";
  return PyUnicode_FromFormat("%s%d", kind, static_cast<int>(8 * c10::elementSize(type)));
}
static PyMethodDef dtype_methods[] = {
    {"to_real", dtype_to_real, METH_NOARGS, "to_real($self, /)\n--\n\nReturn the dtype of the real parts."},
    {"to_complex", dtype_to_complex, METH_NOARGS,
     "to_complex($self, /)\n--\n\nReturn the complex dtype with such real parts."},
    {"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
    {}};
static PyGetSetDef dtype_properties[] = {
    {"is_floating_point",
     [](PyObject* s, void*) {
       return PyBool_FromLong(absent(s) != nullptr ? absent(s)->kind == 'f' : c10::isFloatingType(dtype_of(s)));
     },
     nullptr, "Whether the dtype is float16, bfloat16, float32 or float64, or another kind of float.", nullptr},
    {"is_complex", [](PyObject* s, void*) { return PyBool_FromLong(absent(s) != nullptr && absent(s)->kind == 'c'); },
     nullptr, "Whether the dtype is complex. No tensor has such a dtype here.", nullptr},
    {"is_signed", dtype_is_signed, nullptr, "Whether the dtype is signed: False for uint8 and bool.", nullptr},
    {"abbr", dtype_abbr, nullptr, "A short name, such as f32 and i64.", nullptr},
    {"itemsize",
     [](PyObject* s, void*) {
       return PyLong_FromSize_t(absent(s) != nullptr ? absent(s)->itemsize : c10::elementSize(dtype_of(s)));
     },
     nullptr, "The number of bytes per element.", nullptr},
    {}};

static const char* kDtypeDoc =
    "The type of a tensor's elements, such as ``torch.float32``. There is one object for each type.\n\n"
    "Example:\n    >>> import reftorch as torch\n    >>> torch.ones(2).dtype, torch.int64.itemsize\n"
    "    (torch.float32, 8)\n\nMirrors torch/csrc/Dtype.cpp.";

static const AbsentDtype kAbsentDtypes[] = {
    {"complex32", "chalf", "c32", "float16", 'c', 4},
    {"complex64", "cfloat", "c64", "float32", 'c', 8},
    {"complex128", "cdouble", "c128", "float64", 'c', 16},
    {"uint16", nullptr, "u16", nullptr, 'u', 2},
    {"uint32", nullptr, "u32", nullptr, 'u', 4},
    {"uint64", nullptr, "u64", nullptr, 'u', 8},
    {"float8_e4m3fn", nullptr, "f8e4m3fn", nullptr, 'f', 1},
    {"float8_e4m3fnuz", nullptr, "f8e4m3fnuz", nullptr, 'f', 1},
    {"float8_e5m2", nullptr, "f8e5m2", nullptr, 'f', 1},
    {"float8_e5m2fnuz", nullptr, "f8e5m2fnuz", nullptr, 'f', 1},
    {"float8_e8m0fnu", nullptr, "f8e8m0fnu", nullptr, 'f', 1},
    {"float4_e2m1fn_x2", nullptr, "f4e2m1fnx2", nullptr, 'f', 1},
    {"qint8", nullptr, "qint8", nullptr, '-', 1},
    {"quint8", nullptr, "quint8", nullptr, '-', 1},
    {"qint32", nullptr, "qint32", nullptr, '-', 4},
    {"quint4x2", nullptr, "quint4x2", nullptr, '-', 1},
    {"quint2x4", nullptr, "quint2x4", nullptr, '-', 1},
    {"bits1x8", nullptr, "b1x8", nullptr, '-', 1},
    {"bits2x4", nullptr, "b2x4", nullptr, '-', 1},
    {"bits4x2", nullptr, "b4x2", nullptr, '-', 1},
    {"bits8", nullptr, "b8x1", nullptr, '-', 1},
    {"bits16", nullptr, "b16x1", nullptr, '-', 2},
    {"int1", nullptr, "int1", nullptr, 'i', 1},
    {"int2", nullptr, "int2", nullptr, 'i', 1},
    {"int3", nullptr, "int3", nullptr, 'i', 1},
    {"int4", nullptr, "int4", nullptr, 'i', 1},
    {"int5", nullptr, "int5", nullptr, 'i', 1},
    {"int6", nullptr, "int6", nullptr, 'i', 1},
    {"int7", nullptr, "int7", nullptr, 'i', 1},
    {"uint1", "bit", "uint1", nullptr, 'u', 1},
    {"uint2", nullptr, "uint2", nullptr, 'u', 1},
    {"uint3", nullptr, "uint3", nullptr, 'u', 1},
    {"uint4", nullptr, "uint4", nullptr, 'u', 1},
    {"uint5", nullptr, "uint5", nullptr, 'u', 1},
    {"uint6", nullptr, "uint6", nullptr, 'u', 1},
    {"uint7", nullptr, "uint7", nullptr, 'u', 1},
};

static void init_dtype(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kDtypeDoc)},
                         {Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
                         {Py_tp_methods, dtype_methods},
                         {Py_tp_getset, dtype_properties},
                         {0, nullptr}};
  THPDtypeType = make_type("reftorch.dtype", sizeof(THPDtype), slots, nullptr, Py_TPFLAGS_DISALLOW_INSTANTIATION);
  add_to_module(module, "dtype", reinterpret_cast<PyObject*>(THPDtypeType));
  static const std::pair<c10::ScalarType, std::vector<const char*>> names[] = {
      {c10::kByte, {"uint8"}},
      {c10::kChar, {"int8"}},
      {c10::kShort, {"int16", "short"}},
      {c10::kInt, {"int32", "int"}},
      {c10::kLong, {"int64", "long"}},
      {c10::kHalf, {"float16", "half"}},
      {c10::kFloat, {"float32", "float"}},
      {c10::kDouble, {"float64", "double"}},
      {c10::kBool, {"bool"}},
      {c10::kBFloat16, {"bfloat16"}},
  };
  for (const auto& [scalar_type, aliases] : names) {
    PyObject* obj = THPDtypeType->tp_alloc(THPDtypeType, 0);
    reinterpret_cast<THPDtype*>(obj)->scalar_type = scalar_type;
    dtype_registry[static_cast<int>(scalar_type)] = obj;
    for (const char* name : aliases) {
      add_to_module(module, name, obj);
    }
  }
  for (const AbsentDtype& absent_dtype : kAbsentDtypes) {
    PyObject* obj = THPDtypeType->tp_alloc(THPDtypeType, 0);
    reinterpret_cast<THPDtype*>(obj)->scalar_type = c10::ScalarType::Undefined;
    reinterpret_cast<THPDtype*>(obj)->absent = &absent_dtype;
    for (const char* name : {absent_dtype.name, absent_dtype.alias}) {
      if (name != nullptr) {
        add_to_module(module, name, obj);
      }
    }
  }
}

// ---- device

static const c10::Device& device_of(PyObject* self) {
  return reinterpret_cast<THPDevice*>(self)->device;
}

PyObject* THPDevice_New(c10::Device device) {
  PyObject* obj = THPDeviceType->tp_alloc(THPDeviceType, 0);
  if (obj != nullptr) {
    reinterpret_cast<THPDevice*>(obj)->device = device;
  }
  return obj;
}

c10::DeviceIndex checked_device_index(int64_t index) {
  constexpr int64_t kMost = std::numeric_limits<c10::DeviceIndex>::max();
  TORCH_CHECK(index >= -1 && index <= kMost, "Device index must be between 0 and ", kMost, ", but got ", index);
  return static_cast<c10::DeviceIndex>(index);
}

static PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"type", "index", nullptr};
  PyObject* type = nullptr;
  PyObject* index = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(keywords), &type, &index)) {
    return nullptr;
  }
  if (THPDevice_Check(type) && index == Py_None) {
    return Py_NewRef(type);
  }
  if (PyLong_Check(type)) {
    const long i = PyLong_AsLong(type);
    if (i == -1 && PyErr_Occurred()) {
      return nullptr;
    }
    TORCH_CHECK(i >= 0, "Device index must not be negative");
    return THPDevice_New(c10::Device(*at::getAccelerator(/*checked=*/true), checked_device_index(i)));
  }
  const char* text = PyUnicode_Check(type) ? PyUnicode_AsUTF8(type) : nullptr;
  TORCH_CHECK_TYPE(text != nullptr, "device(): argument 'type' (position 1) must be str, not ", Py_TYPE(type)->tp_name);
  c10::Device device{std::string(text)};
  if (index != Py_None) {
    TORCH_CHECK(!device.has_index(),
                "type (string) must not include an index because index was passed explicitly: ", text);
    TORCH_CHECK_TYPE(PyLong_Check(index), "device(): argument 'index' (position 2) must be int, not ",
                     Py_TYPE(index)->tp_name);
    const long i = PyLong_AsLong(index);
    if (i == -1 && PyErr_Occurred()) {
      return nullptr;
    }
    TORCH_CHECK(i >= 0, "Device index must not be negative");
    device.index_ = checked_device_index(i);
  }
  return THPDevice_New(device);
  END_HANDLE_TH_ERRORS
}

static PyObject* device_repr(PyObject* self) {
  std::string text = std::string("device(type='") + c10::DeviceTypeName(device_of(self).type()) + "'";
  if (device_of(self).has_index()) {
    text += ", index=" + std::to_string(device_of(self).index());
  }
  return PyUnicode_FromString((text + ")").c_str());
}
static PyObject* device_str(PyObject* self) {
  return PyUnicode_FromString(device_of(self).str().c_str());
}
static Py_hash_t device_hash(PyObject* self) {
  return (static_cast<int>(device_of(self).type()) << 8) + device_of(self).index() + 1;
}
static PyObject* device_richcompare(PyObject* a, PyObject* b, int op) {
  if (!THPDevice_Check(a) || !THPDevice_Check(b) || (op != Py_EQ && op != Py_NE)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return PyBool_FromLong((device_of(a) == device_of(b)) == (op == Py_EQ));
}
static PyObject* device_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(s)", Py_TYPE(self), device_of(self).str().c_str());
}

// `with device:` sets the default device, which reftorch/utils/_device.py keeps in Python.
static PyObject* ask_python(const char* function, PyObject* self) {
  PyObject* module = PyImport_ImportModule("reftorch.utils._device");
  PyObject* result = module != nullptr ? PyObject_CallMethod(module, function, "O", self) : nullptr;
  Py_XDECREF(module);
  return result;
}
static PyObject* device_enter(PyObject* self, PyObject*) {
  return ask_python("enter", self);
}
static PyObject* device_exit(PyObject* self, PyObject*) {
  return ask_python("leave", self);
}
static PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr},
                                       {"__enter__", device_enter, METH_NOARGS, nullptr},
                                       {"__exit__", device_exit, METH_VARARGS, nullptr},
                                       {}};
static PyGetSetDef device_properties[] = {
    {"type", [](PyObject* s, void*) { return PyUnicode_FromString(c10::DeviceTypeName(device_of(s).type())); }, nullptr,
     "The type of the device: 'cpu', 'cuda' or 'meta'.", nullptr},
    {"index",
     [](PyObject* s, void*) {
       return device_of(s).has_index() ? PyLong_FromLong(device_of(s).index()) : Py_NewRef(Py_None);
     },
     nullptr, "The number of the device among those of its type, or None for the current device.", nullptr},
    {}};

static const char* kDeviceDoc =
    "device(type, index=None)\n--\n\n"
    "The device on which a tensor lies.\n\nArgs:\n    type: \"cpu\", \"cuda\" or \"meta\", with or without a colon and "
    "an "
    "index; or a device; or an int, the number of a CUDA device.\n    index: the number of the device among those of "
    "its "
    "type.\n\n"
    "Raises:\n    RuntimeError: there is no such type of device.\n\n"
    "Example:\n    >>> import reftorch as torch\n    >>> torch.device(\"cuda:1\")\n    device(type='cuda', index=1)\n\n"
    "Mirrors torch/csrc/Device.cpp.";

static void init_device(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kDeviceDoc)},
                         {Py_tp_new, reinterpret_cast<void*>(device_new)},
                         {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
                         {Py_tp_str, reinterpret_cast<void*>(device_str)},
                         {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(device_richcompare)},
                         {Py_tp_methods, device_methods},
                         {Py_tp_getset, device_properties},
                         {0, nullptr}};
  THPDeviceType = make_type("reftorch.device", sizeof(THPDevice), slots);
  add_to_module(module, "device", reinterpret_cast<PyObject*>(THPDeviceType));
}

// ---- layout and memory format

static PyObject* layout_repr(PyObject*) {
  return PyUnicode_FromString("torch.strided");
}
static PyObject* memory_format_repr(PyObject* self) {
  const auto format = reinterpret_cast<THPMemoryFormat*>(self)->memory_format;
  return PyUnicode_FromFormat("torch.%s", c10::str(format).c_str());
}

// Pickles the layout by its name, like a dtype.
static PyObject* layout_reduce(PyObject*, PyObject*) {
  return PyUnicode_FromString("strided");
}
static PyMethodDef layout_methods[] = {{"__reduce__", layout_reduce, METH_NOARGS, nullptr}, {}};
static PyObject* memory_format_reduce(PyObject* self, PyObject*) {
  return PyUnicode_FromString(c10::str(reinterpret_cast<THPMemoryFormat*>(self)->memory_format).c_str());
}
static PyMethodDef memory_format_methods[] = {{"__reduce__", memory_format_reduce, METH_NOARGS, nullptr}, {}};

static void init_layouts(PyObject* module) {
  PyType_Slot layout_slots[] = {
      {Py_tp_doc,
       const_cast<char*>("The way a tensor's elements lie in memory. ``torch.strided`` is the only layout.\n\n"
                         "Mirrors torch/csrc/Layout.cpp.")},
      {Py_tp_repr, reinterpret_cast<void*>(layout_repr)},
      {Py_tp_methods, layout_methods},
      {0, nullptr}};
  THPLayoutType =
      make_type("reftorch.layout", sizeof(THPLayout), layout_slots, nullptr, Py_TPFLAGS_DISALLOW_INSTANTIATION);
  strided_layout = THPLayoutType->tp_alloc(THPLayoutType, 0);
  add_to_module(module, "layout", reinterpret_cast<PyObject*>(THPLayoutType));
  add_to_module(module, "strided", strided_layout);

  PyType_Slot format_slots[] = {
      {Py_tp_doc, const_cast<char*>("The order of the dimensions in memory: ``torch.contiguous_format``, "
                                    "``torch.channels_last`` or ``torch.preserve_format``.\n\n"
                                    "Mirrors torch/csrc/MemoryFormat.cpp.")},
      {Py_tp_repr, reinterpret_cast<void*>(memory_format_repr)},
      {Py_tp_methods, memory_format_methods},
      {0, nullptr}};
  THPMemoryFormatType = make_type("reftorch.memory_format", sizeof(THPMemoryFormat), format_slots, nullptr,
                                  Py_TPFLAGS_DISALLOW_INSTANTIATION);
  add_to_module(module, "memory_format", reinterpret_cast<PyObject*>(THPMemoryFormatType));
  for (auto format : {c10::MemoryFormat::Contiguous, c10::MemoryFormat::Preserve, c10::MemoryFormat::ChannelsLast}) {
    PyObject* obj = THPMemoryFormatType->tp_alloc(THPMemoryFormatType, 0);
    reinterpret_cast<THPMemoryFormat*>(obj)->memory_format = format;
    memory_format_registry[static_cast<int>(format)] = obj;
    add_to_module(module, c10::str(format).c_str(), obj);
  }
}

// ---- Size

PyObject* THPSize_New(c10::IntArrayRef sizes) {
  PyObject* self = THPSizeType->tp_alloc(THPSizeType, static_cast<Py_ssize_t>(sizes.size()));
  if (self == nullptr) {
    return nullptr;
  }
  for (size_t i = 0; i < sizes.size(); i++) {
    PyTuple_SET_ITEM(self, i, PyLong_FromLongLong(sizes[i]));
  }
  return self;
}

static PyObject* size_repr(PyObject* self) {
  std::string text = "torch.Size([";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) {
    text += (i == 0 ? "" : ", ") + std::to_string(PyLong_AsLongLong(PyTuple_GET_ITEM(self, i)));
  }
  return PyUnicode_FromString((text + "])").c_str());
}

static PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* self = PyTuple_Type.tp_new(type, args, kwargs);
  for (Py_ssize_t i = 0; self != nullptr && i < PyTuple_GET_SIZE(self); i++) {
    PyObject* item = PyTuple_GET_ITEM(self, i);
    if (PyLong_Check(item)) {
      continue;
    }
    PyObject* number = PyNumber_Index(item);
    if (number == nullptr) {
      PyErr_Format(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                   Py_TYPE(item)->tp_name);
      Py_DECREF(self);
      return nullptr;
    }
    PyTuple_SET_ITEM(self, i, number);
    Py_DECREF(item);
  }
  return self;
}

static PyObject* size_numel(PyObject* self, PyObject*) {
  long long numel = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) {
    numel *= PyLong_AsLongLong(PyTuple_GET_ITEM(self, i));
  }
  return PyLong_FromLongLong(numel);
}

// Converts a slice or a sum of sizes into a Size.
static PyObject* as_size(PyObject* result) {
  if (result == nullptr || !PyTuple_CheckExact(result)) {
    return result;
  }
  PyObject* size = PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(THPSizeType), result, nullptr);
  Py_DECREF(result);
  return size;
}
static PyObject* size_concat(PyObject* self, PyObject* other) {
  if (!PyTuple_Check(other)) {
    return PyErr_Format(PyExc_TypeError, "can only concatenate tuple (not %s) to torch.Size", Py_TYPE(other)->tp_name);
  }
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(self, other));
}
// Python asks this slot for either operand, so (1,) + size is a Size too.
static PyObject* size_add(PyObject* left, PyObject* right) {
  if (!PyTuple_Check(left) || !PyTuple_Check(right)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(left, right));
}
static PyObject* size_repeat(PyObject* self, Py_ssize_t n) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, n));
}
static PyObject* size_subscript(PyObject* self, PyObject* key) {
  PyObject* result = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  return PySlice_Check(key) ? as_size(result) : result;
}
static PyObject* size_reduce(PyObject* self, PyObject*) {
  PyObject* items = PySequence_Tuple(self);
  PyObject* plain = items == self ? PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self)) : items;
  return Py_BuildValue("O(N)", THPSizeType, plain);
}
static PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "numel($self, /)\n--\n\nReturn the product of the sizes."},
    {"__reduce__", size_reduce, METH_NOARGS, nullptr},
    {}};

static const char* kSizeDoc =
    "Size(iterable=(), /)\n--\n\n"
    "The shape of a tensor: a tuple of ints with numel().\n\nArgs:\n    iterable: ints.\n\n"
    "Raises:\n    TypeError: an item is not an int.\n\n"
    "Example:\n    >>> import reftorch as torch\n    >>> torch.ones(2, 3).shape\n    torch.Size([2, 3])\n"
    "    >>> torch.Size([2, 3]).numel()\n    6\n\nMirrors torch/csrc/Size.cpp.";

static void init_size(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(size_new)},
                         {Py_tp_repr, reinterpret_cast<void*>(size_repr)},
                         {Py_tp_methods, size_methods},
                         {Py_nb_add, reinterpret_cast<void*>(size_add)},
                         {Py_sq_concat, reinterpret_cast<void*>(size_concat)},
                         {Py_sq_repeat, reinterpret_cast<void*>(size_repeat)},
                         {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
                         {Py_tp_doc, const_cast<char*>(kSizeDoc)},
                         {0, nullptr}};
  THPSizeType = make_type("reftorch.Size", 0, slots, &PyTuple_Type);
  add_to_module(module, "Size", reinterpret_cast<PyObject*>(THPSizeType));
}

void initDtypes(PyObject* module) {
  init_dtype(module);
  init_device(module);
  init_layouts(module);
  init_size(module);
}

} // namespace reftorch::torch
