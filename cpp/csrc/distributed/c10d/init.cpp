// Mirrors: torch/csrc/distributed/c10d/init.cpp
//
// The bindings of torch.distributed. Every function that may wait releases the GIL; python_nccl.cpp has the backend of
// CUDA devices. Left out: the Reducer, which is Python here. The file is more than 500 lines long, because most of them
// bind one class.
#include <csrc/distributed/c10d/init.h>

#include <csrc/Exceptions.h>
#include <csrc/distributed/c10d/ProcessGroupGloo.h>
#include <csrc/distributed/c10d/python_nccl.h>
#include <csrc/distributed/c10d/python_stores.h>
#include <csrc/python_gil.h>
#include <csrc/utils/pybind.h>
#include <csrc/utils/python_instances.h>
#include <reftorch_config.h>

#include <pybind11/chrono.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <optional>

#include <sys/syscall.h>
#include <unistd.h>

namespace py = pybind11;

namespace reftorch::c10d {
namespace {

using no_gil = py::call_guard<py::gil_scoped_release>;
using torch::GilAcquire;

// Raises KeyboardInterrupt, or what another handler raises. Python handles signals on the main thread only, and no
// other thread may take the GIL here: the thread of a group that asked for it while Python ends would wait for ever.
void check_signals() {
  if (::syscall(SYS_gettid) != ::getpid()) {
    return;
  }
  const GilAcquire gil;
  if (PyErr_CheckSignals() != 0) {
    torch::throw_python_error();
  }
}

// --- the line of the program -----------------------------------------------------------------------------------------

// The folder of this package, with a slash at the end. The binding of the module asks for it, not the first collective:
// an import may let another thread run, which would wait for the first caller's local static with the GIL in its hands.
std::string package_folder;

void find_package_folder() {
  const auto file = py::module_::import("reftorch").attr("__file__").cast<std::string>();
  package_folder = file.substr(0, file.rfind('/') + 1);
}

// Returns "file.py:31", the innermost line of Python that is not in this package, or "" without such a line.
std::string call_site() {
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  std::string place;
  while (frame != nullptr) {
    PyCodeObject* const code = PyFrame_GetCode(frame);
    const char* const file = PyUnicode_AsUTF8(code->co_filename);
    if (file == nullptr) {
      PyErr_Clear();
    } else if (std::string_view(file).rfind(package_folder, 0) != 0) {
      place = c10::str(file, ":", PyFrame_GetLineNumber(frame));
    }
    Py_DECREF(code);
    PyFrameObject* const outer = place.empty() ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    frame = outer;
  }
  return place;
}

// --- the stack of a rank, for another rank ---------------------------------------------------------------------------

std::string python_stack(unsigned long thread, const std::string& doing) {
  if (!Py_IsInitialized()) {
    return doing;
  }
  const GilAcquire gil;
  try {
    return py::module_::import("reftorch.distributed._stacks").attr("answer")(thread, doing).cast<std::string>();
  } catch (py::error_already_set& error) {
    return c10::str(doing, "; its stack cannot be read: ", error.what());
  }
}

// Binds a noted time as (text, place, called, started, ended, failed), in the seconds of time.perf_counter().
py::tuple as_tuple(const CallTimes& times) {
  const auto seconds = [](Clock::time_point time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
  };
  return py::make_tuple(times.text, times.place, seconds(times.called), seconds(times.started), seconds(times.ended),
                        times.failed);
}

// --- futures ---------------------------------------------------------------------------------------------------------

// The thread that completes the Python futures of works, so that no thread of a group takes the GIL. It starts with the
// first future, and ends with the process.
class FutureThread final {
 public:
  static FutureThread& get() {
    static auto* const thread = new FutureThread; // never destroyed: the thread may wait for it until the end
    return *thread;
  }
  void run(std::function<void()> body) {
    std::lock_guard lock(mutex_);
    bodies_.push_back(std::move(body));
    changed_.notify_one();
  }

 private:
  FutureThread()
      : thread_("pg_futures", [this] {
          for (;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return !bodies_.empty(); });
            const std::function<void()> body = std::move(bodies_.front());
            bodies_.pop_front();
            lock.unlock();
            body();
          }
        }) {}

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> bodies_;
  Thread thread_;
};

py::object as_python_exception(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    torch::translate_current_exception();
  }
  return py::error_already_set().value();
}

// Gives the result of a work that has ended to its future. The caller holds the GIL.
void complete(const py::object& future, Work& work) {
  if (const auto error = work.exception()) {
    future.attr("set_exception")(as_python_exception(error));
  } else {
    future.attr("set_result")(py::cast(work.result()));
  }
}

py::object get_future(const WorkPtr& work) {
  TORCH_CHECK_TYPE(work != nullptr, "get_future: expected a Work, but got None");
  py::object future = py::module_::import("reftorch.futures").attr("Future")();
  if (without_gil([&] { return work->blockCurrentStream(); })) {
    complete(future, *work);
    return future;
  }
  // The future is deleted with the GIL, whoever lets it go last.
  const std::shared_ptr<py::object> held(new py::object(future), [](py::object* object) {
    if (Py_IsInitialized()) {
      const GilAcquire gil;
      delete object;
    }
  });
  const py::gil_scoped_release release;
  work->then([held, keep = work]() mutable {
    FutureThread::get().run([held = std::move(held), work = std::move(keep)] {
      const GilAcquire gil;
      try {
        complete(*held, *work);
      } catch (py::error_already_set& error) { // of a callback: nobody waits for it
        error.restore();
        PyErr_WriteUnraisable(held->ptr());
      }
    });
  });
  return future;
}

// --- works and groups ------------------------------------------------------------------------------------------------

void init_work(py::module_& m) {
  py::class_<Work, WorkPtr>(m, "Work",
                            "The handle of an operation that was started.\n\n"
                            "Mirrors torch/csrc/distributed/c10d/Work.hpp, ``Work``.")
      .def(py::init<Tensors>(), py::arg("result") = Tensors())
      .def("is_completed", torch::method(&Work::isCompleted), "Return whether the operation has ended, well or not.")
      .def("is_success", torch::method(&Work::isSuccess), "Return whether the operation has ended well.")
      .def(
          "exception",
          [](Work& self) -> py::object {
            const auto error = self.exception();
            return error ? as_python_exception(error) : py::none();
          },
          "Return the exception of an operation that has failed, or None.")
      .def(
          "wait",
          [](Work& self, Milliseconds timeout) {
            self.wait(timeout.count() <= 0 ? kUnsetTimeout : timeout);
            return true;
          },
          no_gil(), py::arg("timeout") = Milliseconds(0),
          "Wait until the operation has ended, and raise its exception if it has failed.\n\n"
          "Args:\n    timeout: raises DistBackendError after this time; by default the operation's own timeout counts.")
      .def(
          "synchronize", [](Work& self) { self.wait(kUnsetTimeout); }, no_gil(), "Do as :meth:`wait` does.")
      .def("block_current_stream", torch::method(&Work::blockCurrentStream), no_gil(),
           "Make the current stream wait for the operation; return whether later work on it may use the result.")
      .def(
          "_finish",
          [](Work& self, const std::string& error, int source) {
            self.setSourceRank(source);
            self.finish(error.empty() ? nullptr : std::make_exception_ptr(DistBackendError(error)));
          },
          no_gil(), py::arg("error") = "", py::arg("source") = -1,
          "Complete a work that a backend in Python has made, with an error unless the text is empty.")
      .def("result", torch::method(&Work::result), "Return the tensors that the operation has written.")
      .def("source_rank", torch::method(&Work::sourceRank), "Return the rank in the group that sent what was received.")
      .def("_source_rank", torch::method(&Work::sourceRank))
      .def("get_future", &get_future,
           "Return a :class:`torch.futures.Future` of :meth:`result`. Callbacks run on a thread for this purpose.");
  py::class_<CoalescedWork, Work, std::shared_ptr<CoalescedWork>>(m, "_CoalescedWork", "Several works as one.")
      .def(py::init<std::vector<WorkPtr>>(), py::arg("works"));
}

const at::Tensor& single(const Tensors& tensors, const char* op) {
  TORCH_CHECK_VALUE(tensors.size() == 1, op, ": requires a single-element tensor list, but got ", tensors.size());
  return tensors[0];
}
const Tensors& single(const std::vector<Tensors>& lists, const char* op) {
  static const Tensors none;
  TORCH_CHECK_VALUE(lists.size() <= 1, op, ": requires a single-element list of tensor lists, but got ", lists.size());
  return lists.empty() ? none : lists[0];
}

// Adds the line of the program to options. The caller holds the GIL.
template <typename Options>
Options placed(Options opts) {
  opts.place = call_site();
  return opts;
}

using PG = ProcessGroup;

// Binds an op of one tensor: op(tensors, opts), op(tensors, op) and op(tensor, op) for reductions.
template <typename Options>
auto on_one(WorkPtr (PG::*op)(const at::Tensor&, const Options&), const char* name) {
  return [op, name](PG& self, const Tensors& tensors, const Options& opts) {
    const Options with_place = placed(opts);
    return without_gil([&] { return (self.*op)(single(tensors, name), with_place); });
  };
}

// The same for ops from a list for each rank to one tensor, or from one tensor to a list.
template <typename Options>
auto one_to_list(WorkPtr (PG::*op)(const Tensors&, const at::Tensor&, const Options&), const char* name) {
  return [op, name](PG& self, const std::vector<Tensors>& outputs, const Tensors& inputs, const Options& opts) {
    const Options with_place = placed(opts);
    return without_gil([&] { return (self.*op)(single(outputs, name), single(inputs, name), with_place); });
  };
}
template <typename Options>
auto list_to_one(WorkPtr (PG::*op)(const at::Tensor&, const Tensors&, const Options&), const char* name) {
  return [op, name](PG& self, const Tensors& outputs, const std::vector<Tensors>& inputs, const Options& opts) {
    const Options with_place = placed(opts);
    return without_gil([&] { return (self.*op)(single(outputs, name), single(inputs, name), with_place); });
  };
}

// The same for ops from one tensor to another.
template <typename Options>
auto one_to_one(WorkPtr (PG::*op)(const at::Tensor&, const at::Tensor&, const Options&)) {
  return [op](PG& self, const at::Tensor& output, const at::Tensor& input, const Options& opts) {
    const Options with_place = placed(opts);
    return without_gil([&] { return (self.*op)(output, input, with_place); });
  };
}

AllreduceOptions reduce_options(ReduceOp op, OptionalTimeout timeout) {
  AllreduceOptions opts;
  opts.reduceOp = op;
  opts.timeout = timeout.value_or(kUnsetTimeout);
  return opts;
}

// What a backend that is written in Python derives from; the class in Python has the operations.
class PythonProcessGroup final : public ProcessGroup {
 public:
  PythonProcessGroup(int rank, int size, std::string name, std::vector<c10::Device> devices)
      : ProcessGroup(rank, size, Milliseconds(1'800'000)), name_(std::move(name)), devices_(std::move(devices)) {}
  std::string getBackendName() const override {
    return name_;
  }
  std::vector<c10::Device> deviceTypes() const override {
    return devices_;
  }

 private:
  const std::string name_;
  const std::vector<c10::Device> devices_;
};

py::list device_types(const PG& group) {
  py::list result;
  for (const c10::Device& device : group.deviceTypes()) {
    result.append(py::module_::import("reftorch._C").attr("device")(c10::str(device)));
  }
  return result;
}

void init_process_groups(py::module_& m) {
  const auto allreduce = on_one(&PG::allreduce, "allreduce");
  const auto broadcast = on_one(&PG::broadcast, "broadcast");
  py::class_<PG, std::shared_ptr<PG>>(m, "ProcessGroup", py::dynamic_attr(),
                                      "A group of processes, made by init_process_group() and new_group().\n\n"
                                      "Mirrors torch/csrc/distributed/c10d/ProcessGroup.hpp, ``ProcessGroup``.")
      .def(py::init([](int rank, int size, std::string name, const std::vector<std::string>& devices) {
             std::vector<c10::Device> types;
             for (const std::string& device : devices) {
               types.emplace_back(device);
             }
             return std::shared_ptr<PG>(std::make_shared<PythonProcessGroup>(rank, size, std::move(name), types));
           }),
           py::arg("rank"), py::arg("size"), py::arg("name") = "python",
           py::arg("devices") = std::vector<std::string>{"cpu"})
      .def_property_readonly("_device_types", &device_types, "The types of device whose tensors the group takes.")
      .def(
          "_start_coalescing", [](PG& self, const py::object&) { self.startCoalescing(); },
          py::arg("device") = py::none())
      .def(
          "_end_coalescing",
          [](PG& self, const py::object&) { return without_gil([&] { return self.endCoalescing(); }); },
          py::arg("device") = py::none())
      .def("rank", torch::method(&PG::getRank), "Return the rank of this process in the group.")
      .def("size", torch::method(&PG::getSize), "Return the number of processes in the group.")
      .def("name", torch::method(&PG::getBackendName), "Return the name of the backend.")
      .def("_get_backend_name", torch::method(&PG::getBackendName))
      .def_readonly("group_name", &PG::group_name, "The name of the group, the same on all ranks.")
      .def_readonly("group_desc", &PG::group_desc, "The description that was given to new_group().")
      .def("_set_group_name", [](PG& self, std::string name) { self.group_name = std::move(name); })
      .def("_set_group_desc", [](PG& self, std::string desc) { self.group_desc = std::move(desc); })
      .def("set_timeout", torch::method(&PG::setTimeout), py::arg("timeout"))
      .def("_set_default_timeout", torch::method(&PG::setTimeout), py::arg("timeout"))
      .def_property_readonly("_timeout", torch::method(&PG::getTimeout))
      .def("abort", torch::method(&PG::abort), no_gil())
      .def("shutdown", torch::method(&PG::shutdown), no_gil())
      .def("_describe_ranks", torch::method(&PG::describeRanks), no_gil(), py::arg("timeout"),
           "Return what each rank that answers is doing.")
      .def("_stacks_of_ranks", torch::method(&PG::stacksOfRanks), no_gil(), py::arg("timeout"),
           "Return where each rank that answers is in the program; see reftorch.distributed._stacks.")
      .def("_note_times", torch::method(&PG::noteTimes), py::arg("on"),
           "Note the times of the collectives from now on, or no more.")
      .def(
          "_take_times",
          [](PG& self) {
            py::list result;
            for (const CallTimes& times : self.takeTimes()) {
              result.append(as_tuple(times));
            }
            return result;
          },
          "Return what was noted since the last call: text, place, called, started, ended, failed.")
      .def("allreduce", allreduce, py::arg("tensors"), py::arg("opts") = AllreduceOptions())
      .def(
          "allreduce",
          [allreduce](PG& self, const Tensors& tensors, ReduceOp op, OptionalTimeout timeout) {
            return allreduce(self, tensors, reduce_options(op, timeout));
          },
          py::arg("tensors"), py::arg("op") = ReduceOp::SUM, py::arg("timeout") = py::none())
      .def(
          "allreduce",
          [allreduce](PG& self, const at::Tensor& tensor, ReduceOp op, OptionalTimeout timeout) {
            return allreduce(self, {tensor}, reduce_options(op, timeout));
          },
          py::arg("tensor"), py::arg("op") = ReduceOp::SUM, py::arg("timeout") = py::none())
      .def("broadcast", broadcast, py::arg("tensors"), py::arg("opts") = BroadcastOptions())
      .def(
          "broadcast",
          [broadcast](PG& self, const at::Tensor& tensor, int64_t root, OptionalTimeout timeout) {
            BroadcastOptions opts;
            opts.rootRank = root;
            opts.timeout = timeout.value_or(kUnsetTimeout);
            return broadcast(self, {tensor}, opts);
          },
          py::arg("tensor"), py::arg("root"), py::arg("timeout") = py::none())
      .def("reduce", on_one(&PG::reduce, "reduce"), py::arg("tensors"), py::arg("opts") = ReduceOptions())
      .def("allgather", one_to_list(&PG::allgather, "allgather"), py::arg("output_tensors"), py::arg("input_tensors"),
           py::arg("opts") = AllgatherOptions())
      .def(
          "allreduce_coalesced",
          [](PG& self, const Tensors& tensors, const AllreduceOptions& opts) {
            const AllreduceOptions with_place = placed(opts);
            return without_gil([&] { return self.allreduce_coalesced(tensors, with_place); });
          },
          py::arg("tensors"), py::arg("opts") = AllreduceOptions())
      .def(
          "allgather_coalesced",
          [](PG& self, const std::vector<Tensors>& outputs, const Tensors& inputs, const AllgatherOptions& opts) {
            const AllgatherOptions with_place = placed(opts);
            return without_gil([&] { return self.allgather_coalesced(outputs, inputs, with_place); });
          },
          py::arg("output_lists"), py::arg("input_list"), py::arg("opts") = AllgatherOptions())
      .def("_allgather_base", one_to_one(&PG::allgather_base), py::arg("output"), py::arg("input"),
           py::arg("opts") = AllgatherOptions())
      .def("gather", one_to_list(&PG::gather, "gather"), py::arg("output_tensors"), py::arg("input_tensors"),
           py::arg("opts") = GatherOptions())
      .def("scatter", list_to_one(&PG::scatter, "scatter"), py::arg("output_tensors"), py::arg("input_tensors"),
           py::arg("opts") = ScatterOptions())
      .def("reduce_scatter", list_to_one(&PG::reduce_scatter, "reduce_scatter"), py::arg("output_tensors"),
           py::arg("input_tensors"), py::arg("opts") = ReduceScatterOptions())
      .def("_reduce_scatter_base", one_to_one(&PG::reduce_scatter_base), py::arg("outputTensor"),
           py::arg("inputTensor"), py::arg("opts") = ReduceScatterOptions())
      .def(
          "alltoall",
          [](PG& self, const Tensors& outputs, const Tensors& inputs, const AllToAllOptions& opts) {
            const AllToAllOptions with_place = placed(opts);
            return without_gil([&] { return self.alltoall(outputs, inputs, with_place); });
          },
          py::arg("output_tensors"), py::arg("input_tensors"), py::arg("opts") = AllToAllOptions())
      .def(
          "alltoall_base",
          [](PG& self, const at::Tensor& output, const at::Tensor& input, const std::vector<int64_t>& output_sizes,
             const std::vector<int64_t>& input_sizes, const AllToAllOptions& opts) {
            const AllToAllOptions with_place = placed(opts);
            return without_gil(
                [&] { return self.alltoall_base(output, input, output_sizes, input_sizes, with_place); });
          },
          py::arg("output"), py::arg("input"), py::arg("output_split_sizes"), py::arg("input_split_sizes"),
          py::arg("opts") = AllToAllOptions())
      .def(
          "barrier",
          [](PG& self, const BarrierOptions& opts) {
            const BarrierOptions with_place = placed(opts);
            return without_gil([&] { return self.barrier(with_place); });
          },
          py::arg("opts") = BarrierOptions())
      .def(
          "monitored_barrier",
          [](PG& self, OptionalTimeout timeout, bool wait_all_ranks) {
            BarrierOptions opts;
            opts.timeout = timeout.value_or(kUnsetTimeout);
            self.monitoredBarrier(opts, wait_all_ranks);
          },
          no_gil(), py::arg("timeout") = py::none(), py::arg("wait_all_ranks") = false)
      .def(
          "send",
          [](PG& self, const Tensors& tensors, int to, int tag) { return self.send(single(tensors, "send"), to, tag); },
          no_gil(), py::arg("tensors"), py::arg("dstRank"), py::arg("tag"))
      .def(
          "recv",
          [](PG& self, const Tensors& tensors, int from, int tag) {
            return self.recv(single(tensors, "recv"), from, tag);
          },
          no_gil(), py::arg("tensors"), py::arg("srcRank"), py::arg("tag"))
      .def(
          "recv_anysource",
          [](PG& self, const Tensors& tensors, int tag) { return self.recv(single(tensors, "recv"), -1, tag); },
          no_gil(), py::arg("tensors"), py::arg("tag"));

  py::class_<ProcessGroupGloo, PG, std::shared_ptr<ProcessGroupGloo>>(
      m, "ProcessGroupGloo",
      "The backend of CPU tensors over TCP.\n\n"
      "Args:\n    store: through which the ranks find each other.\n    rank: of this process.\n"
      "    size: the number of processes.\n    timeout: of each operation.\n"
      "    hostname: how the other ranks reach this process.\n\n"
      "Mirrors torch/csrc/distributed/c10d/ProcessGroupGloo.hpp, ``ProcessGroupGloo``.")
      .def(py::init([](const std::shared_ptr<Store>& store, int rank, int size, Milliseconds timeout,
                       const std::string& hostname) {
             // Not a call guard: pybind11 would then enter the new object in its table of instances without the GIL.
             auto* const made = without_gil([&] { return new ProcessGroupGloo(store, rank, size, timeout, hostname); });
             return std::shared_ptr<ProcessGroupGloo>(made, [](ProcessGroupGloo* group) {
               // The destructor waits for the group's thread, which may let a tensor go and need the GIL for that.
               if (PyGILState_Check() != 0) {
                 without_gil([&] { delete group; });
               } else {
                 delete group;
               }
             });
           }),
           py::arg("store").none(false), py::arg("rank"), py::arg("size"), py::arg("timeout") = Milliseconds(1'800'000),
           py::arg("hostname") = "127.0.0.1");
}

// --- debug levels ----------------------------------------------------------------------------------------------------

DebugLevel debug_level = DebugLevel::Off;

void set_debug_level_from_env() {
  const char* const value = std::getenv("TORCH_DISTRIBUTED_DEBUG");
  const std::string level = value == nullptr ? "OFF" : value;
  TORCH_CHECK(level == "OFF" || level == "INFO" || level == "DETAIL",
              "The value of TORCH_DISTRIBUTED_DEBUG must be one of OFF, INFO or DETAIL, but is ", level);
  debug_level = level == "OFF" ? DebugLevel::Off : level == "INFO" ? DebugLevel::Info : DebugLevel::Detail;
}

} // namespace

void initC10d(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module).def_submodule(
      "_distributed_c10d", "The C++ half of torch.distributed: stores, process groups and works.");
  set_interrupt_check(&check_signals);
  set_stack_reader(&python_stack);
  find_package_folder();
  init_stores(m.ptr());
  init_options(m.ptr());
  init_work(m);
  init_process_groups(m);
#if REFTORCH_USE_C10D_NCCL
  init_nccl(m.ptr());
#endif
  m.attr("_DEFAULT_PG_TIMEOUT") = Milliseconds(1'800'000);
  m.def("exchange_comm_name", &exchange_comm_name, py::arg("name"),
        "Name the collectives of this thread in profiles; an empty name ends that. Returns the former name.");
  m.def("get_debug_level", [] { return debug_level; }, "Return the debug level.");
  m.def("set_debug_level", [](DebugLevel level) { debug_level = level; }, py::arg("level"), "Set the debug level.");
  m.def("set_debug_level_from_env", &set_debug_level_from_env,
        "Set the debug level to that of the environment variable TORCH_DISTRIBUTED_DEBUG.");
}

} // namespace reftorch::c10d
