// Mirrors: nothing in PyTorch: the functions that reftorch/debug/kernels and reftorch/cuda/_sanitizer.py call
//
// Only a build with the simulator has them: see Note [Watching kernels] in c10/cuda/sim/observer.h.
#include <csrc/cuda/python_kernel_watch.h>

#include <csrc/python_dtype.h>

#include <ATen/core/dispatch/DispatchStubImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Mutex.h>

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#if defined(CUDA_SIM)
#include <c10/cuda/sim/watch/Watcher.h>

namespace py = pybind11;

namespace reftorch::torch {
namespace {

using cudasim::watch::watcher;

// Starts the watcher; see Watcher::start. Returns false if it is watching.
bool start(int seconds) {
  std::vector<cudasim::watch::Known> segments, blocks;
  for (const auto& segment : c10::cuda::CUDACachingAllocator::get()->snapshot().segments) {
    segments.push_back({segment.address, segment.total_size});
    for (const auto& block : segment.blocks) {
      if (block.active) {
        blocks.push_back({block.address, block.requested_size});
      }
    }
  }
  return watcher().start(segments, blocks, seconds);
}

// Tells the watcher that an op of the program uses ranges of memory, each (address, bytes), on a stream. Returns the
// number of the op, and (address, earlier op, whether that wrote) for each conflict.
py::tuple note_op(int64_t stream, int64_t device, const std::string& name,
                  const std::vector<std::pair<uintptr_t, size_t>>& reads,
                  const std::vector<std::pair<uintptr_t, size_t>>& writes) {
  const c10::Device place(c10::DeviceType::CUDA, checked_device_index(device));
  const cudaStream_t handle = c10::cuda::CUDAStream(c10::Stream(c10::Stream::UNSAFE, place, stream)).stream();
  std::vector<cudasim::watch::Known> ranges[2];
  for (const auto& [address, bytes] : reads) {
    ranges[0].push_back({address, bytes});
  }
  for (const auto& [address, bytes] : writes) {
    ranges[1].push_back({address, bytes});
  }
  const auto [number, conflicts] = watcher().op(cudasim::handle_of(handle, place.index()), name, ranges[0], ranges[1]);
  py::list found;
  for (const auto& conflict : conflicts) {
    found.append(py::make_tuple(conflict.address, conflict.operation, conflict.was_write));
  }
  return py::make_tuple(number, found);
}

// ---- which files have the kernels that a program calls ----

c10::Mutex files_mutex; // several threads may call ops
std::set<std::string> files;
PyObject* callback = nullptr; // owned; the GIL guards it

// Tells Python of the file of a stub's CUDA kernel when the first stub of the file is called. Python may replace the
// kernels of the file before the stub looks for its own. Limit: calls on the CPU count, too.
[[maybe_unused]] void note_call(const at::native::DispatchStubImpl& stub) {
  if (!stub.has_kernel(c10::DeviceType::CUDA)) {
    return;
  }
  const std::string file = stub.kernels[static_cast<int>(c10::DeviceType::CUDA)].file;
  {
    const std::lock_guard<c10::Mutex> lock(files_mutex);
    if (!files.insert(file).second) {
      return;
    }
  }
  py::gil_scoped_acquire gil;
  if (callback != nullptr) {
    py::reinterpret_borrow<py::function>(callback)(file);
  }
}

// Calls `f` with the files of the CUDA kernels of all stubs that are called from now on, once for each file. None ends
// that.
bool on_kernel_file(const py::object& f) {
#ifdef NDEBUG
  return false;
#else
  Py_XDECREF(callback);
  callback = f.is_none() ? nullptr : f.inc_ref().ptr();
  at::native::stub_call_observer = f.is_none() ? nullptr : &note_call;
  const std::lock_guard<c10::Mutex> lock(files_mutex);
  files.clear();
  return true;
#endif
}

} // namespace

void initKernelWatch(py::module_& m) {
  using no_gil = py::call_guard<py::gil_scoped_release>;
  m.def("_cuda_watch_start", &start, py::arg("seconds"), no_gil());
  m.def("_cuda_watch_op", &note_op);
  m.def("_cuda_watch_problem_count", [] { return watcher().problem_count(); }, no_gil());
  m.def("_cuda_watch_stop", [] { watcher().stop(); }, no_gil());
  m.def("_cuda_watch_report", [] { return watcher().report(); }, no_gil());
  m.def(
      "_cuda_watch_name",
      [](uintptr_t address, std::string name, size_t itemsize, std::vector<int64_t> shape) {
        watcher().name({std::move(name), address, itemsize, std::move(shape)});
      },
      no_gil());
  m.def("_cuda_watch_kernel_files", &on_kernel_file);
}

} // namespace reftorch::torch
#endif
