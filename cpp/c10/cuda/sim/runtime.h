// Mirrors: nothing in PyTorch: the inside of the simulator of the CUDA runtime
//
// The declarations that the files of the simulator share:
//   blocks.cpp   runs the threads of a block, as fibers of one host thread that switch at barriers
//   memory.cpp   a range of addresses for each device, which host code cannot touch
//   faults.cpp   what ends a kernel early: addresses without memory, full stacks, divisions by zero
//   settings.cpp what the environment says
//   ipc.cpp      memory of a device that several processes use
//   streams.cpp  a queue and a worker thread for each stream; the rules of the legacy default stream
//   events.cpp   places in streams, for which this process and others wait
//   graphs.cpp   work that is recorded instead of run, and run later as often as the program wants
//   symbols.cpp  the names of kernels
//   output.cpp   what kernels print
//   guard.cpp    ends kernels that never end
//   activities.h what the files above tell a profiler
//   observer.h   what the files above tell a tool that watches kernels; watch/ has that tool
//   pinned.cpp   pinned memory of the host
//   api.cpp      the other functions of the CUDA runtime
//   errors.cpp   the names and texts of errors
//   cublas.cpp   the one product of cuBLAS that reftorch calls
//
// Note [The simulator sleeps]
// The first CUDA call that needs a device constructs Runtime. The constructor reads the settings, reserves the
// addresses of the devices and installs handlers for signals. Before that call, the simulator has no thread, no memory
// and no handler. If REFTORCH_CUDA_SIM is not set, there are no devices, and reftorch makes no CUDA call except
// cudaGetDeviceCount, which does not construct Runtime. So a process may also count its devices before it forks.
//
// The settings, which are read once from the environment:
//   REFTORCH_CUDA_SIM=N                the number of devices; no devices if 0 or unset
//   REFTORCH_CUDA_SIM_MEMORY_MB=4096   the memory of each device
//   REFTORCH_CUDA_SIM_ORDER=forward    the order in which the threads of a block run: forward, reverse or random;
//                                      another order can make a race visible
//   REFTORCH_CUDA_SIM_THREADS=1        the number of host threads that share the blocks of one kernel
//   REFTORCH_CUDA_SIM_LATENCY_US=0     the delay before each operation of a stream; makes a missing wait visible
//   REFTORCH_CUDA_SIM_TIMEOUT_S=60     the seconds of processor time after which a kernel is ended; 0: never
//   REFTORCH_CUDA_SIM_PROTECT=1        0: host code may touch device memory
//   CUDA_VISIBLE_DEVICES=1,0           the devices that the process sees, in this order, counted from 0; all if unset
//   CUDA_LAUNCH_BLOCKING=0             1: each operation runs at once, on the calling thread
#pragma once

#define CUDA_SIM_INSIDE 1
#include <cuda_runtime.h>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace cudasim {

constexpr size_t kMaxThreads = 1024, kMaxShared = 48 << 10, kPage = 4096;
// The memory of a device that the process needs for itself, as the context of a process on a GPU does. It cannot be
// allocated.
constexpr size_t kContextBytes = size_t(1) << 20;
constexpr int kMaxDevices = 16, kMultiProcessors = 4;
#if defined(__SANITIZE_THREAD__)
constexpr long kMaxMemoryMb = 16 << 10; // which is also the distance between the addresses of two devices
#else
constexpr long kMaxMemoryMb = 64 << 10;
#endif

// ---- settings.cpp ----

std::string setting(const char* name, const char* otherwise);
// Returns a setting that is a whole number. A text that is none, or is outside of the limits, is reported and counts as
// not set.
long number_setting(const char* name, long otherwise, long least, long most);
// Returns the devices that this process sees, by their numbers in the machine; does not construct Runtime. As in CUDA,
// the list in CUDA_VISIBLE_DEVICES ends before the first entry that does not name a device. If the list names a device
// twice, the process sees no device.
std::vector<int> visible_devices();

// ---- memory.cpp ----

struct Device {
  int index;  // by which the process names it
  int number; // among the devices of the machine
  char* base;
  std::map<char*, size_t> live;       // the allocations: the beginning of each and its size
  int file = -1;                      // where the memory is, if other processes may use it
  std::map<char*, uint64_t> exported; // the allocations that other processes may open, and the number of each
  std::map<char*, size_t> opened;     // the memory of other processes; `gate` guards it, too
  std::mutex gate;                    // guards `users` and the page permissions
  int users = 0;                      // the number of operations that need the memory accessible
  std::atomic<unsigned> peers{0};     // a bit for each device whose memory this device's kernels may use
  CUstream_st* default_stream;
  std::atomic<cudaError_t> error{cudaSuccess}; // stays set: every later call on the device fails, as on a GPU
};

// From the first address of a device to that of the next.
constexpr uintptr_t kDeviceSpan = uintptr_t(kMaxMemoryMb) << 20;

Device* device_of(const void* pointer); // null if the pointer is not into device memory
// Returns the allocation that contains all of [p, p + bytes), or {nullptr, 0} if there is none.
std::pair<char*, size_t> find_allocation(const std::map<char*, size_t>& live, const void* p, size_t bytes);
// The same among the device's own allocations and those of other processes that it has opened.
std::pair<char*, size_t> find_allocation(const Device& device, const void* p, size_t bytes);
// The pages of an allocation: the beginning of the first one, and their size.
std::pair<char*, size_t> pages_of(char* begin, size_t bytes);
void open_memory(Device& device, bool open); // pairs of calls may be nested
void reserve_memory(Device& device, size_t bytes, bool protect);

// ---- faults.cpp ----

void install_fault_handlers(struct sigaction* previous); // which receives the handlers before ours, by number

// ---- ipc.cpp ----

// A file without a name that this process or another one has open.
struct ProcessFile {
  int process, number; // the number is that of the process
  uint64_t inode;      // says whether the number still means this file
};
ProcessFile process_file(int number); // of this process
// Returns the number of the file in this process, which the caller closes, or -1 if the file is gone.
int open_process_file(const ProcessFile& file);
// The allocation ends. The caller holds the mutex.
void end_export(Device& device, char* allocation);

// ---- symbols.cpp ----

// Returns the name of a function with its types; "at 0x..." if no table of symbols has the name.
std::string function_name(const void* function);

// ---- streams.cpp ----

using StreamPtr = std::shared_ptr<CUstream_st>;

struct SharedEvent; // see Note [Events between processes]

// Means "the stream has finished its first `ticket` operations", or, if `shared` is set, "the recording number `ticket`
// has passed". An event is a Mark; `time` is for cudaEventElapsedTime.
struct Mark {
  StreamPtr stream{};
  uint64_t ticket = 0;
  std::shared_ptr<std::chrono::steady_clock::time_point> time{};
  std::shared_ptr<SharedEvent> shared{};
};

struct Capture;

struct Runtime {
  Runtime();
  std::mutex mutex; // protects every member that changes and is not atomic
  std::condition_variable progress;
  std::deque<Device> devices;
  size_t memory_bytes;
  std::map<CUstream_st*, StreamPtr> streams;
  std::vector<std::shared_ptr<Capture>> captures; // those that have begun and not ended
  std::map<char*, size_t> pinned;
  std::set<char*> registered;          // those of them that the program has allocated: cudaHostRegister
  std::map<char*, char*> pinned_views; // by what the host sees: see Note [Two views of pinned memory]
  bool protect, blocking;
  std::atomic<bool> forked{false};
  std::atomic<bool> ended{false}; // see Note [The end of the process]
  bool paused = false;            // the process forks, and workers begin no operation
  int running = 0;                // the number of operations that workers are running
  int latency_us, helpers;
  struct sigaction previous[NSIG]; // the handlers before ours
};
Runtime& runtime();

extern thread_local int current_device;
extern thread_local cudaError_t last_error;

bool passed(const Mark& mark); // the caller holds the mutex
void wait_for(const Mark& mark);

// What a profiler is told of an operation.
struct About {
  const void* function = nullptr; // the kernel, and how it was launched
  dim3 grid{}, block{};
  size_t shared_bytes = 0;
  const char* name = nullptr; // of an operation that is not a kernel
  size_t bytes = 0;           // of a copy or of a memset
};

// Work for a stream. A graph runs the work once for each launch, so `run` must not change what it owns. `number` is the
// number that the observer gave the operation, or 0 if nobody watches.
struct Operation {
  const char* what; // the name for the observer, which does not count operations without a name
  std::function<void(unsigned long number)> run;
  std::function<void(Observer& it, unsigned long number)> announce{}; // is called when the operation is enqueued
  About about{};
};
// An operation in the queue of a stream. It begins after the marks in `before`.
struct Queued {
  std::function<void(unsigned long number)> run;
  unsigned long number;
  std::vector<Mark> before;
};
// If the stream captures, the operation is recorded and not run.
Mark enqueue(const StreamPtr& stream, Operation operation);
StreamPtr find_stream(cudaStream_t stream); // the caller holds the mutex; null if there is no such stream

// ---- events.cpp ----

// Host threads may record one event, wait for it and ask for it at the same time, so its mark is read under the mutex,
// too. mark_of() locks it.
Mark mark_of(const CUevent_st& event);
bool is_recorded(const CUevent_st& event); // the caller holds the mutex
// The stream does not capture.
void record_event(CUevent_st& event, const StreamPtr& stream);
void wait_event(const StreamPtr& stream, const CUevent_st& event);
bool has_passed(const SharedEvent& event, uint64_t recording);

// ---- graphs.cpp ----

// An operation of a graph. `lane` is the place in Capture::streams of the stream on which it was captured; the node
// begins after the nodes in `dependencies`, which come earlier in the list of nodes.
struct Node {
  Operation operation;
  size_t lane;
  std::vector<size_t> dependencies;
  std::shared_ptr<CUevent_st> event{}; // a launch records it or waits for it, and the operation has only a name
  bool records = false;
  bool other_lanes_wait = false; // whether it is a dependency of a node of another lane
};

// A graph that is being recorded.
struct Capture {
  const cudaStreamCaptureMode mode;
  const std::thread::id thread; // the one that began the capture
  const unsigned long long id;
  bool valid = true, ended = false;
  std::vector<StreamPtr> streams{}; // those that capture; the first one began
  std::vector<Node> nodes{};
};

// Adds a node to the graph that the stream captures. The caller holds the mutex.
void capture_operation(CUstream_st& stream, Operation operation);
// Adds a node that records an event for host code and other streams, or waits for one, at each launch of the graph.
// Returns an error if the stream does not capture.
cudaError_t capture_event(const CUevent_st& event, CUstream_st& stream, bool records);
// Returns the error because of which no operation of the stream can be enqueued: its capture is invalid, or it is the
// legacy stream of a device on which a blocking stream captures. The caller holds the mutex.
cudaError_t capture_error(const CUstream_st& stream);
// Each of these returns an error and makes captures invalid if one forbids the call: a call that is unsafe during a
// capture, such as cudaMalloc; a wait for a stream; a wait for a device; a wait for an event.
cudaError_t forbid_unsafe();
cudaError_t forbid_wait(const CUstream_st& stream);
cudaError_t forbid_wait(const Device& device);
cudaError_t forbid_wait(const CUevent_st& event);
// The events of a capture hold places in the graph. Each returns false if neither stream nor event takes part in one.
bool capture_record(CUevent_st& event, CUstream_st& stream);
bool capture_wait(const StreamPtr& stream, const CUevent_st& event, cudaError_t* error);

// ---- pinned.cpp ----

// Returns the address by which a copy reaches the memory of `p`: see Note [Two views of pinned memory]. The caller
// holds the mutex.
char* device_view(const void* p, size_t bytes);

// ---- api.cpp ----

// Remembers the error for cudaGetLastError, and returns it.
cudaError_t done(cudaError_t error);
// Waits, and returns the error of the current device.
cudaError_t synchronize(const Mark& mark);
cudaError_t synchronize_device(Device& device);
// Returns the error because of which every call fails: the process is a forked child, there are no devices, or the
// current device has failed.
cudaError_t status();
#define RETURN_IF_ERROR(expression)              \
  if (cudaError_t error_ = (expression); error_) \
  return ::cudasim::done(error_)

// Calls `f` with the stream of that handle and returns its error. Does not call `f` if an error forbids every call or
// if there is no such stream.
cudaError_t with_stream(cudaStream_t handle, const std::function<cudaError_t(const StreamPtr&)>& f);
// Calls `f` while the memory of the devices whose memory `device` may use is accessible.
void with_open_peers(Device& device, const std::function<void()>& f);

// ---- blocks.cpp ----

// `operation` is the number that the observer gave the launch.
void run_grid(const cudaLaunchConfig_t& config, Kernel& kernel, Device& device, unsigned long operation);
// in_kernel() says whether this host thread is inside a kernel. A fault or a failed assertion there ends the kernel by
// abandon_kernel(), which reports `what` with the names of kernel, block and thread, and leaves the kernel by
// siglongjmp. No destructors run. `where` is the line of source, or empty; `place` is the address to which the kernel's
// code would have returned, for the observer.
bool in_kernel();
bool in_simulator(); // of a thread that is inside a kernel
[[noreturn]] void abandon_kernel(cudaError_t error, const std::string& what, const std::string& where,
                                 const void* place);

// The memory [low, high) on which the running thread of a kernel has its variables.
struct Stack {
  uintptr_t low, high;
};
Stack kernel_stack();
extern const char* const kFullStack; // the words for a stack that is full
// Returns how many bytes an address lies after the end of the block's dynamic shared memory, and its size.
std::pair<uintptr_t, size_t> after_shared(const void* address);

// The simulator's own code that a kernel calls stands between these two, so that the guard does not end the kernel in
// the middle of it.
void enter_simulator();
void leave_simulator();
// Ends the kernel of this thread, if the guard has asked for it and the kernel's own code is running, at `place`.
// Returns whether the guard has asked.
bool stop_if_asked(const void* place);

// ---- guard.cpp ----

// A host thread that runs kernels, for the guard: see Note [A kernel that never ends].
struct KernelThread {
  KernelThread();
  ~KernelThread();
  void begin_kernel();
  void end_kernel();

  enum Stop { No, AtTheLimit, ByTheUser };
  const pthread_t thread;
  std::atomic<uint64_t> kernels{0}; // the beginnings and ends of kernels: odd while one runs
  std::atomic<Stop> stop{No};
  // For the guard: `kernels` in the last round, the thread's processor time when it had that value first, and `kernels`
  // when the user pressed Ctrl-C.
  uint64_t seen = 0, interrupted = 0;
  double begin = 0;
};

// Locks or unlocks what the guard uses, so that a forked child finds it in order.
void lock_guard_thread(bool lock);

// ---- output.cpp ----

void write_output(); // writes what the kernels of this host thread have printed

} // namespace cudasim

struct CUstream_st {
  cudasim::Device* device;
  bool blocking, is_default;
  std::deque<cudasim::Queued> queue;
  uint64_t submitted = 0, finished = 0; // counts of operations
  std::condition_variable work;
  bool has_worker = false, destroyed = false;
  std::shared_ptr<cudasim::Capture> capture; // null unless the stream captures
  std::vector<size_t> last_nodes;            // the dependencies of the node that is captured next
};

struct CUevent_st {
  int device = 0;
  cudasim::Mark mark{};                        // of the last recording
  std::shared_ptr<cudasim::Capture> capture{}; // if the last recording was on a stream that captured
  std::vector<size_t> last_nodes{};
  std::shared_ptr<cudasim::SharedEvent> shared{}; // of an interprocess event, whose mark is not used
  std::shared_ptr<CUevent_st> itself{};           // until cudaEventDestroy
};
