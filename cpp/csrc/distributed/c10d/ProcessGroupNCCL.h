// Mirrors: torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp
//
// Collectives on CUDA tensors, by NCCL. Left out: splitting of communicators, high priority streams (the pool's streams
// have one priority), estimates of times, the flight recorder, sparse and complex tensors, registered memory pools.
//
// Note [Collectives on streams]
// Problem: a kernel that computes a gradient may not have run yet when the program calls a collective on the gradient,
// and the program shall not wait. Trick: the group has a stream for each communicator. A call records an event on the
// current stream, lets the group's stream wait for this event, enqueues the collective there, and records the event of
// the work behind it. Work::wait() lets the current stream wait for the work's event; the host goes on at once. Limits:
// an operation that fails does so when nobody waits on the host. A thread, `pg_nccl_watch`, looks at the works that run
// every 100 ms: it asks the communicator for errors and gives up works that are too late. It then aborts the
// communicators, and the next call of the group or of a work's wait() raises the error. PyTorch's watchdog ends the
// whole process by default. With TORCH_NCCL_BLOCKING_WAIT=1, or with a timeout, wait() waits on the host and raises
// the error itself.
#pragma once

#include <csrc/distributed/c10d/NCCLUtils.h>
#include <csrc/distributed/c10d/ProcessGroup.h>

#include <c10/core/Event.h>
#include <c10/cuda/CUDAStream.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace reftorch::c10d {

// What an operation on a stream is known by, for its work and for the thread that watches. It holds no tensors: the
// last reference to a tensor with a Python object needs the GIL, which that thread never takes.
struct NCCLOperation {
  std::string text, place;
  c10::Event end{c10::DeviceType::CUDA};
  std::shared_ptr<NCCLComm> comm;
  Milliseconds timeout{0};
  Clock::time_point called;
  bool is_barrier = false;
};

// The first error of a group, which its works share.
class NCCLFailure final {
 public:
  std::string text();
  // Keeps the first text. Returns whether this one is it.
  bool set(const std::string& text);
  void raise(); // throws DistBackendError if there is a text

 private:
  std::mutex mutex_;
  std::string text_;
};

class WorkNCCL final : public Work {
 public:
  WorkNCCL(std::shared_ptr<NCCLOperation> operation, std::shared_ptr<NCCLFailure> failure, bool blocking_wait,
           Tensors result);
  bool isCompleted() override;
  bool isSuccess() override;
  std::exception_ptr exception() override;
  void wait(Milliseconds timeout) override;
  bool blockCurrentStream() override;

 private:
  const std::shared_ptr<NCCLOperation> operation_;
  const std::shared_ptr<NCCLFailure> failure_;
  const bool blocking_wait_;
};

class ProcessGroupNCCL final : public ProcessGroup {
 public:
  struct Options {
    Milliseconds timeout{600'000};
    bool is_high_priority_stream = false; // has no effect
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    std::vector<int64_t> global_ranks_in_group; // these two are for messages, and unused here
    std::string group_name;
  };

  ProcessGroupNCCL(std::shared_ptr<Store> store, int rank, int size, Options options);
  ~ProcessGroupNCCL() override;

  std::string getBackendName() const override {
    return "nccl";
  }
  std::vector<c10::Device> deviceTypes() const override {
    return {c10::Device(c10::DeviceType::CUDA)};
  }
  WorkPtr allreduce(const at::Tensor& tensor, const AllreduceOptions& opts) override;
  WorkPtr broadcast(const at::Tensor& tensor, const BroadcastOptions& opts) override;
  WorkPtr reduce(const at::Tensor& tensor, const ReduceOptions& opts) override;
  WorkPtr allgather(const Tensors& outputs, const at::Tensor& input, const AllgatherOptions& opts) override;
  WorkPtr reduce_scatter(const at::Tensor& output, const Tensors& inputs, const ReduceScatterOptions& opts) override;
  WorkPtr gather(const Tensors& outputs, const at::Tensor& input, const GatherOptions& opts) override;
  WorkPtr scatter(const at::Tensor& output, const Tensors& inputs, const ScatterOptions& opts) override;
  WorkPtr alltoall(const Tensors& outputs, const Tensors& inputs, const AllToAllOptions& opts) override;
  WorkPtr barrier(const BarrierOptions& opts) override;
  // Messages have no tags in NCCL, so `tag` must be 0, and a receive names its sender.
  WorkPtr send(const at::Tensor& tensor, int to, int tag) override;
  WorkPtr recv(const at::Tensor& tensor, int from, int tag) override;
  void startCoalescing() override;
  WorkPtr endCoalescing() override;
  void abort() override;
  void shutdown() override;

  const Options& getOptions() const {
    return options_;
  }
  // The device of this rank, where a call names none: for barrier().
  void setBoundDevice(c10::DeviceIndex device) {
    bound_device_ = device;
  }
  static std::vector<int> version();

 private:
  // A communicator and the stream on which its operations run.
  struct Lane {
    std::shared_ptr<NCCLComm> comm;
    c10::cuda::CUDAStream stream;
  };
  struct Message {
    bool is_send;
    int peer;
    at::Tensor tensor;
  };
  using Run = std::function<void(ncclComm_t, cudaStream_t)>;

  WorkPtr enqueue(std::string text, const CollectiveOptions& opts, const Tensors& tensors, Tensors result,
                  const Run& run);
  WorkPtr enqueue_on(const Lane& lane, std::string text, const CollectiveOptions& opts, const Tensors& tensors,
                     Tensors result, const Run& run, bool is_barrier = false);
  WorkPtr message(const Message& message);
  Lane& lane_of_device(c10::DeviceIndex device);
  Lane& lane_of_pair(int peer, c10::DeviceIndex device);
  Lane make_lane(const std::string& key, int size, int rank, c10::DeviceIndex device);
  ncclUniqueId exchange_id(const std::string& key, int size, int rank);
  c10::DeviceIndex guess_device(int wanted) const;
  void check_rank(int rank, const char* op, const char* which) const;
  void watch();
  void fail(const NCCLOperation& operation, const std::string& why);

  const std::shared_ptr<Store> store_;
  const Options options_;
  const bool blocking_wait_;
  const int process_;
  const std::shared_ptr<NCCLFailure> failure_ = std::make_shared<NCCLFailure>();

  std::mutex mutex_; // held during a call, so that calls of several threads have one order
  std::map<c10::DeviceIndex, Lane> lanes_;
  std::map<std::pair<int, c10::DeviceIndex>, Lane> pairs_;
  int64_t calls_ = 0, lanes_made_ = 0;
  std::optional<std::vector<Message>> coalesced_; // between startCoalescing() and endCoalescing()
  c10::DeviceIndex bound_device_ = -1;

  std::mutex watched_mutex_; // never held while this thread waits for another rank
  std::condition_variable changed_;
  std::deque<std::shared_ptr<NCCLOperation>> watched_;
  std::vector<std::shared_ptr<NCCLComm>> comms_;
  bool closing_ = false;
  Thread thread_;
};

} // namespace reftorch::c10d
