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
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <pybind11/pybind11.h>

#include <utility>

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

static c10::Device device_from_numbers(int device_type, int64_t device_id) {
  if (device_type == at::kDLCPU) {
    return c10::Device(c10::DeviceType::CPU);
  }
  if (device_type != at::kDLCUDA) {
    PyErr_Format(PyExc_BufferError, "Unsupported device_type: %d", device_type);
    throw_python_error();
  }
  return c10::Device(c10::DeviceType::CUDA, checked_device_index(device_id));
}

// Returns the tensor to export, on the device that the caller wants, and whether this tensor is a copy. Throws if
// copy=False and a copy would be necessary.
static std::pair<at::Tensor, bool> tensor_to_export(at::Tensor t, const py::object& dl_device, const py::object& copy) {
  TORCH_CHECK_TYPE(copy.is_none() || py::isinstance<py::bool_>(copy),
                   "_to_dlpack(): argument 'copy' must be bool, not ", Py_TYPE(copy.ptr())->tp_name);
  TORCH_CHECK_TYPE(dl_device.is_none() || (PyTuple_Check(dl_device.ptr()) && PyTuple_GET_SIZE(dl_device.ptr()) == 2),
                   "_to_dlpack(): argument 'dl_device' must be tuple of ints, not ", Py_TYPE(dl_device.ptr())->tp_name);
  if (!dl_device.is_none()) {
    const auto device = py::tuple(dl_device);
    const c10::Device wanted =
        device_from_numbers(py::int_(device[0]).cast<int>(), py::int_(device[1]).cast<int64_t>());
    if (wanted != t.device()) {
      TORCH_CHECK_VALUE(copy.is_none() || copy.cast<bool>(), "cannot move (i.e. copy=False) tensor from ", t.device(),
                        " to device type ", std::string(py::str(device[0])), " without copying.");
      if (wanted.is_cuda()) {
        c10::impl::getDeviceGuardImpl(wanted.type()); // raises in a build without CUDA
      }
      return {at::_to_copy(t, std::nullopt, wanted, /*non_blocking=*/false, at::MemoryFormat::Preserve), true};
    }
  }
  if (copy.is_none() || !copy.cast<bool>()) {
    return {std::move(t), false};
  }
  const GilReleaseWhenLong gil(t.numel());
  return {at::clone(t), true};
}

template <typename Form>
static py::object to_dlpack(const py::object& data, const py::object& dl_device, const py::object& copy) {
  TORCH_CHECK_TYPE(THPVariable_Check(data.ptr()), "_to_dlpack(): argument 'data' (position 1) must be Tensor, not ",
                   Py_TYPE(data.ptr())->tp_name);
  const at::Tensor& source = THPVariable_Unpack(data.ptr());
  if (source.device().is_meta()) {
    PyErr_SetString(PyExc_BufferError, "Cannot pack tensors on meta");
    throw_python_error();
  }
  const auto [t, is_copied] = tensor_to_export(at::detach(source), dl_device, copy);
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
