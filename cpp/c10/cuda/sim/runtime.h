// Mirrors: nothing in PyTorch: the inside of the simulator of the CUDA runtime
// What the four parts of the simulator share:
//   blocks.cpp   runs the threads of a block, as fibers of one host thread that change places at barriers
//   memory.cpp   a range of addresses for each device, which host code cannot touch
//   streams.cpp  a queue and a worker thread for each stream; events; the rules of the legacy default stream
//   api.cpp      CUDA's names for the above; cublas.cpp has the one call of cuBLAS that reftorch makes
//
// Note [The simulator sleeps]
// The first call of the API constructs Runtime. Runtime reads the settings, reserves the addresses and installs a
// handler for SIGSEGV. Before that call the simulator has no thread, no memory and no handler. Without
// REFTORCH_CUDA_SIM there are no devices, and reftorch makes no other call than cudaGetDeviceCount.
//
// The settings, read once from the environment:
//   REFTORCH_CUDA_SIM=N                how many devices there are; 0 or unset: none
//   REFTORCH_CUDA_SIM_MEMORY_MB=4096   the memory of each device
//   REFTORCH_CUDA_SIM_ORDER=forward    or reverse, or random: the order in which the threads of a block run; shows
//   races REFTORCH_CUDA_SIM_THREADS=1        how many host threads share the blocks of one kernel
//   REFTORCH_CUDA_SIM_LATENCY_US=0     how late a stream begins each operation; makes a missing wait visible
//   REFTORCH_CUDA_SIM_PROTECT=1        0: host code may touch device memory
//   CUDA_LAUNCH_BLOCKING=0             1: each operation runs at once, on the thread and the stack of its caller
#pragma once

#include <cuda_runtime.h>

#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace cudasim {

constexpr size_t kMaxThreads = 1024, kMaxShared = 48 << 10, kPage = 4096;
constexpr int kMaxDevices = 16, kMultiProcessors = 4;

std::string setting(const char* name, const char* otherwise);

// ---- memory.cpp ----

struct Device {
  int index;
  char* base;
  std::map<char*, size_t> live; // the allocations: where each begins, and its size
  std::mutex gate;              // guards `users` and the page permissions
  int users = 0;                // how many operations need the memory open
  unsigned peers = 0;           // a bit for each device whose memory this device's kernels may use
  CUstream_st* default_stream;
  std::atomic<cudaError_t> error{cudaSuccess}; // sticky: after an error every call on the device fails, as on a GPU
};

Device* device_of(const void* pointer); // null if the pointer is the host's
// The allocation that holds all of [p, p + bytes); {nullptr, 0} if there is none.
std::pair<char*, size_t> find_allocation(const std::map<char*, size_t>& live, const void* p, size_t bytes);
void open_memory(Device& device, bool open); // calls nest
void reserve_memory(Device& device, size_t bytes, bool protect);
void install_fault_handler(struct sigaction* previous);

// ---- streams.cpp ----

using StreamPtr = std::shared_ptr<CUstream_st>;

// "Stream `stream` has finished its first `ticket` operations." An event holds nothing else, but the time.
struct Mark {
  StreamPtr stream;
  uint64_t ticket = 0;
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
};

struct Runtime {
  Runtime();
  std::mutex mutex; // guards every field that changes and is no atomic
  std::condition_variable progress;
  std::deque<Device> devices;
  size_t memory_bytes;
  std::map<CUstream_st*, StreamPtr> streams;
  std::map<char*, size_t> pinned;
  bool protect, blocking;
  std::atomic<bool> forked{false};
  int latency_us, helpers;
  struct sigaction previous; // the handler that SIGSEGV had before
};
Runtime& runtime();

extern thread_local int current_device;
extern thread_local cudaError_t last_error;

bool passed(const Mark& mark); // the caller holds the mutex
void wait_for(const Mark& mark);
Mark enqueue(const StreamPtr& stream, std::function<void()> operation);
StreamPtr find_stream(cudaStream_t stream); // the caller holds the mutex; null: there is no such stream

// ---- api.cpp ----

// Runs `f` with the stream of that handle, and returns its error, or the one that forbids every call.
cudaError_t with_stream(cudaStream_t handle, const std::function<cudaError_t(const StreamPtr&)>& f);
// Runs `f` with the memory of the device, and of those whose memory it may use, open.
void with_open_peers(Device& device, const std::function<void()>& f);

// ---- blocks.cpp ----

void run_grid(const cudaLaunchConfig_t& config, Kernel& kernel, Device& device);
// Whether this host thread is inside a kernel. A fault or a failed assertion there ends the kernel: the second function
// reports `what`, with the names of kernel, block and thread, and leaves the kernel by longjmp. No destructors run.
bool in_kernel();
[[noreturn]] void abandon_kernel(cudaError_t error, const char* what);

} // namespace cudasim

struct CUstream_st {
  cudasim::Device* device;
  bool blocking, is_default;
  std::deque<std::function<void()>> queue;
  uint64_t submitted = 0, finished = 0; // counts of operations
  std::condition_variable work;
  bool has_worker = false, destroyed = false;
};

struct CUevent_st {
  int device;
  cudasim::Mark mark; // of its last recording
};
