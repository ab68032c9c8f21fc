// Mirrors: torch/csrc/distributed/c10d/Work.cpp
#include <csrc/distributed/c10d/Work.h>

#include <csrc/distributed/c10d/Types.h>
#include <csrc/distributed/c10d/exception.h>

#include <algorithm>
#include <atomic>

namespace reftorch::c10d {

void Work::wait(Milliseconds timeout) {
  const Deadline deadline = timeout == kUnsetTimeout ? kForever : deadline_after(timeout);
  std::unique_lock lock(mutex_);
  while (!completed_) {
    C10D_CHECK_WITH(DistBackendError, Clock::now() < deadline, "Work.wait: the operation has not ended after ",
                    timeout.count(), " ms");
    done_.wait_until(lock, std::min(deadline, deadline_after(kSlice)), [&] { return completed_; });
    if (!completed_) {
      lock.unlock();
      check_interrupt();
      lock.lock();
    }
  }
  if (exception_) {
    std::rethrow_exception(exception_);
  }
}

void Work::then(std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!completed_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

int Work::sourceRank() {
  std::lock_guard lock(mutex_);
  TORCH_CHECK(source_rank_ >= 0, "source_rank: only a receive that has ended knows who sent. Hint: wait() first");
  return source_rank_;
}

void Work::setSourceRank(int rank) {
  std::lock_guard lock(mutex_);
  source_rank_ = rank;
}

void Work::finish(std::exception_ptr exception) {
  std::vector<std::function<void()>> callbacks;
  {
    std::lock_guard lock(mutex_);
    completed_ = true;
    exception_ = std::move(exception);
    callbacks.swap(callbacks_);
    done_.notify_all();
  }
  for (const auto& callback : callbacks) {
    callback();
  }
}

static std::vector<at::Tensor> results_of(const std::vector<WorkPtr>& works) {
  std::vector<at::Tensor> results;
  for (const WorkPtr& work : works) {
    results.insert(results.end(), work->result().begin(), work->result().end());
  }
  return results;
}

CoalescedWork::CoalescedWork(std::vector<WorkPtr> works) : Work(results_of(works)), works_(std::move(works)) {}

bool CoalescedWork::isCompleted() {
  return std::all_of(works_.begin(), works_.end(), [](const WorkPtr& work) { return work->isCompleted(); });
}

bool CoalescedWork::isSuccess() {
  return std::all_of(works_.begin(), works_.end(), [](const WorkPtr& work) { return work->isSuccess(); });
}

std::exception_ptr CoalescedWork::exception() {
  for (const WorkPtr& work : works_) {
    if (auto exception = work->exception()) {
      return exception;
    }
  }
  return nullptr;
}

void CoalescedWork::wait(Milliseconds timeout) {
  for (const WorkPtr& work : works_) {
    work->wait(timeout);
  }
}

bool CoalescedWork::blockCurrentStream() {
  return std::all_of(works_.begin(), works_.end(), [](const WorkPtr& work) { return work->blockCurrentStream(); });
}

void CoalescedWork::then(std::function<void()> callback) {
  const auto left = std::make_shared<std::atomic<size_t>>(works_.size() + 1);
  const auto count_down = [left, callback = std::move(callback)] {
    if (--*left == 0) {
      callback();
    }
  };
  for (const WorkPtr& work : works_) {
    work->then(count_down);
  }
  count_down(); // no works at all are complete at once
}

} // namespace reftorch::c10d
