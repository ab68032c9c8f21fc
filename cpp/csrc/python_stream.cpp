// Mirrors: torch/csrc/Stream.cpp, torch/csrc/Event.cpp, torch/csrc/DeviceAccelerator.cpp
//
// Binds torch.Stream and torch.Event for any type of device, and what torch.accelerator and pinned memory need from the
// current accelerator. Calls that wait for a device release the GIL. Left out: handles for other processes,
// which csrc/cuda binds for CUDA, and native handles.
#include <csrc/python_stream.h>

#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/python_context_manager.h>

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

namespace reftorch::torch {

namespace py = pybind11;

namespace {

using ReleaseGil = py::call_guard<py::gil_scoped_release>;

const c10::impl::DeviceGuardImplInterface& guard_impl(c10::DeviceType type) {
  return *c10::impl::getDeviceGuardImpl(type);
}
const c10::impl::DeviceGuardImplInterface& accelerator_impl() {
  return guard_impl(*at::getAccelerator(/*checked=*/true));
}

// Converts a device argument. None stands for the accelerator, or for the CPU if there is none; an int is the number of
// a device of the accelerator.
c10::Device unpack_stream_device(const py::object& device) {
  if (device.is_none()) {
    return c10::Device(at::getAccelerator().value_or(c10::kCPU));
  }
  if (py::isinstance<py::int_>(device)) {
    return c10::Device(*at::getAccelerator(/*checked=*/true), checked_device_index(device.cast<int64_t>()));
  }
  return c10::Device(std::string(py::str(device)));
}

py::object wrap_device(c10::Device device) {
  return steal(THPDevice_New(device));
}

struct PyStream {
  c10::Stream stream;
  py_context_manager<c10::StreamGuard, c10::Stream> context;

  explicit PyStream(c10::Stream stream_) : stream(stream_), context(stream_) {}
};

c10::Stream current_stream(c10::DeviceType type) {
  const auto& device = guard_impl(type);
  return device.getStream(device.getDevice());
}

std::unique_ptr<PyStream> new_stream(const py::object& device, int priority) {
  const c10::Device where = c10::ensure_has_index(unpack_stream_device(device));
  const c10::OptionalDeviceGuard guard(where);
  return std::make_unique<PyStream>(guard_impl(where.type()).getNewStream(where, priority));
}

std::unique_ptr<PyStream> existing_stream(int64_t stream_id, int64_t device_index, int64_t device_type) {
  TORCH_CHECK(0 <= device_type && device_type < c10::kNumDeviceTypes, "Stream: expected a device_type from 0 to ",
              c10::kNumDeviceTypes - 1, ", but got ", device_type);
  const c10::Device device(static_cast<c10::DeviceType>(device_type), checked_device_index(device_index));
  const auto& impl = guard_impl(device.type()); // raises for a type that has no streams
  TORCH_CHECK(0 <= device.index() && device.index() < impl.deviceCount(), "Stream: expected a device_index from 0 to ",
              static_cast<int>(impl.deviceCount()) - 1, ", but got ", device_index);
  return std::make_unique<PyStream>(c10::Stream(c10::Stream::UNSAFE, device, stream_id));
}

std::string stream_repr(const PyStream& self) {
  return c10::str("torch.Stream device_type=", c10::DeviceTypeName(self.stream.device_type()),
                  ", device_index=", static_cast<int>(self.stream.device_index()), ", stream_id=", self.stream.id());
}

c10::Stream stream_or_current(const py::object& stream, c10::DeviceType type) {
  return stream.is_none() ? current_stream(type) : stream.cast<const PyStream&>().stream;
}

// Records the given event, or a new event if None is given.
py::object record_event(const PyStream& self, py::object event) {
  if (event.is_none()) {
    event = py::cast(c10::Event(self.stream.device_type()));
  }
  event.cast<c10::Event&>().record(self.stream);
  return event;
}

void wait_stream(const PyStream& self, const PyStream& other) {
  c10::Event event(other.stream.device_type());
  event.record(other.stream);
  self.stream.wait(event);
}

void init_stream_class(py::module_& m) {
  py::class_<PyStream>(
      m, "Stream",
      "Stream(device=None, *, priority=0)\n--\n\n"
      "A queue of work on a device. Work on one stream runs in order, work on two streams may run at the same "
      "time.\n\n"
      "A ``with`` block makes the stream and its device current.\n\n"
      "Args:\n    device: the default is the accelerator, or the CPU if there is none.\n"
      "    priority: the stream's priority among those of the device; a lower number runs first.\n\n"
      "Raises:\n    RuntimeError: there is no such device.\n\n"
      "Example:\n    >>> import reftorch as torch\n    >>> torch.Stream(\"cpu\").query()\n    True\n\n"
      "Mirrors torch/csrc/Stream.cpp.",
      py::dynamic_attr())
      .def(py::init(&new_stream), py::arg("device") = py::none(), py::kw_only(), py::arg("priority") = 0)
      .def(py::init(&existing_stream), py::kw_only(), py::arg("stream_id"), py::arg("device_index"),
           py::arg("device_type"))
      .def_property_readonly("device", [](const PyStream& self) { return wrap_device(self.stream.device()); })
      .def_property_readonly("device_type",
                             [](const PyStream& self) { return static_cast<int>(self.stream.device_type()); })
      .def_property_readonly("device_index",
                             [](const PyStream& self) { return static_cast<int>(self.stream.device_index()); })
      .def_property_readonly("stream_id", [](const PyStream& self) { return self.stream.id(); })
      .def(
          "query", [](const PyStream& self) { return self.stream.query(); }, ReleaseGil())
      .def(
          "synchronize", [](const PyStream& self) { self.stream.synchronize(); }, ReleaseGil())
      .def(
          "wait_event", [](const PyStream& self, const c10::Event& event) { event.block(self.stream); }, ReleaseGil(),
          py::arg("event"))
      .def("wait_stream", &wait_stream, py::arg("stream"))
      .def("is_capturing",
           [](const PyStream& self) { return guard_impl(self.stream.device_type()).isStreamCapturing(self.stream); })
      .def("record_event", &record_event, py::arg("event") = py::none())
      .def("__enter__",
           [](py::object self) {
             self.cast<PyStream&>().context.enter();
             return self;
           })
      .def("__exit__", [](PyStream& self, const py::args&) { self.context.exit(); })
      .def("__eq__",
           [](const PyStream& self, const py::object& other) {
             return py::isinstance<PyStream>(other) && self.stream == other.cast<const PyStream&>().stream;
           })
      .def("__hash__", [](const PyStream& self) { return std::hash<c10::Stream>()(self.stream); })
      .def("__repr__", &stream_repr);
}

std::string event_repr(const c10::Event& self) {
  return c10::str("torch.Event device_type=", c10::DeviceTypeName(self.device_type()),
                  ", device_index=", static_cast<int>(self.device_index()),
                  ", event_flag=", static_cast<int>(self.flag()),
                  ", event_id=", reinterpret_cast<uintptr_t>(self.eventId()));
}

void init_event_class(py::module_& m) {
  py::class_<c10::Event>(
      m, "Event",
      "Event(device=None, *, enable_timing=False)\n--\n\n"
      "A point in a stream, for which other streams and the program can wait.\n\n"
      "Args:\n    device: the default is the accelerator, or the CPU if there is none.\n"
      "    enable_timing: whether the event records the time, for :meth:`elapsed_time`.\n\n"
      "Raises:\n    RuntimeError: there is no such device.\n\n"
      "Example:\n    >>> import reftorch as torch\n    >>> torch.Event(\"cpu\").query()\n    True\n\n"
      "Mirrors torch/csrc/Event.cpp.")
      .def(py::init([](const py::object& device, bool enable_timing, bool, bool interprocess, bool external) {
             using Flag = c10::EventFlag;
             return c10::Event(unpack_stream_device(device).type(),
                               (enable_timing ? Flag::BACKEND_DEFAULT : Flag::PYTORCH_DEFAULT) |
                                   (interprocess ? Flag::INTERPROCESS : Flag::PYTORCH_DEFAULT) |
                                   (external ? Flag::EXTERNAL : Flag::PYTORCH_DEFAULT));
           }),
           py::arg("device") = py::none(), py::kw_only(), py::arg("enable_timing") = false, py::arg("blocking") = false,
           py::arg("interprocess") = false, py::arg("external") = false)
      .def_property_readonly("device", [](const c10::Event& self) { return wrap_device(self.device()); })
      .def_property_readonly("event_id",
                             [](const c10::Event& self) { return reinterpret_cast<uintptr_t>(self.eventId()); })
      .def(
          "record",
          [](c10::Event& self, const py::object& stream) {
            self.record(stream_or_current(stream, self.device_type()));
          },
          py::arg("stream") = py::none())
      .def(
          "wait",
          [](const c10::Event& self, const py::object& stream) {
            const c10::Stream waiting = stream_or_current(stream, self.device_type());
            const py::gil_scoped_release no_gil; // with CUDA_LAUNCH_BLOCKING=1 the caller waits, perhaps for a process
            self.block(waiting);
          },
          py::arg("stream") = py::none())
      .def(
          "query", [](const c10::Event& self) { return self.query(); }, ReleaseGil())
      .def(
          "synchronize", [](const c10::Event& self) { self.synchronize(); }, ReleaseGil())
      .def("elapsed_time", &c10::Event::elapsedTime, py::arg("end_event"), ReleaseGil())
      .def("__repr__", &event_repr);
}

void init_accelerator(py::module_& m) {
  m.def("_accelerator_getAccelerator", []() -> py::object {
    const auto type = at::getAccelerator();
    return type.has_value() ? wrap_device(c10::Device(*type)) : py::none();
  });
  m.def("_accelerator_setAllocatorSettings",
        [](const std::string& env) { c10::CachingAllocator::AcceleratorAllocatorConfig::instance().parseArgs(env); });
  m.def("_accelerator_getAllocatorSettings",
        [] { return c10::CachingAllocator::AcceleratorAllocatorConfig::instance().last_allocator_settings(); });
  m.def("_accelerator_deviceCount", [] {
    const auto type = at::getAccelerator();
    return type.has_value() ? static_cast<int>(guard_impl(*type).deviceCount()) : 0;
  });
  m.def("_accelerator_setDeviceIndex", [](int64_t index) {
    const auto& device = accelerator_impl();
    TORCH_CHECK(index < device.deviceCount(), "invalid device ordinal ", index, ": there are ",
                static_cast<int>(device.deviceCount()), " devices");
    if (index >= 0) {
      device.setDevice(c10::Device(device.type(), checked_device_index(index)));
    }
  });
  m.def("_accelerator_getDeviceIndex", [] { return static_cast<int>(accelerator_impl().getDevice().index()); });
  m.def("_accelerator_setStream", [](const PyStream& self) {
    const auto& device = accelerator_impl();
    TORCH_CHECK(self.stream.device_type() == device.type(), "stream's device type ",
                c10::DeviceTypeName(self.stream.device_type()), " doesn't match the current accelerator ",
                c10::DeviceTypeName(device.type()));
    device.setDevice(self.stream.device());
    device.exchangeStream(self.stream);
  });
  m.def("_accelerator_getStream", [](int64_t index) {
    const auto& device = accelerator_impl();
    return std::make_unique<PyStream>(
        device.getStream(c10::ensure_has_index(c10::Device(device.type(), checked_device_index(index)))));
  });
  m.def(
      "_accelerator_synchronizeDevice",
      [](int64_t index) {
        const auto& device = accelerator_impl();
        const auto wanted = c10::ensure_has_index(c10::Device(device.type(), checked_device_index(index)));
        device.synchronizeDevice(wanted.index());
      },
      ReleaseGil());
}

const at::Tensor& unpack_tensor(const py::object& tensor) {
  TORCH_CHECK_TYPE(THPVariable_Check(tensor.ptr()), "expected a Tensor, got ", Py_TYPE(tensor.ptr())->tp_name);
  return THPVariable_Unpack(tensor.ptr());
}

bool is_pinned(const py::object& tensor) {
  const at::Tensor& t = unpack_tensor(tensor);
  const auto type = at::getAccelerator();
  return type.has_value() && t.device().is_cpu() &&
         at::globalContext().getAcceleratorHooksInterface(type).isPinnedPtr(t.storage().mutable_data());
}

py::object pin_memory(const py::object& tensor) {
  const at::Tensor& t = unpack_tensor(tensor);
  TORCH_CHECK(t.device().is_cpu(), "cannot pin a tensor on ", t.device(), ": only dense CPU tensors can be pinned");
  at::getAccelerator(/*checked=*/true);
  at::Tensor pinned = at::detail::empty_strided_generic(t.sizes(), t.strides(), t.scalar_type(), t.device(),
                                                        /*pin_memory=*/true);
  at::copy_(pinned, t);
  return steal(THPVariable_Wrap(pinned));
}

void record_stream(const py::object& tensor, const PyStream& self) {
  const c10::Storage& storage = unpack_tensor(tensor).storage();
  guard_impl(self.stream.device_type()).recordDataPtrOnStream(storage.storage_impl_->data_ptr_, self.stream);
}

} // namespace

void initStream(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  init_event_class(m);
  init_stream_class(m);
  init_accelerator(m);
  m.def("_pin_memory", &pin_memory);
  m.def("_is_pinned", &is_pinned);
  m.def("_record_stream", &record_stream);
}

} // namespace reftorch::torch
