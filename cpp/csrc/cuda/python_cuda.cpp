// Mirrors: torch/csrc/cuda/Module.cpp, torch/csrc/cuda/Stream.cpp, torch/csrc/cuda/Event.cpp
//
// The functions that reftorch/cuda calls; csrc/python_stream.cpp binds streams and events. Functions that wait for a
// device release the GIL. python_memory.cpp has the functions for memory, python_graph.cpp those for graphs,
// python_storage_sharing.cpp those for tensors of other processes. Left out: NVTX.
#include <csrc/cuda/python_cuda.h>

#include <csrc/cuda/python_activities.h>
#include <csrc/cuda/python_graph.h>
#include <csrc/cuda/python_kernel_watch.h>
#include <csrc/cuda/python_memory.h>
#include <csrc/cuda/python_storage_sharing.h>
#include <csrc/python_dtype.h>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/Sleep.h>
#include <ATen/record_function.h>
#include <c10/core/Event.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDADevice.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/CachingHostAllocator.h>

#include <pthread.h>

#include <cstring>
#include <mutex>
#include <string>

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
  const c10::Device device(c10::DeviceType::CUDA, checked_device_index(device_index));
  return CUDAStream(c10::Stream(c10::Stream::UNSAFE, device, id));
}

// The bytes that tensors have on all devices, for the profiler.
int64_t device_memory() {
  int64_t bytes = 0;
  for (DeviceIndex device = 0; device < c10::cuda::device_count(); device++) {
    bytes += c10::cuda::CUDACachingAllocator::get()->getDeviceStats(device).allocated_bytes[0].current;
  }
  return bytes;
}

py::tuple pack(const CUDAStream& stream) {
  return py::make_tuple(stream.id(), int(stream.device_index()), int(c10::DeviceType::CUDA));
}

py::dict device_properties(int64_t device) {
  const cudaDeviceProp& p = at::cuda::getDeviceProperties(checked_device_index(device));
  py::dict result;
  result["name"] = p.name;
  result["major"] = p.major;
  result["minor"] = p.minor;
  result["total_memory"] = p.totalGlobalMem;
  result["multi_processor_count"] = p.multiProcessorCount;
  result["warp_size"] = p.warpSize;
  result["max_threads_per_multi_processor"] = p.maxThreadsPerMultiProcessor;
  result["uuid"] = py::bytes(p.uuid.bytes, sizeof p.uuid.bytes);
  result["max_threads_per_block"] = p.maxThreadsPerBlock;
  result["shared_memory_per_block"] = p.sharedMemPerBlock;
  result["shared_memory_per_block_optin"] = p.sharedMemPerBlockOptin;
  result["shared_memory_per_multiprocessor"] = p.sharedMemPerMultiprocessor;
  result["regs_per_multiprocessor"] = p.regsPerMultiprocessor;
  result["L2_cache_size"] = p.l2CacheSize;
  result["is_integrated"] = p.integrated != 0;
  result["is_multi_gpu_board"] = p.isMultiGpuBoard != 0;
  result["pci_bus_id"] = p.pciBusID;
  result["pci_device_id"] = p.pciDeviceID;
  result["pci_domain_id"] = p.pciDomainID;
  return result;
}

void init_streams(py::module_& m) {
  m.def("_cuda_getStreamHandle", [](int64_t stream_id, int64_t device) {
    return reinterpret_cast<uintptr_t>(stream_from(stream_id, device).stream());
  });
  m.def("_cuda_getCurrentStream",
        [](int64_t device) { return pack(c10::cuda::getCurrentCUDAStream(checked_device_index(device))); });
  m.def("_cuda_getDefaultStream",
        [](int64_t device) { return pack(c10::cuda::getDefaultCUDAStream(checked_device_index(device))); });
  m.def("_cuda_getStreamFromExternal", [](uintptr_t handle, int64_t device) {
    const c10::Device place(c10::DeviceType::CUDA, checked_device_index(device));
    const auto id = c10::cuda::CUDADevice::get(place.index()).adopt_stream(reinterpret_cast<cudaStream_t>(handle));
    return pack(CUDAStream(c10::Stream(c10::Stream::UNSAFE, place, id)));
  });
  m.def("_cuda_getStreamFromPool",
        [](int64_t device) { return pack(c10::cuda::getStreamFromPool(checked_device_index(device))); });
  m.def("_cuda_getCurrentRawStream", [](int64_t device) {
    return reinterpret_cast<uintptr_t>(c10::cuda::getCurrentCUDAStream(checked_device_index(device)).stream());
  });
  // Makes the stream the current one of its device, and the device the current one.
  m.def("_cuda_setStream", [](int64_t stream_id, int64_t device) {
    c10::cuda::set_device(checked_device_index(device));
    c10::cuda::setCurrentCUDAStream(stream_from(stream_id, device));
  });
}

// An event that other processes open by its handle.
void init_events(py::module_& m) {
  m.def("_cuda_getIpcEventHandle", [](c10::Event& event) {
    event.create(c10::cuda::current_device());
    cudaIpcEventHandle_t handle = {};
    C10_CUDA_CHECK(cudaIpcGetEventHandle(&handle, static_cast<cudaEvent_t>(event.eventId())));
    return py::bytes(reinterpret_cast<const char*>(&handle), sizeof handle);
  });
  m.def("_cuda_openIpcEventHandle", [](c10::Event& event, int64_t device, const std::string& bytes) {
    cudaIpcEventHandle_t handle = {};
    TORCH_CHECK(bytes.size() == sizeof handle, "cudaIpcEventHandle_t expects byte-like object of size ", sizeof handle,
                ", but got ", bytes.size());
    std::memcpy(&handle, bytes.data(), sizeof handle);
    const c10::cuda::CUDAGuard guard(checked_device_index(device));
    cudaEvent_t opened = nullptr;
    C10_CUDA_CHECK(cudaIpcOpenEventHandle(&opened, handle));
    event.adopt(opened, checked_device_index(device));
  });
}

// The functions of CUDA's runtime that torch.cuda.cudart() has. They return the number of an error.
void init_cudart(py::module_& m) {
  using no_gil = py::call_guard<py::gil_scoped_release>;
  m.def("_cudart_cudaHostRegister", [](uintptr_t data, size_t bytes, unsigned flags) {
    return int(c10::cuda::registerHostMemory(reinterpret_cast<void*>(data), bytes, flags));
  });
  m.def("_cudart_cudaHostUnregister",
        [](uintptr_t data) { return int(c10::cuda::unregisterHostMemory(reinterpret_cast<void*>(data))); });
  m.def("_cudart_cudaStreamCreate",
        [](uintptr_t stream) { return int(cudaStreamCreate(reinterpret_cast<cudaStream_t*>(stream))); });
  m.def(
      "_cudart_cudaStreamDestroy",
      [](uintptr_t stream) { return int(cudaStreamDestroy(reinterpret_cast<cudaStream_t>(stream))); }, no_gil());
  m.def("_cuda_getCurrentBlasHandle", [] {
    auto& device = c10::cuda::CUDADevice::get(c10::cuda::current_device());
    std::lock_guard<std::mutex> lock(device.mutex());
    TORCH_CHECK(device.cublas_handle() != nullptr || cublasCreate(&device.cublas_handle()) == CUBLAS_STATUS_SUCCESS,
                "cublasCreate failed");
    return reinterpret_cast<uintptr_t>(device.cublas_handle());
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
    at::profiler_hooks.device_memory = &device_memory;
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
  m.def("_cuda_setDevice", [](int64_t device) { c10::cuda::set_device(checked_device_index(device)); });
  m.def("_cuda_getDevice", [] { return int(c10::cuda::current_device()); });
  m.def("_cuda_exchangeDevice",
        [](int64_t device) { return int(c10::cuda::exchange_device(checked_device_index(device))); });
  m.def("_cuda_canDeviceAccessPeer", [](int64_t device, int64_t peer) {
    int can = 0;
    C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, checked_device_index(device), checked_device_index(peer)));
    return can != 0;
  });
  m.def("_cuda_synchronize", [] { c10::cuda::device_synchronize(); }, no_gil());
  m.def("_cuda_set_sync_debug_mode",
        [](int mode) { c10::cuda::set_sync_debug_mode(static_cast<c10::cuda::SyncDebugMode>(mode)); });
  m.def("_cuda_get_sync_debug_mode", [] { return static_cast<int>(c10::cuda::sync_debug_mode()); });
  m.def("_cuda_sleep", [](int64_t cycles) { at::cuda::sleep(cycles); }, no_gil());
  m.def("_cuda_getErrorString", [](int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); });
  m.def("_cuda_getDeviceProperties", &device_properties);
  m.def(
      "_cuda_emptyCache",
      [] {
        c10::cuda::CUDACachingAllocator::emptyCache();
        c10::cuda::CachingHostAllocator_emptyCache();
      },
      no_gil());
  m.def("_cuda_getDefaultGenerator",
        [](int64_t device) { return at::cuda::detail::getDefaultCUDAGenerator(checked_device_index(device)); });
  init_streams(m);
  init_events(m);
  init_cudart(m);
  initCudaMemory(m);
  initCudaStorageSharing(m);
  initCudaGraph(m);
#if defined(CUDA_SIM)
  initKernelWatch(m);
  initActivities(m);
#endif
}

} // namespace reftorch::torch
