// Mirrors: nothing in PyTorch: what CUPTI, NVIDIA's library for profilers, tells of a GPU
//
// Note [Activities]
// Problem: a call of the runtime returns before its work begins, so the times of calls say nothing about the work.
// Trick: while a profiler records, each named operation that is put into a stream carries an Activity, and the worker
// writes down when the operation began and ended. The profiler also hears of the calls that programs wait for, launch
// with or allocate by. It gives each call a number, and the operations that the call enqueues keep the number: that
// leads from a kernel to the op that launched it. Limits: the times are those of the simulator, whose kernels run on
// the processor, so they show what overlaps and who waits for whom, and not how fast a GPU is.
#pragma once

#include <c10/cuda/sim/runtime.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudasim {

struct Activity {
  About about;
  std::string name; // of the kernel with its types, or such as "Memcpy HtoD (Pageable -> Device)"
  int device = 0;
  int stream = 0;    // 0 is the default stream of the device; the others are numbered as they come
  int64_t call = -1; // the number of the call that enqueued the operation; -1 if the profiler gave none
  int64_t start_ns = 0, end_ns = 0;
};

// What a profiler does when a call of the runtime begins and ends. `begin` returns the number of the call.
struct CallHooks {
  int64_t (*begin)(const char* name) = nullptr;
  void (*end)(int64_t number) = nullptr;
};

// Records activities until stop_activities(), which returns those that have ended, in the order in which they were
// enqueued.
void start_activities(CallHooks hooks);
std::vector<Activity> stop_activities();

// A call of the runtime, from construction to destruction. Calls inside the call do not count.
class ApiCall {
 public:
  explicit ApiCall(const char* name);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

 private:
  void (*end_)(int64_t) = nullptr;
};

// If activities are recorded, makes the operation write down its times when it runs.
void record_activity(Operation& operation, const CUstream_st& stream);

} // namespace cudasim
