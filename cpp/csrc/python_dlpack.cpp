// Mirrors: torch/csrc/Module.cpp (DLPack_Common, THPModule_fromDLPack), torch/csrc/utils/tensor_new.cpp (tensor_fromDLPack)
//
// DLPack's managed tensors travel in capsules. The consumer of a capsule renames it, so that the capsule is consumed
// only once. A capsule that was not consumed, or that was refused, still owns its tensor and frees it. Left out:
// streams, the C exchange API.
#include <csrc/python_dlpack.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>
#include <csrc/python_gil.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/python_arg_parser.h>

#include <ATen/DLConvertor.h>
#include <ATen/Functions.h>

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace reftorch::torch {

struct Unversioned {
  using Managed = at::DLManagedTensor;
  static constexpr const char* name = "dltensor";
  static constexpr const char* used = "used_dltensor";
  static Managed* make(const at::Tensor& t, bool) {
    return at::toDLPack(t);
  }
  static at::Tensor take(Managed* managed) {
    return at::fromDLPack(managed);
  }
};
struct Versioned {
  using Managed = at::DLManagedTensorVersioned;
  static constexpr const char* name = "dltensor_versioned";
  static constexpr const char* used = "used_dltensor_versioned";
  static Managed* make(const at::Tensor& t, bool is_copied) {
    return at::toDLPackVersioned(t, is_copied);
  }
  static at::Tensor take(Managed* managed) {
    return at::fromDLPackVersioned(managed);
  }
};

template <typename Form>
static void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, Form::name) == 0) {
    return; // the capsule was consumed: its consumer owns the memory
  }
  auto* managed = static_cast<typename Form::Managed*>(PyCapsule_GetPointer(capsule, Form::name));
  if (managed->deleter != nullptr) {
    managed->deleter(managed);
  }
}

// Returns whether the caller wants a copy. Throws if copy=False and a copy would be necessary.
static bool wants_copy(const at::Tensor& t, const py::object& dl_device, const py::object& copy) {
  TORCH_CHECK_TYPE(copy.is_none() || py::isinstance<py::bool_>(copy),
                   "_to_dlpack(): argument 'copy' must be bool, not ", Py_TYPE(copy.ptr())->tp_name);
  TORCH_CHECK_TYPE(dl_device.is_none() || (PyTuple_Check(dl_device.ptr()) && PyTuple_GET_SIZE(dl_device.ptr()) == 2),
                   "_to_dlpack(): argument 'dl_device' must be tuple of ints, not ", Py_TYPE(dl_device.ptr())->tp_name);
  if (!dl_device.is_none()) {
    const auto device = py::tuple(dl_device);
    const int device_type = py::int_(device[0]).cast<int>();
    const bool same = device_type == at::kDLCPU;
    if (!same && device_type != at::kDLCUDA) {
      PyErr_Format(PyExc_BufferError, "Unsupported device_type: %d", device_type);
      throw_python_error();
    }
    TORCH_CHECK_VALUE(same || copy.is_none() || copy.cast<bool>(), "cannot move (i.e. copy=False) tensor from ",
                      t.device(), " to device type ", std::string(py::str(device[0])), " without copying.");
    TORCH_CHECK(same, "Torch not compiled with CUDA enabled: a tensor can only be exported on the CPU, not on device ",
                std::string(py::str(device)));
  }
  return !copy.is_none() && copy.cast<bool>();
}

template <typename Form>
static py::object to_dlpack(const py::object& data, const py::object& dl_device, const py::object& copy) {
  TORCH_CHECK_TYPE(THPVariable_Check(data.ptr()), "_to_dlpack(): argument 'data' (position 1) must be Tensor, not ",
                   Py_TYPE(data.ptr())->tp_name);
  at::Tensor t = at::detach(THPVariable_Unpack(data.ptr()));
  const bool is_copied = wants_copy(t, dl_device, copy);
  if (is_copied) {
    const GilReleaseWhenLong gil(t.numel());
    t = at::clone(t);
  }
  typename Form::Managed* managed = Form::make(t, is_copied);
  PyObject* capsule = PyCapsule_New(managed, Form::name, destroy_capsule<Form>);
  if (capsule == nullptr) {
    managed->deleter(managed);
  }
  return steal(capsule);
}

template <typename Form>
static py::object take_capsule(PyObject* capsule) {
  auto* managed = static_cast<typename Form::Managed*>(PyCapsule_GetPointer(capsule, Form::name));
  const at::Tensor t = Form::take(managed);
  PyCapsule_SetName(capsule, Form::used);
  return steal(THPVariable_Wrap(t));
}

static py::object from_dlpack(const py::object& capsule) {
  try {
    if (PyCapsule_IsValid(capsule.ptr(), Versioned::name) != 0) {
      return take_capsule<Versioned>(capsule.ptr());
    }
    if (PyCapsule_IsValid(capsule.ptr(), Unversioned::name) != 0) {
      return take_capsule<Unversioned>(capsule.ptr());
    }
  } catch (const c10::Error& error) { // the capsule of another library is invalid
    PyErr_SetString(PyExc_BufferError, error.what());
    throw_python_error();
  }
  TORCH_CHECK(false,
              "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
              "might have already constructed a tensor from it once.");
}

void initDLPack(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  m.def("_to_dlpack", &to_dlpack<Unversioned>, py::arg("data"), py::kw_only(), py::arg("dl_device") = py::none(),
        py::arg("copy") = py::none(), "Return a capsule \"dltensor\" on a tensor's memory.");
  m.def("_to_dlpack_versioned", &to_dlpack<Versioned>, py::arg("data"), py::kw_only(),
        py::arg("dl_device") = py::none(), py::arg("copy") = py::none(),
        "Return a capsule \"dltensor_versioned\" on a tensor's memory.");
  m.def("_from_dlpack", &from_dlpack, py::arg("capsule"),
        "Return a tensor on the memory of a capsule, and consume the capsule.");
}

} // namespace reftorch::torch
