// Mirrors: aten/src/ATen/record_function.h, torch/csrc/autograd/profiler_kineto.cpp
//
// The events that the profiler measures, and the observer that debugging tools use to see each op. What devices do
// meanwhile is recorded elsewhere: see c10/cuda/sim/activities.h. Left out: several callbacks at a time, sampling.
//
// Note [Profiling]
// Problem: the profiler must see every op, and a program that does not profile must not pay for it. Trick: the profiler
// has its own dispatch key, above all others. No tensor has this key. A thread that profiles includes it
// (LocalDispatchKeySet), and the key's fallback measures the call and redispatches it. A thread that does not profile
// pays nothing, because dispatch reads its included keys in any case.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <memory>
#include <string>
#include <vector>

namespace reftorch::at {

struct RecordedEvent {
  std::string name;
  int64_t start_ns = 0, end_ns = -1; // since the profiler was enabled; end_ns is -1 while the event runs
  int64_t parent = -1;               // the index of the enclosing event on the same thread; -1 for none
  int64_t thread = 0;                // threads are numbered from 0 in the order of their first events
  int64_t sequence_nr = -1;          // of the node that the op will record, or of the node that runs; -1 for none
  int64_t cpu_memory = 0;            // bytes allocated less bytes freed during the event
  int64_t device_memory = 0;         // the same of all devices
  int64_t flops = 0;                 // floating point operations of a product; 0 if they are not counted
  std::vector<DimVector> shapes;     // of the tensor arguments
  std::vector<std::string> stack;    // the lines of Python from which the event was called, the innermost first
  bool is_backward = false;
  bool is_async = false; // ends on any thread, beside the ops of its own; has no parent
};

struct ProfilerConfig {
  bool record_shapes = false;
  bool profile_memory = false;
  bool with_stack = false;
  bool with_flops = false;
};

// What other rooms know and the profiler asks. Each pointer is null until its room sets it.
struct ProfilerHooks {
  // The sequence number that the next node of this thread will get; -1 if the op is not recorded. From csrc/autograd.
  int64_t (*next_sequence_nr)() = nullptr;
  // The lines of Python that this thread runs, the innermost first; empty without the GIL. From csrc/profiler.
  std::vector<std::string> (*python_stack)() = nullptr;
  // The floating point operations of a call, whose arguments are on the stack; 0 if unknown. From csrc/profiler.
  int64_t (*flops)(const OperatorHandle& op, const Stack& stack) = nullptr;
  // The bytes that tensors have on all devices. From csrc/cuda.
  int64_t (*device_memory)() = nullptr;
};
TORCH_API extern ProfilerHooks profiler_hooks;

// Starts recording the ops of this thread. Raises RuntimeError if a profiler already runs on any thread, or if an
// observer is set.
// Returns the time at which the recording begins, in ns of std::chrono::steady_clock.
TORCH_API int64_t enable_profiler(ProfilerConfig config);
// Stops the profiler and returns the events in the order of their starts. Raises RuntimeError if no profiler runs.
TORCH_API std::vector<RecordedEvent> disable_profiler();

// An observer is called around every op of the thread that set it, and of the threads to which its backward passes
// move. An exception thrown by a callback ends the op. Ops that a callback calls are not observed.
class TORCH_API OpObserver {
 public:
  virtual ~OpObserver() = default;
  // Called before the op. The arguments are the last values of the stack.
  virtual void start(const OperatorHandle& op, const Stack& stack) = 0;
  // Called after the op. The results are the last values of the stack; `stack` is null if the op threw.
  virtual void end(const OperatorHandle& op, const Stack* stack) = 0;
};

// Starts observing the ops of this thread. Raises RuntimeError if this thread has an observer already, or if a profiler
// runs on any thread. Several threads may have an observer each.
TORCH_API void set_op_observer(std::shared_ptr<OpObserver> observer);
// Ends the observer of this thread. Does nothing if no observer is set. A call that has begun still ends with the
// observer that saw its beginning.
TORCH_API void clear_op_observer();

// Records an event from construction to destruction. Does nothing on a thread that does not profile.
class TORCH_API RecordFunction final {
 public:
  static bool is_enabled() {
    return c10::impl::tls_local_dispatch_key_set.included_.has(c10::DispatchKey::Profiler);
  }
  explicit RecordFunction(std::string name, int64_t sequence_nr = -1, bool is_backward = false,
                          std::vector<DimVector> shapes = {}, int64_t flops = 0);
  ~RecordFunction();
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

  // Whether the profiler records the shapes of arguments.
  static bool records_shapes();
  // Begins an event without an object, and returns its index; -1 on a thread that does not profile. The memory of such
  // an event is not measured, so an allocator may begin one while it holds its lock.
  static int64_t begin(std::string name);
  static void end(int64_t index);

 private:
  int64_t index_ = -1;
};

// Records an event from construction, on a thread that profiles, to end(), on any thread: work that was started and
// goes on by itself, such as a collective. Does nothing if the constructing thread does not profile.
class TORCH_API AsyncEvent final {
 public:
  explicit AsyncEvent(std::string name, std::vector<DimVector> shapes = {});
  ~AsyncEvent() {
    end();
  }
  AsyncEvent(const AsyncEvent&) = delete;
  AsyncEvent& operator=(const AsyncEvent&) = delete;
  void end();

 private:
  std::weak_ptr<struct Recording> recording_;
  int64_t index_ = -1;
};

} // namespace reftorch::at
