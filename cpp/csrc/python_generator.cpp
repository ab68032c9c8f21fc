// Mirrors: torch/csrc/Generator.cpp
// Left out: generators of other devices, graph-safe state.
#include <csrc/python_generator.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>

#include <ATen/EmptyTensor.h>

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstring>
#include <iterator>

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

// A seed may be any 64-bit integer; negative ones are taken modulo 2^64, as PyTorch does.
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

// The state as bytes, laid out as PyTorch's: a state saved there is one here, and the other way round.
struct GeneratorState {
  uint64_t seed;
  int32_t left;
  int32_t seeded; // always 1
  uint64_t next;
  uint64_t engine[at::mt19937::kStateSize];
  double unused;
  double normal_double; // the second of two normal numbers, kept for the next draw
  double unused_too;
  int32_t has_double;
  float normal_float;
  bool has_float;
};
constexpr int64_t kStateBytes = 5056;
static_assert(sizeof(GeneratorState) == kStateBytes, "PyTorch's states have another size");

static GeneratorState read_state(const at::Generator& g) {
  const at::GeneratorImpl& impl = *g.impl_;
  GeneratorState state;
  std::memset(&state, 0, sizeof(state));
  state.seed = impl.engine_.seed_;
  state.left = impl.engine_.left_;
  state.seeded = 1;
  state.next = impl.engine_.next_;
  std::copy(impl.engine_.state_.begin(), impl.engine_.state_.end(), state.engine);
  state.has_double = impl.next_double_normal_sample_.has_value();
  state.has_float = impl.next_float_normal_sample_.has_value();
  state.normal_double = impl.next_double_normal_sample_.value_or(0);
  state.normal_float = impl.next_float_normal_sample_.value_or(0);
  return state;
}

static py::object get_state(const at::Generator& g) {
  const GeneratorState state = read_state(g);
  at::Tensor bytes = at::detail::empty_generic(kStateBytes, c10::kByte);
  std::memcpy(bytes.data_ptr(), &state, sizeof(state));
  return py::reinterpret_steal<py::object>(THPVariable_Wrap(bytes));
}

static void write_state(at::Generator& g, const void* data, int64_t nbytes) {
  TORCH_CHECK(nbytes == kStateBytes, "Expected a CPUGeneratorImplState of size ", kStateBytes,
              " but found the input RNG state size to be ", nbytes);
  GeneratorState state;
  std::memcpy(&state, data, sizeof(state));
  // The draws left and those made fill the array at most: otherwise drawing would run past its end.
  TORCH_CHECK(state.seeded == 1 && state.left > 0 && state.next <= at::mt19937::kStateSize &&
                  state.left + static_cast<int64_t>(state.next) <= at::mt19937::kStateSize + 1,
              "Invalid mt19937 state");
  at::GeneratorImpl& impl = *g.impl_;
  impl.engine_.seed_ = state.seed;
  impl.engine_.left_ = state.left;
  impl.engine_.next_ = static_cast<uint32_t>(state.next);
  std::transform(std::begin(state.engine), std::end(state.engine), impl.engine_.state_.begin(),
                 [](uint64_t word) { return static_cast<uint32_t>(word); });
  impl.next_double_normal_sample_ = state.has_double ? std::optional<double>(state.normal_double) : std::nullopt;
  impl.next_float_normal_sample_ = state.has_float ? std::optional<float>(state.normal_float) : std::nullopt;
}

static void set_state(at::Generator& g, const py::object& obj) {
  TORCH_CHECK_TYPE(THPVariable_Check(obj.ptr()), "expected a torch.ByteTensor, but got ", Py_TYPE(obj.ptr())->tp_name);
  const at::Tensor& bytes = THPVariable_Unpack(obj.ptr());
  TORCH_CHECK_TYPE(bytes.scalar_type() == c10::kByte && bytes.is_contiguous(), "RNG state must be a torch.ByteTensor");
  write_state(g, bytes.data_ptr(), bytes.numel());
}

// Only generators that count their draws have a place in the sequence; in PyTorch too.
constexpr const char* kNoOffset = "CPU Generator does not use offset";

static at::Generator clone_state(const at::Generator& g) {
  at::Generator clone{c10::make_intrusive<at::GeneratorImpl>()};
  clone.impl_->engine_ = g.impl_->engine_;
  clone.impl_->next_double_normal_sample_ = g.impl_->next_double_normal_sample_;
  clone.impl_->next_float_normal_sample_ = g.impl_->next_float_normal_sample_;
  return clone;
}

void initGenerator(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  py::class_<at::Generator> cls(
      m, "Generator",
      "A source of random numbers (mt19937).\n\n"
      "Args:\n    device: where it draws; only 'cpu'.\n\n"
      "Example::\n\n    >>> import reftorch as torch\n    >>> g = torch.Generator().manual_seed(0)\n"
      "    >>> torch.rand(1, generator=g)\n    tensor([0.4963])\n\nMirrors torch/csrc/Generator.cpp.");
  cls.def(py::init([](const py::object& device) {
            const std::string text = py::str(device);
            TORCH_CHECK(c10::Device(text).is_cpu(), "Device type ", text,
                        " is not supported for torch.Generator() api.");
            return at::Generator{c10::make_intrusive<at::GeneratorImpl>()};
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
      .def("clone_state", &clone_state)
      .def("get_offset", [](const at::Generator&) -> int64_t { TORCH_CHECK(false, kNoOffset); })
      .def(
          "set_offset", [](const at::Generator&, uint64_t) { TORCH_CHECK(false, kNoOffset); }, py::arg("offset"))
      .def(py::pickle(
          [](const at::Generator& g) {
            const GeneratorState state = read_state(g);
            return py::bytes(reinterpret_cast<const char*>(&state), sizeof(state));
          },
          [](const py::bytes& state) {
            const std::string bytes = state;
            at::Generator g{c10::make_intrusive<at::GeneratorImpl>()};
            write_state(g, bytes.data(), static_cast<int64_t>(bytes.size()));
            return g;
          }))
      .def_property_readonly("device", [](at::Generator&) {
        return py::reinterpret_steal<py::object>(THPDevice_New(c10::Device(c10::DeviceType::CPU)));
      });
  generator_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  m.attr("default_generator") = py::cast(at::default_cpu_generator());
}

} // namespace reftorch::torch
