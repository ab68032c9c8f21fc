// Mirrors: torch/csrc/distributed/c10d/init.cpp
//
// The bindings of the stores and of the options of collectives.
#include <csrc/distributed/c10d/python_stores.h>

#include <csrc/distributed/c10d/FileStore.h>
#include <csrc/distributed/c10d/HashStore.h>
#include <csrc/distributed/c10d/PrefixStore.h>
#include <csrc/distributed/c10d/TCPStore.h>
#include <csrc/distributed/c10d/Types.h>
#include <csrc/utils/python_instances.h>

#include <pybind11/chrono.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace reftorch::c10d {
namespace {

using no_gil = py::call_guard<py::gil_scoped_release>;

// --- stores ----------------------------------------------------------------------------------------------------------

py::list as_bytes(const std::vector<std::string>& values) {
  py::list result;
  for (const std::string& value : values) {
    result.append(py::bytes(value));
  }
  return result;
}

} // namespace

void init_stores(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module);
  py::class_<Store, std::shared_ptr<Store>>(
      m, "Store",
      "A dictionary that all processes of a job share: keys are str, values bytes.\n\n"
      "Mirrors torch/csrc/distributed/c10d/Store.hpp, ``Store``.")
      .def("clone", torch::method(&Store::clone), no_gil(),
           "Return a store of the same contents with a connection of its own.")
      .def("set", torch::method(&Store::set), no_gil(), py::arg("key"), py::arg("value"),
           "Set a key to a value, a str or bytes.")
      .def(
          "get",
          [](Store& self, const std::string& key) { return py::bytes(without_gil([&] { return self.get(key); })); },
          py::arg("key"), "Wait until the key exists, and return its value.")
      .def("add", torch::method(&Store::add), no_gil(), py::arg("key"), py::arg("amount"),
           "Add to the number of a key, which starts at 0, and return the sum.")
      .def(
          "compare_set",
          [](Store& self, const std::string& key, const std::string& expected, const std::string& desired) {
            return py::bytes(without_gil([&] { return self.compareSet(key, expected, desired); }));
          },
          py::arg("key"), py::arg("expected_value"), py::arg("desired_value"),
          "Set the key to the desired value if its value is the expected one; return the value after that.")
      .def("delete_key", torch::method(&Store::deleteKey), no_gil(), py::arg("key"),
           "Delete a key; return whether it existed.")
      .def("check", torch::method(&Store::check), no_gil(), py::arg("keys"), "Return whether all keys exist.")
      .def("num_keys", torch::method(&Store::getNumKeys), no_gil(), "Return the number of keys.")
      .def("list_keys", torch::method(&Store::listKeys), no_gil(), "Return the keys.")
      .def("append", torch::method(&Store::append), no_gil(), py::arg("key"), py::arg("value"),
           "Append to the value of a key.")
      .def(
          "multi_get",
          [](Store& self, const std::vector<std::string>& keys) {
            return as_bytes(without_gil([&] { return self.multiGet(keys); }));
          },
          py::arg("keys"), "Wait until all keys exist, and return their values.")
      .def("multi_set", torch::method(&Store::multiSet), no_gil(), py::arg("keys"), py::arg("values"),
           "Set several keys.")
      .def("queue_push", torch::method(&Store::queuePush), no_gil(), py::arg("key"), py::arg("value"),
           "Put a value at the end of a queue.")
      .def(
          "queue_pop",
          [](Store& self, const std::string& key, bool block) {
            return py::bytes(without_gil([&] { return self.queuePop(key, block); }));
          },
          py::arg("key"), py::arg("block") = true,
          "Take the first value of a queue; wait for one, or raise QueueEmptyError without ``block``.")
      .def("queue_len", torch::method(&Store::queueLen), no_gil(), py::arg("key"),
           "Return the number of values in a queue.")
      .def("has_extended_api", torch::method(&Store::hasExtendedApi),
           "Return whether append, multi_get and queues are there.")
      .def(
          "wait",
          [](Store& self, const std::vector<std::string>& keys, OptionalTimeout timeout) {
            self.wait(keys, timeout.value_or(self.getTimeout()));
          },
          no_gil(), py::arg("keys"), py::arg("timeout") = py::none(), "Wait until all keys exist.")
      .def(
          "barrier",
          [](Store& self, const std::string& key, int64_t world_size, OptionalTimeout timeout) {
            self.barrier(key, world_size, timeout.value_or(self.getTimeout()));
          },
          no_gil(), py::arg("key"), py::arg("world_size"), py::arg("timeout") = py::none(),
          "Wait until ``world_size`` processes have come to the barrier of this name.")
      .def("set_timeout", torch::method(&Store::setTimeout), py::arg("timeout"), "Set how long the functions wait.")
      .def_property_readonly("timeout", torch::method(&Store::getTimeout), "How long the functions wait.");

  py::class_<HashStore, Store, std::shared_ptr<HashStore>>(
      m, "HashStore",
      "A store inside one process, for threads that play ranks.\n\n"
      "Example:\n    >>> import reftorch.distributed as dist\n    >>> store = dist.HashStore()\n"
      "    >>> store.add(\"arrived\", 1), store.add(\"arrived\", 1)\n    (1, 2)\n"
      "    >>> store.get(\"arrived\")\n    b'2'\n\n"
      "Mirrors torch/csrc/distributed/c10d/HashStore.hpp, ``HashStore``.")
      .def(py::init<>());

  py::class_<PrefixStore, Store, std::shared_ptr<PrefixStore>>(
      m, "PrefixStore",
      "The keys of a store that begin with a prefix.\n\n"
      "Example:\n    >>> import reftorch.distributed as dist\n    >>> store = dist.HashStore()\n"
      "    >>> dist.PrefixStore(\"job_1\", store).set(\"key\", \"value\")\n    >>> store.list_keys()\n"
      "    ['job_1/key']\n\n"
      "Mirrors torch/csrc/distributed/c10d/PrefixStore.hpp, ``PrefixStore``.")
      .def(py::init<std::string, std::shared_ptr<Store>>(), py::arg("prefix"), py::arg("store").none(false))
      .def_property_readonly("underlying_store", torch::method(&PrefixStore::getUnderlyingStore), "The store below.");

  py::class_<FileStore, Store, std::shared_ptr<FileStore>>(
      m, "FileStore",
      "A store in a file, for processes that share a file system.\n\n"
      "Args:\n    file_name: the file; it is made if it does not exist.\n"
      "    world_size: how many processes use the store. The last one that finishes removes the file.\n\n"
      "Mirrors torch/csrc/distributed/c10d/FileStore.hpp, ``FileStore``.")
      .def(py::init<std::string, int>(), no_gil(), py::arg("file_name"), py::arg("world_size") = -1)
      .def_property_readonly("path", torch::method(&FileStore::getPath), "The path of the file.");

  py::class_<TCPStore, Store, std::shared_ptr<TCPStore>>(
      m, "TCPStore",
      "A store that one process serves to all over TCP.\n\n"
      "The server listens on the loopback interface if ``host_name`` is \"localhost\" or begins with 127, and on all "
      "interfaces otherwise. Whoever reaches the port and speaks the protocol can change the store.\n\n"
      "Args:\n    host_name: the machine of the server.\n    port: the server's port; 0 takes a free one.\n"
      "    world_size: how many processes come; None stands for an unknown number.\n"
      "    is_master: whether this process serves the store.\n    timeout: how long the functions wait.\n"
      "    wait_for_workers: whether the server waits in its constructor for all processes.\n"
      "    multi_tenant: whether stores of this process with one port share one server.\n"
      "    master_listen_fd: a listening socket for the server.\n    use_libuv: has no effect.\n\n"
      "Raises:\n    DistNetworkError: the port is in use, or nobody answers.\n\n"
      "Example:\n    >>> import reftorch.distributed as dist\n"
      "    >>> server = dist.TCPStore(\"localhost\", 0, is_master=True)\n"
      "    >>> client = dist.TCPStore(\"localhost\", server.port)\n"
      "    >>> client.set(\"key\", \"value\")\n    >>> server.get(\"key\")\n    b'value'\n\n"
      "Mirrors torch/csrc/distributed/c10d/TCPStore.hpp, ``TCPStore``.")
      .def(py::init([](std::string host_name, uint16_t port, std::optional<int64_t> world_size, bool is_master,
                       Milliseconds timeout, bool wait_for_workers, bool multi_tenant,
                       std::optional<int> master_listen_fd, bool use_libuv) {
             TCPStoreOptions options;
             options.port = port;
             options.isServer = is_master;
             options.numWorkers = world_size;
             options.waitWorkers = wait_for_workers;
             options.timeout = timeout;
             options.multiTenant = multi_tenant;
             options.masterListenFd = master_listen_fd;
             // Not a call guard: pybind11 would then enter the new object in its table of instances without the GIL.
             return without_gil([&] { return std::make_shared<TCPStore>(std::move(host_name), options); });
           }),
           py::arg("host_name"), py::arg("port"), py::arg("world_size") = py::none(), py::arg("is_master") = false,
           py::arg("timeout") = Store::kDefaultTimeout, py::arg("wait_for_workers") = true,
           py::arg("multi_tenant") = false, py::arg("master_listen_fd") = py::none(), py::arg("use_libuv") = true)
      .def_property_readonly("host", torch::method(&TCPStore::getHost), "The machine of the server.")
      .def_property_readonly("port", torch::method(&TCPStore::getPort), "The port of the server.");
}

// --- options ---------------------------------------------------------------------------------------------------------

template <typename Options>
static py::class_<Options> options_class(py::module_& m, const char* name) {
  return py::class_<Options>(m, name, "Options of a collective; a negative timeout stands for the group's.")
      .def(py::init<>())
      .def_readwrite("timeout", &Options::timeout)
      .def_readwrite("asyncOp", &Options::asyncOp);
}

void init_options(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module);
  py::enum_<ReduceOp>(
      m, "ReduceOp",
      "How a reduction combines the numbers of all ranks; AVG needs floats, BAND, BOR and BXOR integers "
      "or bools.\n\nMirrors torch/csrc/distributed/c10d/Types.hpp, ``ReduceOp``.")
      .value("SUM", ReduceOp::SUM)
      .value("AVG", ReduceOp::AVG)
      .value("PRODUCT", ReduceOp::PRODUCT)
      .value("MIN", ReduceOp::MIN)
      .value("MAX", ReduceOp::MAX)
      .value("BAND", ReduceOp::BAND)
      .value("BOR", ReduceOp::BOR)
      .value("BXOR", ReduceOp::BXOR);
  m.attr("ReduceOp").attr("RedOpType") = m.attr("ReduceOp");
  py::enum_<DebugLevel>(m, "DebugLevel",
                        "How much torch.distributed checks and prints.\n\n"
                        "Mirrors torch/csrc/distributed/c10d/debug.h, ``DebugLevel``.")
      .value("OFF", DebugLevel::Off)
      .value("INFO", DebugLevel::Info)
      .value("DETAIL", DebugLevel::Detail);
  options_class<AllreduceOptions>(m, "AllreduceOptions").def_readwrite("reduceOp", &AllreduceOptions::reduceOp);
  options_class<AllreduceCoalescedOptions>(m, "AllreduceCoalescedOptions")
      .def_readwrite("reduceOp", &AllreduceCoalescedOptions::reduceOp);
  options_class<ReduceScatterOptions>(m, "ReduceScatterOptions")
      .def_readwrite("reduceOp", &ReduceScatterOptions::reduceOp);
  options_class<ReduceOptions>(m, "ReduceOptions")
      .def_readwrite("reduceOp", &ReduceOptions::reduceOp)
      .def_readwrite("rootRank", &ReduceOptions::rootRank);
  options_class<BroadcastOptions>(m, "BroadcastOptions").def_readwrite("rootRank", &BroadcastOptions::rootRank);
  options_class<GatherOptions>(m, "GatherOptions").def_readwrite("rootRank", &GatherOptions::rootRank);
  options_class<ScatterOptions>(m, "ScatterOptions").def_readwrite("rootRank", &ScatterOptions::rootRank);
  options_class<AllgatherOptions>(m, "AllgatherOptions");
  options_class<AllToAllOptions>(m, "AllToAllOptions");
  options_class<BarrierOptions>(m, "BarrierOptions").def_readwrite("device", &BarrierOptions::device);
}

} // namespace reftorch::c10d
