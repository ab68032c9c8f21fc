// Mirrors: torch/csrc/distributed/c10d/Work.hpp
//
// What an operation of a process group returns at once: a handle by which to wait for its end. Left out: profiling,
// durations.
#pragma once

#include <csrc/distributed/c10d/Utils.h>

#include <ATen/core/Tensor.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace reftorch::c10d {

class Work {
 public:
  explicit Work(std::vector<at::Tensor> result = {}) : result_(std::move(result)) {}
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  virtual bool isCompleted() {
    std::lock_guard lock(mutex_);
    return completed_;
  }
  virtual bool isSuccess() {
    std::lock_guard lock(mutex_);
    return completed_ && !exception_;
  }
  virtual std::exception_ptr exception() {
    std::lock_guard lock(mutex_);
    return exception_;
  }
  // Waits, and throws what the operation threw. kUnsetTimeout waits until the operation gives up: it has a timeout of
  // its own.
  virtual void wait(Milliseconds timeout);
  // Calls `callback` on the thread that completes the work, or at once if the work is complete.
  virtual void then(std::function<void()> callback);
  // Makes the current stream of the device wait for the operation, and returns whether work that is enqueued from now
  // on may use the results. On the CPU, where there are no streams, this is so when the operation has ended.
  virtual bool blockCurrentStream() {
    return isCompleted();
  }
  const std::vector<at::Tensor>& result() const {
    return result_;
  }
  // The rank in the group that sent what a receive from any rank has received.
  int sourceRank();

  // For those who do the work: each is called once, and setSourceRank before finish.
  void setSourceRank(int rank);
  void finish(std::exception_ptr exception = nullptr);

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool completed_ = false;
  int source_rank_ = -1;
  std::exception_ptr exception_;
  std::vector<std::function<void()>> callbacks_;
  const std::vector<at::Tensor> result_;
};

using WorkPtr = std::shared_ptr<Work>;

// The works of several operations as one, which has ended when all have.
class CoalescedWork final : public Work {
 public:
  explicit CoalescedWork(std::vector<WorkPtr> works);
  bool isCompleted() override;
  bool isSuccess() override;
  std::exception_ptr exception() override;
  void wait(Milliseconds timeout) override;
  void then(std::function<void()> callback) override;
  bool blockCurrentStream() override;

 private:
  const std::vector<WorkPtr> works_;
};

} // namespace reftorch::c10d
