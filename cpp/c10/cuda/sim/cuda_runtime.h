// Mirrors: nothing in PyTorch: stands in for the CUDA runtime's <cuda_runtime.h> where there is no GPU and no nvcc
//
// The subset of CUDA that reftorch's .cu files and the kernels of learners use, for a plain C++17 compiler. The other
// files of this folder implement the subset on host threads. Names, error numbers and rules are CUDA's, so a .cu file
// that includes <cuda_runtime.h> works with either of the two. Left out: textures, dynamic parallelism,
// cudaMallocManaged, and graphs that a program builds node by node.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

#define CUDA_SIM 1

#pragma GCC visibility push(default) // a kernel may be in a library of its own, for example a cell of a notebook

// Marks functions of this header, which a watcher of kernels must not take for code of the kernel: see observer.h.
#if defined(__clang__)
#define CUDA_SIM_SILENT __attribute__((noinline, no_sanitize("thread", "coverage")))
#else
#define CUDA_SIM_SILENT __attribute__((noinline, no_sanitize("thread"), no_sanitize_coverage))
#endif

// ---- Keywords ----
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
// Note [Shared memory is thread_local]
// One host thread runs all threads of a block, and runs one block at a time. One copy of a variable for each host
// thread is therefore one copy for each block. A `thread_local` variable inside a function is static without the
// keyword; the macro leaves `static` out because the declaration `extern __shared__` would otherwise not compile.
#define __shared__ thread_local

// ---- Types ----
#include <vector_types.h>

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const {
    return {x, y, z};
  }
};

// The coordinates of the running thread. They are `__thread` and not `thread_local`, so that the compiler does not
// check for an initializer at each use. With initial-exec, a shared library reads them with one instruction. For
// kernels they are const, so that a compiler that reports loads to a watcher leaves these out.
#if defined(CUDA_SIM_INSIDE)
#define CUDA_SIM_COORDINATE extern __thread __attribute__((tls_model("initial-exec")))
#else
#define CUDA_SIM_COORDINATE extern const __thread __attribute__((tls_model("initial-exec")))
#endif
CUDA_SIM_COORDINATE uint3 threadIdx;
CUDA_SIM_COORDINATE uint3 blockIdx;
CUDA_SIM_COORDINATE dim3 blockDim;
CUDA_SIM_COORDINATE dim3 gridDim;
constexpr int warpSize = 32;

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorDeviceUninitialized = 201,
  cudaErrorMapBufferObjectFailed = 205,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalState = 401,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705,
  cudaErrorAssert = 710,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorHostMemoryNotRegistered = 713,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureMerge = 902,
  cudaErrorStreamCaptureUnmatched = 903,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorStreamCaptureImplicit = 906,
  cudaErrorCapturedEvent = 907,
  cudaErrorStreamCaptureWrongThread = 908,
};
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice };
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4 };
enum { cudaEventRecordDefault = 0, cudaEventRecordExternal = 1 };
enum { cudaIpcMemLazyEnablePeerAccess = 1 };
enum { cudaEventWaitDefault = 0, cudaEventWaitExternal = 1 };
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum { cudaGraphDebugDotFlagsVerbose = 1 };

using cudaStream_t = struct CUstream_st*; // null means the legacy default stream of the current device
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;

struct cudaIpcEventHandle_t {
  char reserved[64];
};
struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int warpSize, maxThreadsPerBlock, multiProcessorCount, maxThreadsPerMultiProcessor, major, minor;
  cudaUUID_t uuid;
  size_t sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, l2CacheSize, integrated, isMultiGpuBoard, pciBusID, pciDeviceID, pciDomainID;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  void* attrs = nullptr;
  unsigned numAttrs = 0;
};

// ---- The runtime's functions ----
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset(); // here it clears the device's error and does nothing else
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);

cudaError_t cudaMalloc(void** pointer, size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocHost(void** pointer, size_t bytes);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream = nullptr);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* data);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
// See Note [Events between processes].
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);
// See Note [Memory between processes].
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void* pointer);

// See Note [Graphs in the simulator].
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id = nullptr);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count); // `nodes` must be null
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

template <typename T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}

// ---- Launching ----
namespace cudasim {

// A kernel and its arguments. The simulator calls it once for each thread of the grid.
struct Kernel {
  virtual ~Kernel() = default;
  virtual void operator()() = 0;
  const void* function = nullptr;
  size_t bytes = 0; // the size of this object, which contains the arguments
};
template <typename Indices, typename... P>
struct KernelOf;
template <size_t... I, typename... P>
struct KernelOf<std::index_sequence<I...>, P...> final : Kernel {
  template <typename... A>
  explicit KernelOf(void (*kernel)(P...), A&&... args) : kernel(kernel), args(std::forward<A>(args)...) {
    function = reinterpret_cast<const void*>(kernel);
    bytes = sizeof(*this);
  }
  CUDA_SIM_SILENT void operator()() override {
    kernel(std::get<I>(args)...);
  }
  void (*kernel)(P...);
  std::tuple<P...> args;
};
cudaError_t launch(const cudaLaunchConfig_t& config, std::unique_ptr<Kernel> kernel);

enum class WarpOp { Sync, Shuffle, Ballot };
uint64_t warp_exchange(WarpOp op, unsigned mask, uint64_t value, int from_lane);
int lane_id();
void* dynamic_shared(); // the block's dynamic shared memory
[[noreturn]] void fail_kernel(cudaError_t error, const char* what, const char* file, int line,
                              const void* place = nullptr);

// ---- Watching, see observer.h ----
struct Observer;
extern std::atomic<Observer*> observer; // null if nobody watches
void tell_atomic(const void* p, size_t bytes, const void* place);
// Tells the observer of an atomic operation; `place` is the address in the kernel's code to which it returns.
CUDA_SIM_SILENT inline void note_atomic(const void* p, size_t bytes, const void* place) {
  if (observer.load(std::memory_order_acquire) != nullptr) {
    tell_atomic(p, bytes, place);
  }
}
// The caching allocator tells which parts of its memory tensors own. `shared` says whether the block waits for other
// streams than its own before it is reused.
void tell_block_allocated(const void* p, size_t bytes);
void tell_block_freed(const void* p, int device, cudaStream_t stream, bool shared);
// Memory of another process: the caching allocator has opened a segment there, and tells which parts of it tensors own.
void tell_segment_opened(const void* p);
void tell_block_opened(const void* p, size_t bytes);

template <typename T>
CUDA_SIM_SILENT T shuffle(unsigned mask, T value, int from_lane) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = warp_exchange(WarpOp::Shuffle, mask, bits, from_lane);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <typename T>
struct identity {
  using type = T;
};
// Blocks and streams run on several host threads, so atomic operations must be atomic on the host, too.
template <typename T, typename F>
CUDA_SIM_SILENT T atomic_update(T* p, F f) {
  T old = *const_cast<volatile T*>(p), desired = f(old);
  while (!__atomic_compare_exchange(p, &old, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    desired = f(old);
  }
  return old;
}

} // namespace cudasim

// Launches a kernel with the name and arguments of CUDA 11.8 and later, instead of <<<>>>.
template <typename... P, typename... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... args) {
  using Kernel = cudasim::KernelOf<std::index_sequence_for<P...>, P...>;
  return cudasim::launch(*config, std::make_unique<Kernel>(kernel, std::forward<A>(args)...));
}

// ---- What a kernel may call ----
void __syncthreads();
CUDA_SIM_SILENT inline void __syncwarp(unsigned mask = 0xffffffffu) {
  cudasim::warp_exchange(cudasim::WarpOp::Sync, mask, 0, 0);
}
CUDA_SIM_SILENT inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
// `width` splits a warp into groups of lanes. No lane reads from another group.
template <typename T>
CUDA_SIM_SILENT T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const int group = cudasim::lane_id() & ~(width - 1);
  return cudasim::shuffle(mask, value, group + (from & (width - 1)));
}
template <typename T>
CUDA_SIM_SILENT T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = cudasim::lane_id(), in_group = lane & (width - 1);
  return cudasim::shuffle(mask, value,
                          in_group + static_cast<int>(delta) < width ? lane + static_cast<int>(delta) : lane);
}
template <typename T>
CUDA_SIM_SILENT T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = cudasim::lane_id(), in_group = lane & (width - 1);
  return cudasim::shuffle(mask, value, in_group >= static_cast<int>(delta) ? lane - static_cast<int>(delta) : lane);
}
template <typename T>
CUDA_SIM_SILENT T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  const int lane = cudasim::lane_id(), from = lane ^ lane_mask;
  return cudasim::shuffle(mask, value, from < (lane & ~(width - 1)) + width ? from : lane);
}
CUDA_SIM_SILENT inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(cudasim::warp_exchange(cudasim::WarpOp::Ballot, mask, predicate != 0, 0));
}
CUDA_SIM_SILENT inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
CUDA_SIM_SILENT inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}

template <typename T>
CUDA_SIM_SILENT T atomicAdd(T* p, typename cudasim::identity<T>::type value) {
  cudasim::note_atomic(p, sizeof(T), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](T old) { return static_cast<T>(old + value); });
}
template <typename T>
CUDA_SIM_SILENT T atomicMax(T* p, typename cudasim::identity<T>::type value) {
  cudasim::note_atomic(p, sizeof(T), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](T old) { return old < value ? value : old; });
}
template <typename T>
CUDA_SIM_SILENT T atomicMin(T* p, typename cudasim::identity<T>::type value) {
  cudasim::note_atomic(p, sizeof(T), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](T old) { return value < old ? value : old; });
}
template <typename T>
CUDA_SIM_SILENT T atomicExch(T* p, typename cudasim::identity<T>::type value) {
  cudasim::note_atomic(p, sizeof(T), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](T) { return value; });
}
template <typename T>
CUDA_SIM_SILENT T atomicCAS(T* p, typename cudasim::identity<T>::type compare,
                            typename cudasim::identity<T>::type value) {
  cudasim::note_atomic(p, sizeof(T), __builtin_return_address(0));
  __atomic_compare_exchange(p, &compare, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
// A cycle of a simulated device takes a nanosecond.
CUDA_SIM_SILENT inline long long clock64() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}
CUDA_SIM_SILENT inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}

#include <device_functions.h>

#pragma GCC visibility pop
