// Mirrors: nothing in PyTorch, whose users run NVIDIA's compute-sanitizer and Nsight Compute
//
// The watcher of kernels: see Note [Watching kernels] in observer.h. Its parts:
//   calls.cpp       what the compiler calls before each access and in each basic block
//   grids.cpp       grids, blocks, threads and barriers
//   accesses.cpp    checks each access at once: bounds, initialization, races
//   operations.cpp  memory, copies, streams and the host
//   report.cpp      the report, as JSON
//   warps.h         the traces of a block's threads, put together to warps and counted
//   shadow.h, order.h, allocations.h, sites.h   what the watcher remembers
// Nothing here is thread-safe but what says so: `state_` is locked while a grid runs, so one grid runs at a time, and
// the host waits if it allocates or frees meanwhile. So a kernel that waits for another kernel waits in vain.
#pragma once

#include <c10/cuda/sim/observer.h>
#include <c10/cuda/sim/watch/allocations.h>
#include <c10/cuda/sim/watch/order.h>
#include <c10/cuda/sim/watch/shadow.h>
#include <c10/cuda/sim/watch/sites.h>

#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cudasim::watch {

// One kind of fault at one place of the code, with the words for its first occurrence.
struct Problem {
  std::string what, kernel, place, thread, other_thread, note;
  uint32_t site = 0, other_site = 0;
  uint64_t count = 0;
};

// Memory that was allocated before the watcher started.
struct Known {
  uintptr_t begin;
  size_t bytes;
};

struct Conflict {
  uintptr_t address;
  uint32_t operation;
  bool was_write;
};

struct CudaThread {
  uint32_t path = 0, deeper = 0; // `deeper` counts the calls that the path leaves out
  std::vector<Record> trace;
};

struct Range {
  uintptr_t begin = 0, end = 0;
  bool has(uintptr_t p) const {
    return p >= begin && p < end;
  }
  size_t size() const {
    return end - begin;
  }
};

// The CUDA thread that this host thread runs, or null outside of kernels: code of the host may be instrumented, too.
extern __thread CudaThread* running __attribute__((tls_model("initial-exec")));

class Watcher final : public Observer {
 public:
  // Forgets everything and begins to watch. `segments` are the memory of the caching allocator, `blocks` the parts of
  // it that tensors own. No operation may be in flight. A kernel may run for `seconds`; with 0, neither kernels nor
  // copies are watched, and the program itself tells with `op` which memory its operations use. Returns false, and does
  // nothing, if the watcher is watching.
  bool start(const std::vector<Known>& segments, const std::vector<Known>& blocks, int seconds);
  // Ends the watching. The report stays. If it has problems, a device that has failed works again: unlike a GPU, the
  // simulator can go on after a fault.
  void stop();
  std::string report();
  void name(Array array);
  size_t problem_count();

  // The program has enqueued an operation that reads and writes memory. Returns its number, and the earlier operations
  // that nothing orders before it, one for each range of memory.
  std::pair<uint32_t, std::vector<Conflict>> op(const CUstream_st* stream, const std::string& what,
                                                const std::vector<Known>& reads, const std::vector<Known>& writes);
  bool wants_grids() const override {
    return may_run_.count() > 0;
  }

  void grid_begin(const cudaLaunchConfig_t& config, const Kernel& kernel, unsigned long operation) override;
  void grid_end() override;
  void block_begin(const void* dynamic_shared, size_t bytes) override;
  void block_end() override;
  void thread_runs(unsigned thread, bool is_new) override;
  void thread_exit(unsigned thread) override;
  void at_barrier(unsigned thread, const void* place) override;
  void barrier_done() override;
  void stuck(size_t at_barrier, size_t in_warp_operation, size_t gone) override;
  void failed(const std::string& what, const void* place) override;
  void warp_done(unsigned warp, unsigned lanes, bool orders_memory) override;
  void atomic(const void* p, size_t bytes, const void* place) override;

  void allocated(const void* p, size_t bytes) override;
  void freed(const void* p) override;
  void opened(const void* p, size_t bytes) override;
  void block_freed(const void* p, const CUstream_st* stream, bool shared) override;
  void range(const void* p, size_t bytes, bool writes, unsigned long operation) override;
  void pinned_copy(const void* host, size_t bytes, bool into_host, unsigned long operation) override;
  bool host_fault(const void* address) override;

  unsigned long enqueued(const CUstream_st* stream, const char* what) override;
  void event_recorded(const CUevent_st* event, const CUstream_st* stream) override;
  void stream_waits(const CUstream_st* stream, const CUevent_st* event) override;
  void host_waits_for_stream(const CUstream_st* stream) override;
  void host_waits_for_device(int device) override;
  void host_waits_for_event(const CUevent_st* event) override;

  // What the compiler's calls tell of the running CUDA thread.
  void access(const void* p, size_t bytes, Kind kind, const void* place, bool is_volatile = false);
  void enter(const void* place);
  void leave();
  void basic_block(const void* place);

 private:
  void forget();
  // ---- grids.cpp
  void append(uint32_t site, uintptr_t address, size_t bytes);
  void count(const Instruction& in, uint32_t warp);
  void trust_arguments();
  // ---- accesses.cpp
  void find_shared_variables();
  bool in_shared_memory(uintptr_t address, Range*& shared);
  bool is_of_the_thread(uintptr_t address) const;
  bool is_pinned(uintptr_t address) const;
  void report_host_address(uintptr_t address, uint32_t site);
  void check_word(Word& word, uint8_t mask, Kind kind, bool is_volatile, uint32_t site, uintptr_t address,
                  bool is_initialized);
  void report_conflict(const char* what, const Seen& seen, uint32_t site, uintptr_t address);
  bool is_ordered(const Seen& seen);
  // ---- operations.cpp
  void add_allocation(const void* p, size_t bytes, bool is_trusted);
  void check_use_after_free(const Allocation& a, uint32_t operation, uint32_t site);
  void release_guards();
  // Notes that an operation uses a range. Calls report(earlier access, whether it was a write, address) for each word
  // that an operation has used which nothing orders before this one.
  template <typename F>
  void use(uintptr_t begin, size_t bytes, bool writes, uint32_t operation, const F& report);
  // ---- report.cpp
  void say(Problem problem);
  std::string describe(uintptr_t address);
  std::string describe_thread(uint32_t block, unsigned thread) const;
  std::string name_thread(unsigned thread) const;
  std::string describe_operation(uint32_t number);

  std::mutex state_; // of everything below but what says otherwise
  Order order_;      // has a lock of its own
  Sites sites_;
  Shadow shadow_;
  Allocations allocations_;
  std::vector<Problem> problems_;
  std::map<std::tuple<std::string, uint32_t, uint32_t>, size_t> problem_at_;
  std::map<const void*, std::string> kernel_names_;
  struct Launch {
    std::string kernel;
    dim3 grid, block;
    uint32_t operation;
    bool is_instrumented = false;
  };
  std::vector<Launch> launches_;
  std::chrono::seconds may_run_{60};

  // ---- the grid that runs
  std::string kernel_;
  const void* function_ = nullptr;
  uint32_t operation_ = 0, block_ = 0, generation_ = 0;
  unsigned thread_ = 0;
  dim3 grid_dim_, block_dim_;
  bool is_instrumented_ = false, has_looked_for_shared_ = false;
  bool told_ = false;                                    // whether the report says why the kernel is being ended
  uint32_t last_block_ = 0;                              // the site of the basic block that the thread entered last
  std::tuple<uint32_t, uint32_t, unsigned> last_blamed_; // the operation, block and thread of the latest problem
  std::vector<CudaThread> threads_;
  std::vector<std::array<std::array<uint32_t, 32>, 32>> warp_clocks_; // [warp][lane][what it knows of the other lane]
  struct Waiting {
    uint32_t site;
    unsigned thread;
  };
  std::vector<Waiting> at_barrier_; // the threads that wait, in the order in which they came
  std::vector<bool> gone_;          // for each thread: whether it has left the kernel
  size_t records_ = 0, blocks_run_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  Range arguments_, static_shared_, dynamic_shared_, stack_;
  std::vector<Range> pinned_;
  std::vector<Range> modules_; // the memory of libraries and of the program: constants, and variables of the device
  std::vector<Word> static_words_, dynamic_words_;

  struct Guard { // protected pages of pinned memory
    uintptr_t begin, end;
    bool into_host;
    uint32_t operation;
  };
  std::mutex guards_mutex_;
  std::vector<Guard> guards_;
};

// The only watcher, which lives as long as the process.
Watcher& watcher();

} // namespace cudasim::watch
