// Mirrors: torch/csrc/cuda/Module.cpp, torch/csrc/cuda/Stream.cpp
//
// The functions that reftorch/cuda calls; csrc/python_stream.cpp binds streams and events. Functions that wait for a
// device release the GIL. Left out: graphs, NVTX, IPC, snapshots of memory.
#include <csrc/cuda/python_cuda.h>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/CachingHostAllocator.h>

#include <pthread.h>

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace reftorch::torch {
namespace {

using c10::DeviceIndex;
using c10::cuda::CUDAStream;

bool in_bad_fork = false; // whether this process is a child of one that has used CUDA

// CUDA does not survive fork: the child has no worker threads, and its driver is in an unknown state.
void poison_fork() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { in_bad_fork = true; });
  (void)registered;
}

CUDAStream stream_from(int64_t id, int64_t device_index) {
  const c10::Device device(c10::DeviceType::CUDA, static_cast<DeviceIndex>(device_index));
  return CUDAStream(c10::Stream(c10::Stream::UNSAFE, device, id));
}

py::tuple pack(const CUDAStream& stream) {
  return py::make_tuple(stream.id(), int(stream.device_index()), int(c10::DeviceType::CUDA));
}

py::dict memory_stats(int device) {
  const auto stats = c10::cuda::CUDACachingAllocator::get()->getDeviceStats(static_cast<DeviceIndex>(device));
  py::dict result;
  result["allocated_bytes.all.current"] = stats.allocated_bytes;
  result["allocated_bytes.all.peak"] = stats.peak_allocated_bytes;
  result["reserved_bytes.all.current"] = stats.reserved_bytes;
  result["reserved_bytes.all.peak"] = stats.peak_reserved_bytes;
  return result;
}

py::tuple memory_info(int device) {
  const c10::cuda::CUDAGuard guard(static_cast<DeviceIndex>(device));
  size_t free_bytes = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  return py::make_tuple(free_bytes, total);
}

py::dict device_properties(int device) {
  const cudaDeviceProp& p = at::cuda::getDeviceProperties(static_cast<DeviceIndex>(device));
  py::dict result;
  result["name"] = p.name;
  result["major"] = p.major;
  result["minor"] = p.minor;
  result["total_memory"] = p.totalGlobalMem;
  result["multi_processor_count"] = p.multiProcessorCount;
  result["warp_size"] = p.warpSize;
  result["max_threads_per_multi_processor"] = p.maxThreadsPerMultiProcessor;
  return result;
}

void init_streams(py::module_& m) {
  m.def("_cuda_getStreamHandle", [](int64_t stream_id, int device) {
    return reinterpret_cast<uintptr_t>(stream_from(stream_id, device).stream());
  });
  m.def("_cuda_getCurrentStream",
        [](int device) { return pack(c10::cuda::getCurrentCUDAStream(static_cast<DeviceIndex>(device))); });
  m.def("_cuda_getDefaultStream",
        [](int device) { return pack(c10::cuda::getDefaultCUDAStream(static_cast<DeviceIndex>(device))); });
  m.def("_cuda_getStreamFromPool",
        [](int device) { return pack(c10::cuda::getStreamFromPool(static_cast<DeviceIndex>(device))); });
  // Makes the stream the current one of its device, and the device the current one.
  m.def("_cuda_setStream", [](int64_t stream_id, int device) {
    c10::cuda::set_device(static_cast<DeviceIndex>(device));
    c10::cuda::setCurrentCUDAStream(stream_from(stream_id, device));
  });
}

} // namespace

void initCuda(PyObject* module) {
  using no_gil = py::call_guard<py::gil_scoped_release>;
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  m.def("_cuda_getDeviceCount", [] { return int(c10::cuda::device_count()); });
  m.def("_cuda_init", [] {
    c10::cuda::device_count_ensure_non_zero();
    poison_fork();
  });
  m.def("_cuda_isInBadFork", [] { return in_bad_fork; });
  // The version of the toolkit, 13000 for CUDA 13.0. The simulator is compiled without a toolkit.
#if defined(CUDA_SIM)
  m.attr("_cuda_is_simulated") = true;
  m.def("_cuda_getCompiledVersion", [] { return 0; });
#else
  m.attr("_cuda_is_simulated") = false;
  m.def("_cuda_getCompiledVersion", [] { return CUDART_VERSION; });
#endif
  m.def("_cuda_setDevice", [](int device) { c10::cuda::set_device(static_cast<DeviceIndex>(device)); });
  m.def("_cuda_getDevice", [] { return int(c10::cuda::current_device()); });
  m.def("_cuda_exchangeDevice",
        [](int device) { return int(c10::cuda::exchange_device(static_cast<DeviceIndex>(device))); });
  m.def("_cuda_canDeviceAccessPeer", [](int device, int peer) {
    int can = 0;
    C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device, peer));
    return can != 0;
  });
  m.def("_cuda_synchronize", [] { c10::cuda::device_synchronize(); }, no_gil());
  m.def("_cuda_getDeviceProperties", &device_properties);
  m.def(
      "_cuda_emptyCache",
      [] {
        c10::cuda::CUDACachingAllocator::emptyCache();
        c10::cuda::CachingHostAllocator_emptyCache();
      },
      no_gil());
  m.def("_cuda_memoryStats", &memory_stats);
  m.def("_cuda_resetPeakMemoryStats",
        [](int device) { c10::cuda::CUDACachingAllocator::get()->resetPeakStats(static_cast<DeviceIndex>(device)); });
  m.def("_cuda_memGetInfo", &memory_info);
  m.def("_cuda_getDefaultGenerator",
        [](int device) { return at::cuda::detail::getDefaultCUDAGenerator(static_cast<DeviceIndex>(device)); });
  init_streams(m);
}

} // namespace reftorch::torch
