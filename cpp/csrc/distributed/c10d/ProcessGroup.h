// Mirrors: torch/csrc/distributed/c10d/ProcessGroup.hpp, torch/csrc/distributed/c10d/Backend.hpp
//
// A group of processes and what they can do together. A backend derives from it; a function that the backend does not
// have raises NotImplementedError. Left out: splitting. A group with a backend for each type of device is made in
// Python (reftorch/distributed/distributed_c10d/devices.py).
#pragma once

#include <csrc/distributed/c10d/Store.h>
#include <csrc/distributed/c10d/Types.h>
#include <csrc/distributed/c10d/Work.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

namespace reftorch::c10d {

using Tensors = std::vector<at::Tensor>;

// A collective that has ended: what it was, the line of the program, when the program called it, and when the group's
// thread ran it.
struct CallTimes {
  std::string text, place;
  Clock::time_point called, started, ended;
  bool failed = false;
};

// All ranks of a group must call its collectives in the same order. Each call checks its arguments, starts the work and
// returns; the tensors must not be used before the work has ended. Ranks are those of the group.
class ProcessGroup {
 public:
  ProcessGroup(int rank, int size, Milliseconds timeout);
  virtual ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int getRank() const {
    return rank_;
  }
  int getSize() const {
    return size_;
  }
  virtual std::string getBackendName() const = 0;
  // The types of device whose tensors the group takes.
  virtual std::vector<c10::Device> deviceTypes() const {
    return {c10::Device(c10::DeviceType::CPU)};
  }

  virtual WorkPtr allreduce(const at::Tensor& tensor, const AllreduceOptions& opts);
  virtual WorkPtr broadcast(const at::Tensor& tensor, const BroadcastOptions& opts);
  virtual WorkPtr reduce(const at::Tensor& tensor, const ReduceOptions& opts);
  virtual WorkPtr allgather(const Tensors& outputs, const at::Tensor& input, const AllgatherOptions& opts);
  virtual WorkPtr reduce_scatter(const at::Tensor& output, const Tensors& inputs, const ReduceScatterOptions& opts);
  // One call for several tensors, which need not have one size or dtype. outputs[r][i] receives inputs[i] of rank r.
  virtual WorkPtr allreduce_coalesced(const Tensors& tensors, const AllreduceOptions& opts);
  virtual WorkPtr allgather_coalesced(const std::vector<Tensors>& outputs, const Tensors& inputs,
                                      const AllgatherOptions& opts);
  virtual WorkPtr gather(const Tensors& outputs, const at::Tensor& input, const GatherOptions& opts);
  virtual WorkPtr scatter(const at::Tensor& output, const Tensors& inputs, const ScatterOptions& opts);
  virtual WorkPtr alltoall(const Tensors& outputs, const Tensors& inputs, const AllToAllOptions& opts);
  virtual WorkPtr barrier(const BarrierOptions& opts);
  virtual WorkPtr send(const at::Tensor& tensor, int to, int tag);
  virtual WorkPtr recv(const at::Tensor& tensor, int from, int tag); // from == -1: any rank
  // The messages that are started between the two calls are one operation, in which their order does not matter.
  virtual void startCoalescing();
  virtual WorkPtr endCoalescing();
  // Waits for all ranks, and names those that do not come.
  virtual void monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks);

  // The collectives on one tensor that holds a part for each rank.
  WorkPtr allgather_base(const at::Tensor& output, const at::Tensor& input, const AllgatherOptions& opts);
  WorkPtr reduce_scatter_base(const at::Tensor& output, const at::Tensor& input, const ReduceScatterOptions& opts);
  // Without sizes, the parts are equal.
  WorkPtr alltoall_base(const at::Tensor& output, const at::Tensor& input, const std::vector<int64_t>& output_sizes,
                        const std::vector<int64_t>& input_sizes, const AllToAllOptions& opts);

  // Ends everything at once: peers see closed connections, works that wait fail.
  virtual void abort() {}
  // Waits for the works that were started, then ends the connections.
  virtual void shutdown() {}
  // Asks all ranks what they are doing: their last call and its line. Those that do not answer in time are missing.
  virtual std::map<int, std::string> describeRanks(Milliseconds timeout) {
    return {};
  }
  // Asks all ranks where the thread that made the group is in the program: see read_stack() in Utils.h.
  virtual std::map<int, std::string> stacksOfRanks(Milliseconds timeout);
  // From now on, notes the times of all collectives, or notes them no more.
  virtual void noteTimes(bool on);
  // Returns what was noted since the last call of this function.
  virtual std::vector<CallTimes> takeTimes() {
    return {};
  }
  // For debuggers: which rank of which group a thread of this process is, by the system's number of the thread, as text
  // in a static buffer; empty if that is not known. The thread of a group belongs to this group, another thread to the
  // first group that the thread has made. If no thread but one has made groups, the process is one rank, and all
  // threads belong to this rank.
  static const char* rankOfThread(int tid);
  void setTimeout(Milliseconds timeout) {
    timeout_ = timeout;
  }
  Milliseconds getTimeout() const {
    return timeout_.load();
  }

  // Set by those who make groups.
  std::string group_name, group_desc;

 protected:
  // Returns tensor i of each list.
  static Tensors column(const std::vector<Tensors>& lists, size_t i);

  const int rank_, size_;
  std::atomic<Milliseconds> timeout_;
  // For debuggers: the thread that made the group, as Python and as the system know it, and the group's own thread.
  const unsigned long maker_;
  const int maker_tid_;
  int worker_tid_ = 0;
};

} // namespace reftorch::c10d
