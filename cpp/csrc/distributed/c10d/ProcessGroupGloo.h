// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.hpp
//
// Collectives on tensors over TCP. PyTorch calls the library Gloo, which has no package of its own; here its
// algorithms are written out (gloo/). A tensor of a CUDA device travels by way of the CPU. Left out: sparse tensors,
// InfiniBand, lazy connections.
//
// Note [One thread, one order]
// Problem: what travels between two ranks is bytes without names. If two collectives ran at the same time on one
// connection, their bytes would mix. Trick: a group has one thread, which runs the collectives in the order in which
// they were called. All ranks must call them in the same order. Limits: the rule is one that programs break, hence the
// next Note. Messages of send() and recv() have connections of their own and their own thread (gloo/mailbox.h).
//
// Note [Fingerprints of calls]
// Problem: if ranks call different collectives, or one with tensors of different sizes or dtypes, each waits for bytes
// that do not come, or takes one number for another. Trick: before a collective, each rank sends the next one a
// fingerprint of its call: the number of the call, the op, dtype, number of elements and root, and the line of the
// program. A rank that gets another fingerprint than its own reports both lines, writes its report into the store and
// ends its connections; a rank whose connections end looks for the report there. Limits: a rank that makes no call at
// all shows only at the timeout; the others are then asked what they did last. The check costs one step of the ring.
#pragma once

#include <csrc/distributed/c10d/ProcessGroup.h>
#include <csrc/distributed/c10d/gloo/context.h>
#include <csrc/distributed/c10d/gloo/mailbox.h>

#include <ATen/record_function.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace reftorch::c10d {

// Gives the events of this thread's collectives and messages a name in profiles, and returns the former one. An empty
// name stands for "gloo:" and the name of the collective.
std::string exchange_comm_name(std::string name);

class ProcessGroupGloo final : public ProcessGroup {
 public:
  // Connects to all other ranks, which it finds through `store`. `hostname` is how they reach this one.
  ProcessGroupGloo(const std::shared_ptr<Store>& store, int rank, int size, Milliseconds timeout,
                   const std::string& hostname);
  ~ProcessGroupGloo() override;

  std::string getBackendName() const override {
    return "gloo";
  }
  WorkPtr allreduce(const at::Tensor& tensor, const AllreduceOptions& opts) override;
  WorkPtr broadcast(const at::Tensor& tensor, const BroadcastOptions& opts) override;
  WorkPtr reduce(const at::Tensor& tensor, const ReduceOptions& opts) override;
  WorkPtr allgather(const Tensors& outputs, const at::Tensor& input, const AllgatherOptions& opts) override;
  WorkPtr reduce_scatter(const at::Tensor& output, const Tensors& inputs, const ReduceScatterOptions& opts) override;
  WorkPtr allreduce_coalesced(const Tensors& tensors, const AllreduceOptions& opts) override;
  WorkPtr allgather_coalesced(const std::vector<Tensors>& outputs, const Tensors& inputs,
                              const AllgatherOptions& opts) override;
  WorkPtr gather(const Tensors& outputs, const at::Tensor& input, const GatherOptions& opts) override;
  WorkPtr scatter(const at::Tensor& output, const Tensors& inputs, const ScatterOptions& opts) override;
  WorkPtr alltoall(const Tensors& outputs, const Tensors& inputs, const AllToAllOptions& opts) override;
  WorkPtr barrier(const BarrierOptions& opts) override;
  WorkPtr send(const at::Tensor& tensor, int to, int tag) override;
  WorkPtr recv(const at::Tensor& tensor, int from, int tag) override;
  void monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks) override;
  std::vector<c10::Device> deviceTypes() const override {
    return {c10::Device(c10::DeviceType::CPU), c10::Device(c10::DeviceType::CUDA)};
  }
  void abort() override;
  void shutdown() override;
  std::map<int, std::string> describeRanks(Milliseconds timeout) override;
  std::map<int, std::string> stacksOfRanks(Milliseconds timeout) override;
  void noteTimes(bool on) override;
  std::vector<CallTimes> takeTimes() override;

 private:
  // What a call is: `key` is compared with the other ranks, `text` and `place` are shown.
  struct Call {
    std::string key, text, place;
  };
  struct Job {
    Call call;
    std::function<void(Deadline)> run;
    WorkPtr work;
    Milliseconds timeout{0};
    Clock::time_point called;
    std::shared_ptr<at::AsyncEvent> event; // of the profiler; null if the caller does not profile
  };
  // Hands `run` to the thread of the group. The profiler shows the sizes of `shown`, by default of the first result.
  WorkPtr enqueue(Call call, const CollectiveOptions& opts, Tensors result, std::function<void(Deadline)> run,
                  const Tensors& shown = {});
  void run_jobs();
  void run_job(Job& job);
  void check_same_call(const Call& call, Deadline deadline) const;
  std::string explain(const std::exception& error, const Job& job);
  void publish(const std::string& failure) const;
  std::string published() const;
  std::string describe();
  std::string answer(gloo::Question question);
  void check_rank(int rank, const char* op, const char* which) const;

  const std::shared_ptr<Store> store_;
  const int process_; // that made the group: a forked child has neither its threads nor its connections
  std::unique_ptr<const gloo::Context> context_;
  int64_t monitored_barriers_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::vector<WorkPtr> dropped_; // works that ended and that nobody else holds: see enqueue()
  int64_t calls_ = 0;            // the number of the last call
  Call last_call_;               // that was started, and whether it runs
  bool runs_ = false;
  std::string failed_; // the first error; later works fail at once
  bool notes_times_ = false;
  std::vector<CallTimes> times_;
  bool closing_ = false;
  Thread thread_;
  std::unique_ptr<gloo::Mailbox> mailbox_; // ends first: its thread calls describe()
};

} // namespace reftorch::c10d
