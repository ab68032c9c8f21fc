// Mirrors: nothing in PyTorch: what the simulator tells a tool that watches kernels
//
// Note [Watching kernels]
// Problem: a race or a read outside of an array usually gives right values, on a GPU as in the simulator, and nobody
// sees which loads of a warp share a piece of memory. Trick: the compiler itself reports each load and store of a
// kernel (-fsanitize=thread) and each basic block (-fsanitize-coverage=trace-pc). The library is not linked with the
// compiler's own runtime, so that the calls reach watch/calls.cpp. The simulator adds what the compiler cannot know:
// which thread of which block runs, when threads wait for each other, which memory is allocated, and what orders the
// operations of streams. Limits: only kernels that are compiled with these options are seen in detail, which is done on
// demand (reftorch/debug/kernels). If nobody watches, each hook of the simulator is one branch.
//
// Note [Stores of what a call returns]
// Problem: gcc reports assignments, but no call that stores an object of a class, as `out[i] = f(x)` does if f returns
// a Half, and no object in memory that is passed by value, as in `f(in[i])`. The watcher would miss a race there, and
// would take the element for memory that nobody has written. Trick: the option -DCUDA_SIM_WATCHED gives the halves a
// copy constructor and an assignment, and the vectors of vector_types.h an assignment. The call then returns into a
// variable, and the function's own loads and stores are reported. The library's kernels use load and store for other
// classes. Limits: such stores of a kernel's own structs are not seen, unless the kernel goes by way of a variable; and
// vectors that are passed by value are not seen, because a constructor would end their lists in braces. Objects of a
// class with a copy constructor are passed by address, so a watched library and another one cannot pass halves by value
// to each other. The library exports no such function.
#pragma once

#define CUDA_SIM_INSIDE 1
#include <cuda_runtime.h>

#include <cstddef>
#include <string>

namespace cudasim {

// The functions that name an operation of a stream take the number that `enqueued` returned; 0 is an operation that was
// enqueued before anybody watched.
struct Observer {
  virtual bool wants_grids() const = 0; // whether it hears of grids and ranges, too
  // A grid runs: from grid_begin to grid_end, the functions for blocks, threads and accesses are called on one host
  // thread.
  virtual void grid_begin(const cudaLaunchConfig_t& config, const Kernel& kernel, unsigned long operation) = 0;
  virtual void grid_end() = 0;
  virtual void block_begin(const void* dynamic_shared, size_t bytes) = 0;
  virtual void block_end() = 0;
  virtual void thread_runs(unsigned thread, bool is_new) = 0; // the thread starts, or goes on after it has waited
  virtual void thread_exit(unsigned thread) = 0;
  virtual void at_barrier(unsigned thread, const void* place) = 0;
  virtual void barrier_done() = 0;                                                  // the threads at the barrier go on
  virtual void stuck(size_t at_barrier, size_t in_warp_operation, size_t gone) = 0; // no thread of the block can go on
  // A fault or the guard ends the kernel, at a place in its code.
  virtual void failed(const std::string& what, const void* place) = 0;
  // The lanes of a warp have met. Only __syncwarp orders what they did to memory.
  virtual void warp_done(unsigned warp, unsigned lanes, bool orders_memory) = 0;
  virtual void atomic(const void* p, size_t bytes, const void* place) = 0;

  virtual void allocated(const void* p, size_t bytes) = 0;
  virtual void freed(const void* p) = 0;
  // Memory of another process, which may write to it at any time.
  virtual void opened(const void* p, size_t bytes) = 0;
  // The caching allocator takes back a block of a stream: see tell_block_freed.
  virtual void block_freed(const void* p, const CUstream_st* stream, bool shared) = 0;
  // An operation reads or writes a range as a whole: a copy, a memset, a product of cuBLAS.
  virtual void range(const void* p, size_t bytes, bool writes, unsigned long operation) = 0;
  // One side of a copy is pinned memory. Before the host has waited for the operation, it must not read what the copy
  // writes, and not write what the copy reads.
  virtual void pinned_copy(const void* host, size_t bytes, bool into_host, unsigned long operation) = 0;
  // The host has touched protected memory. Returns whether the access may be repeated.
  virtual bool host_fault(const void* address) = 0;

  // What orders operations. The host's threads call these in the order of the program.
  virtual unsigned long enqueued(const CUstream_st* stream, const char* what) = 0;
  virtual void event_recorded(const CUevent_st* event, const CUstream_st* stream) = 0;
  virtual void stream_waits(const CUstream_st* stream, const CUevent_st* event) = 0;
  virtual void host_waits_for_stream(const CUstream_st* stream) = 0;
  virtual void host_waits_for_device(int device) = 0;
  virtual void host_waits_for_event(const CUevent_st* event) = 0;

 protected:
  ~Observer() = default; // an observer lives as long as the process, because workers may still call it
};

// Returns the stream of a handle; a null handle means the default stream of the device.
const CUstream_st* handle_of(cudaStream_t stream, int device);

// Returns the observer, or null.
inline Observer* watching() {
  return observer.load(std::memory_order_acquire);
}
// Calls `tell` with the observer if somebody watches.
template <typename F>
void if_watching(const F& tell) {
  if (Observer* it = watching()) {
    tell(*it);
  }
}

} // namespace cudasim
