// Mirrors: torch/csrc/distributed/c10d/init.cpp (ProcessGroupNCCL)
#include <csrc/distributed/c10d/python_nccl.h>

#include <csrc/distributed/c10d/ProcessGroupNCCL.h>
#include <csrc/distributed/c10d/python_stores.h>
#include <csrc/utils/python_instances.h>

#include <pybind11/chrono.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace reftorch::c10d {

using Options = ProcessGroupNCCL::Options;

// The destructor waits for the watching thread, and may wait for works.
static std::shared_ptr<ProcessGroupNCCL> owned(ProcessGroupNCCL* group) {
  return std::shared_ptr<ProcessGroupNCCL>(group, [](ProcessGroupNCCL* last) {
    if (PyGILState_Check() != 0) {
      without_gil([&] { delete last; });
    } else {
      delete last;
    }
  });
}

static void init_options_of_nccl(py::class_<ProcessGroupNCCL, ProcessGroup, std::shared_ptr<ProcessGroupNCCL>>& group) {
  py::class_<ncclConfig_t>(group, "NCCLConfig",
                           "What a program may choose of a communicator of NVIDIA's library; the simulator takes no "
                           "notice.\n\nMirrors torch/csrc/distributed/c10d/init.cpp, ``NCCLConfig``.")
      .def(py::init([] { return ncclConfig_t NCCL_CONFIG_INITIALIZER; }))
      .def_readwrite("blocking", &ncclConfig_t::blocking)
      .def_readwrite("cga_cluster_size", &ncclConfig_t::cgaClusterSize)
      .def_readwrite("min_ctas", &ncclConfig_t::minCTAs)
      .def_readwrite("max_ctas", &ncclConfig_t::maxCTAs);
  py::class_<Options>(group, "Options",
                      "Options of a group, for ``pg_options``.\n\n"
                      "Args:\n    is_high_priority_stream: has no effect: all streams have one priority here.\n\n"
                      "Mirrors torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp, ``Options``.")
      .def(py::init([](bool is_high_priority_stream) {
             Options options;
             options.is_high_priority_stream = is_high_priority_stream;
             return options;
           }),
           py::arg("is_high_priority_stream") = false)
      .def_readwrite("config", &Options::config)
      .def_readwrite("is_high_priority_stream", &Options::is_high_priority_stream)
      .def_readwrite("global_ranks_in_group", &Options::global_ranks_in_group)
      .def_readwrite("group_name", &Options::group_name)
      .def_readwrite("_timeout", &Options::timeout)
      .def_property_readonly("backend", [](const Options&) { return "nccl"; });
}

void init_nccl(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module);
  py::class_<ProcessGroupNCCL, ProcessGroup, std::shared_ptr<ProcessGroupNCCL>> group(
      m, "ProcessGroupNCCL",
      "The backend of CUDA tensors: NVIDIA's NCCL on GPUs, and the simulator's on simulated devices.\n\n"
      "An operation runs on a stream of the group. ``Work.wait()`` lets the current stream wait, and the program goes "
      "on at once.\n\n"
      "Args:\n    store: through which the ranks find each other.\n    rank: of this process.\n"
      "    size: the number of processes.\n    options: an :class:`Options`, or the timeout of each operation.\n\n"
      "Raises:\n    ValueError: there is no device.\n\n"
      "Mirrors torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp, ``ProcessGroupNCCL``.");
  init_options_of_nccl(group);
  // Not call guards: pybind11 would then enter the new object in its table of instances without the GIL.
  group
      .def(py::init([](const std::shared_ptr<Store>& store, int rank, int size, const Options& options) {
             return owned(without_gil([&] { return new ProcessGroupNCCL(store, rank, size, options); }));
           }),
           py::arg("store").none(false), py::arg("rank"), py::arg("size"), py::arg("options"))
      .def(py::init([](const std::shared_ptr<Store>& store, int rank, int size, Milliseconds timeout) {
             Options options;
             options.timeout = timeout;
             return owned(without_gil([&] { return new ProcessGroupNCCL(store, rank, size, options); }));
           }),
           py::arg("store").none(false), py::arg("rank"), py::arg("size"), py::arg("timeout") = Milliseconds(600'000))
      .def_property_readonly("options", [](const ProcessGroupNCCL& self) { return self.getOptions(); })
      .def("_set_bound_device", torch::method(&ProcessGroupNCCL::setBoundDevice), py::arg("device"))
      .def_static("get_runtime_nccl_version", [] { return py::tuple(py::cast(ProcessGroupNCCL::version())); })
      .def_static("get_build_nccl_version", [] { return py::make_tuple(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH); });
}

} // namespace reftorch::c10d
