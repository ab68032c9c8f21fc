// Mirrors: torch/csrc/Generator.cpp
#include <csrc/python_generator.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>
#include <csrc/utils/object_ptr.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <pybind11/pybind11.h>

#include <string>
#include <tuple>

namespace reftorch::torch {

namespace py = pybind11;

static PyTypeObject* generator_type;

bool is_generator(PyObject* obj) {
  return PyObject_TypeCheck(obj, generator_type);
}
const at::Generator& unpack_generator(PyObject* obj) {
  return py::handle(obj).cast<at::Generator&>();
}
PyObject* wrap_generator(const at::Generator& generator) {
  return py::cast(generator).release().ptr();
}

// Converts a seed, which may be any 64-bit integer. A negative seed is taken modulo 2^64, as in PyTorch.
static uint64_t unpack_seed(const py::object& number) {
  TORCH_CHECK(PyLong_Check(number.ptr()) || PyIndex_Check(number.ptr()), "manual_seed expected a long, but got ",
              Py_TYPE(number.ptr())->tp_name);
  const py::int_ seed(number);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(seed.ptr(), &overflow);
  if (overflow == 0) {
    return static_cast<uint64_t>(value);
  }
  const unsigned long long unsigned_value = PyLong_AsUnsignedLongLong(seed.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    TORCH_CHECK_VALUE(false,
                      "Overflow when unpacking long long: manual_seed expects a value in [-0x8000_0000_0000_0000, "
                      "0xffff_ffff_ffff_ffff]");
  }
  return unsigned_value;
}

static py::object get_state(const at::Generator& g) {
  return steal(THPVariable_Wrap(at::Tensor(g.impl_->get_state())));
}

static void set_state(const at::Generator& g, const py::object& obj) {
  TORCH_CHECK_TYPE(THPVariable_Check(obj.ptr()), "expected a torch.ByteTensor, but got ", Py_TYPE(obj.ptr())->tp_name);
  const at::Tensor& bytes = THPVariable_Unpack(obj.ptr());
  TORCH_CHECK_TYPE(bytes.scalar_type() == c10::kByte && bytes.device().is_cpu(),
                   "RNG state must be a torch.ByteTensor on the CPU, but got ", bytes.scalar_type(), " on ",
                   bytes.device());
  TORCH_CHECK(bytes.is_contiguous(), "RNG state must be contiguous");
  g.impl_->set_state(*bytes.unsafeGetTensorImpl());
}

static at::Generator new_generator(c10::Device device) {
  if (device.is_cpu()) {
    return at::Generator{c10::make_intrusive<at::CPUGeneratorImpl>()};
  }
  return at::globalContext().getAcceleratorHooksInterface(device.type()).getNewGenerator(device.index());
}

// Pickles as PyTorch does, so that each library loads the other's files: the device makes the generator, and seed,
// offset and state follow. A CPU generator has no offset.
static py::tuple reduce(const py::object& self) {
  const auto& g = self.cast<const at::Generator&>();
  const py::object offset = g.impl_->device().is_cpu() ? py::none() : py::object(py::int_(g.impl_->get_offset()));
  return py::make_tuple(py::type::of(self), py::make_tuple(self.attr("device")),
                        py::make_tuple(g.impl_->current_seed(), offset, get_state(g)));
}

static void set_pickled_state(const at::Generator& g, const py::object& pickled) {
  TORCH_CHECK_TYPE(py::isinstance<py::tuple>(pickled) && py::len(pickled) == 3,
                   "Generator.__setstate__(): expected a tuple of seed, offset and state, but got ",
                   Py_TYPE(pickled.ptr())->tp_name);
  const auto [seed, offset, state] = pickled.cast<std::tuple<py::object, py::object, py::object>>();
  g.impl_->set_current_seed(unpack_seed(seed));
  if (!offset.is_none()) {
    g.impl_->set_offset(offset.cast<uint64_t>());
  }
  set_state(g, state);
}

void initGenerator(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  py::class_<at::Generator> cls(
      m, "Generator",
      "A source of random numbers (mt19937).\n\n"
      "Args:\n    device: the device on which the numbers are drawn.\n\n"
      "Example::\n\n    >>> import reftorch as torch\n    >>> g = torch.Generator().manual_seed(0)\n"
      "    >>> torch.rand(1, generator=g)\n    tensor([0.4963])\n\nMirrors torch/csrc/Generator.cpp.");
  cls.def(py::init([](const py::object& device) {
            const std::string text = py::str(device);
            return new_generator(c10::Device(text));
          }),
          py::arg("device") = "cpu")
      .def(
          "manual_seed",
          [](py::object self, const py::object& seed) {
            self.cast<at::Generator&>().impl_->set_current_seed(unpack_seed(seed));
            return self;
          },
          py::arg("seed"))
      .def("seed", [](at::Generator& g) { return g.impl_->seed(); })
      .def("initial_seed", [](at::Generator& g) { return g.impl_->current_seed(); })
      .def("get_state", &get_state)
      .def(
          "set_state",
          [](py::object self, const py::object& state) {
            set_state(self.cast<at::Generator&>(), state);
            return self;
          },
          py::arg("new_state"))
      .def("clone_state", [](const at::Generator& g) { return at::Generator{g.impl_->clone()}; })
      .def("graphsafe_get_state", [](const at::Generator& g) { return at::Generator{g.impl_->graphsafe_get_state()}; })
      .def(
          "graphsafe_set_state",
          [](py::object self, const at::Generator& state) {
            self.cast<at::Generator&>().impl_->graphsafe_set_state(*state.impl_);
            return self;
          },
          py::arg("state"))
      .def("get_offset", [](const at::Generator& g) { return g.impl_->get_offset(); })
      .def(
          "set_offset",
          [](py::object self, uint64_t offset) {
            self.cast<at::Generator&>().impl_->set_offset(offset);
            return self;
          },
          py::arg("offset"))
      .def("__reduce__", &reduce)
      .def_property_readonly("device", [](at::Generator& g) { return steal(THPDevice_New(g.impl_->device())); });
  // Not cls.def: pybind11 does not call a function named __setstate__ for an object that exists.
  cls.attr("__setstate__") =
      py::cpp_function(&set_pickled_state, py::name("set_pickled_state"), py::is_method(cls), py::arg("state"));
  generator_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  m.attr("default_generator") = py::cast(at::default_cpu_generator());
}

} // namespace reftorch::torch
