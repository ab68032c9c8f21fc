// Mirrors: torch/csrc/cuda/Graph.cpp, torch/csrc/cuda/MemPool.cpp
//
// CUDA graphs, and private pools of memory. Functions that start kernels release the GIL.
#include <csrc/cuda/python_graph.h>

#include <csrc/python_dtype.h>
#include <csrc/utils/python_instances.h>

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/MemPool.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/util/Exception.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>

namespace py = pybind11;

namespace reftorch::torch {
namespace {

using at::cuda::CUDAGraph;
using at::cuda::MemPool;
using c10::MempoolId_t;

cudaStreamCaptureMode capture_mode_of(const std::string& word) {
  TORCH_CHECK(word == "global" || word == "thread_local" || word == "relaxed",
              "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got ", word);
  return word == "global"         ? cudaStreamCaptureModeGlobal
         : word == "thread_local" ? cudaStreamCaptureModeThreadLocal
                                  : cudaStreamCaptureModeRelaxed;
}

void begin_allocate_current_thread_to_pool(int64_t device, MempoolId_t mempool_id) {
  c10::cuda::CUDACachingAllocator::get()->beginAllocateToPool(
      checked_device_index(device), mempool_id,
      [thread = std::this_thread::get_id()](c10::Stream) { return std::this_thread::get_id() == thread; });
}

} // namespace

void initCudaGraph(py::module_& m) {
  using no_gil = py::call_guard<py::gil_scoped_release>;
  m.def("_graph_pool_handle", [] { return at::cuda::graph_pool_handle(); });
  m.def("_cuda_isCurrentStreamCapturing",
        [] { return c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None; });
  py::class_<CUDAGraph>(m, "_CUDAGraph")
      .def(py::init<bool>(), py::arg("keep_graph") = false)
      .def(
          "capture_begin",
          [](CUDAGraph& self, std::optional<MempoolId_t> pool, const std::string& capture_error_mode) {
            self.capture_begin(pool.value_or(MempoolId_t{0, 0}), capture_mode_of(capture_error_mode));
          },
          py::arg("pool") = py::none(), py::arg("capture_error_mode") = "global")
      .def("capture_end", method(&CUDAGraph::capture_end))
      .def("instantiate", method(&CUDAGraph::instantiate))
      .def("register_generator_state", method(&CUDAGraph::register_generator_state), py::arg("generator"))
      .def("replay", method(&CUDAGraph::replay), no_gil())
      .def("reset", method(&CUDAGraph::reset))
      .def("pool", method(&CUDAGraph::pool))
      .def("enable_debug_mode", method(&CUDAGraph::enable_debug_mode))
      .def("debug_dump", method(&CUDAGraph::debug_dump), py::arg("debug_path"))
      .def("raw_cuda_graph", [](const CUDAGraph& self) { return reinterpret_cast<uintptr_t>(self.raw_cuda_graph()); })
      .def("raw_cuda_graph_exec",
           [](const CUDAGraph& self) { return reinterpret_cast<uintptr_t>(self.raw_cuda_graph_exec()); });

  py::class_<MemPool>(m, "_MemPool")
      .def(py::init<MemPool::CUDAAllocator*, bool, bool, bool>(), py::arg("allocator") = py::none(),
           py::arg("is_user_created") = true, py::arg("use_on_oom") = false, py::arg("no_split") = false)
      .def_property_readonly("id", method(&MemPool::id))
      .def_property_readonly("device", [](const MemPool& self) { return int(self.device()); })
      .def("use_count", method(&MemPool::use_count));
  m.def("_cuda_checkPoolLiveAllocations",
        [](int64_t device, MempoolId_t mempool_id, const std::unordered_set<uintptr_t>& expected) {
          std::unordered_set<void*> addresses;
          for (const uintptr_t address : expected) {
            addresses.insert(reinterpret_cast<void*>(address));
          }
          return c10::cuda::CUDACachingAllocator::get()->checkPoolLiveAllocations(checked_device_index(device),
                                                                                  mempool_id, addresses);
        });
  m.def("_cuda_beginAllocateCurrentThreadToPool", &begin_allocate_current_thread_to_pool);
  m.def("_cuda_endAllocateToPool", [](int64_t device, MempoolId_t mempool_id) {
    c10::cuda::CUDACachingAllocator::get()->endAllocateToPool(checked_device_index(device), mempool_id);
  });
  m.def("_cuda_releasePool", [](int64_t device, MempoolId_t mempool_id) {
    c10::cuda::CUDACachingAllocator::get()->releasePool(checked_device_index(device), mempool_id);
  });
}

} // namespace reftorch::torch
