// Mirrors: aten/src/ATen/record_function.h, torch/csrc/autograd/profiler_kineto.cpp
// What the profiler measures, and what a debugging tool sees of each call. Left out: several callbacks at a time,
// sampling, GPUs, stacks.
//
// Note [Profiling]
// Problem: the profiler must see every op, and a program that does not profile must not pay for it. Trick: a dispatch
// key of its own, above all others, that is in no tensor's keys: a thread that profiles includes it
// (LocalDispatchKeySet), and its fallback measures the call and hands it on below. The same word that dispatch reads
// anyhow says that it is off.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <memory>
#include <string>
#include <vector>

namespace reftorch::at {

struct RecordedEvent {
  std::string name;
  int64_t start_ns = 0, end_ns = -1; // since the profiler was enabled; -1 while it runs
  int64_t parent = -1;               // index of the event it happened in, on the same thread
  int64_t thread = 0;                // 0 for the first thread that recorded something
  int64_t sequence_nr = -1;          // of the node that an op is about to record, or that runs; -1 for none
  int64_t cpu_memory = 0;            // bytes allocated less bytes freed meanwhile
  std::vector<DimVector> shapes;     // of tensor arguments
  bool is_backward = false;
};

struct ProfilerConfig {
  bool record_shapes = false;
  bool profile_memory = false;
};

// The number that the next node of this thread will get; -1 where nothing is recorded. Set by csrc/autograd.
TORCH_API extern int64_t (*next_sequence_nr)();

// From now on this thread's ops are recorded; RuntimeError if a profiler runs already, on any thread.
TORCH_API void enable_profiler(ProfilerConfig config);
// The events in the order of their starts. RuntimeError if none runs.
TORCH_API std::vector<RecordedEvent> disable_profiler();

// Called around every op of a thread that asked for it, on that thread and on those to which its backward passes move.
// What a callback throws ends the op. The ops that a callback calls itself are not observed.
class TORCH_API OpObserver {
 public:
  virtual ~OpObserver() = default;
  // The arguments are the last of the stack.
  virtual void start(const OperatorHandle& op, const Stack& stack) = 0;
  // The results are the last of the stack; null where the op threw.
  virtual void end(const OperatorHandle& op, const Stack* stack) = 0;
};

// From now on this thread's ops are observed; RuntimeError if others are already, or a profiler runs.
TORCH_API void set_op_observer(std::shared_ptr<OpObserver> observer);
// Nothing where none is set.
TORCH_API void clear_op_observer();

// An event from its construction to its end; nothing on a thread that does not profile.
class TORCH_API RecordFunction final {
 public:
  static bool is_enabled() {
    return c10::impl::tls_local_dispatch_key_set.included_.has(c10::DispatchKey::Profiler);
  }
  explicit RecordFunction(std::string name, int64_t sequence_nr = -1, bool is_backward = false,
                          std::vector<DimVector> shapes = {});
  ~RecordFunction();
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

  // Whether shapes are asked for.
  static bool records_shapes();

 private:
  int64_t index_ = -1;
};

} // namespace reftorch::at
