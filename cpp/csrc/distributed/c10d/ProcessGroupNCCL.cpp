// Mirrors: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp
//
// The start and the end, works, and the thread that watches; ProcessGroupNCCLCollectives.cpp has the operations.
#include <csrc/distributed/c10d/ProcessGroupNCCL.h>

#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <unistd.h>

namespace reftorch::c10d {

static constexpr Milliseconds kWatchInterval{100};  // the longest one; it begins with 1 ms
static constexpr const char* kFailedKey = "failed"; // under which a rank publishes why it failed

// --- failures and works ----------------------------------------------------------------------------------------------

std::string NCCLFailure::text() {
  std::lock_guard lock(mutex_);
  return text_;
}

bool NCCLFailure::set(const std::string& text) {
  std::lock_guard lock(mutex_);
  if (!text_.empty()) {
    return false;
  }
  text_ = text;
  return true;
}

void NCCLFailure::raise() {
  const std::string what = text();
  C10D_CHECK_WITH(DistBackendError, what.empty(), what);
}

WorkNCCL::WorkNCCL(std::shared_ptr<NCCLOperation> operation, std::shared_ptr<NCCLFailure> failure, bool blocking_wait,
                   Tensors result)
    : Work(std::move(result)),
      operation_(std::move(operation)),
      failure_(std::move(failure)),
      blocking_wait_(blocking_wait) {}

bool WorkNCCL::isCompleted() {
  return !failure_->text().empty() || operation_->end.query();
}

bool WorkNCCL::isSuccess() {
  return operation_->end.query() && exception() == nullptr;
}

std::exception_ptr WorkNCCL::exception() {
  const std::string what = failure_->text();
  return what.empty() ? nullptr : std::make_exception_ptr(DistBackendError(what));
}

bool WorkNCCL::blockCurrentStream() {
  failure_->raise();
  operation_->end.block(c10::cuda::getCurrentCUDAStream(operation_->end.device_index()));
  return true;
}

void WorkNCCL::wait(Milliseconds timeout) {
  blockCurrentStream();
  if (!blocking_wait_ && timeout == kUnsetTimeout && !operation_->is_barrier) {
    return;
  }
  const Deadline deadline = timeout == kUnsetTimeout ? kForever : deadline_after(timeout);
  Clock::time_point asked = Clock::now();
  std::chrono::microseconds pause{10};
  for (; !operation_->end.query(); pause = std::min(2 * pause, std::chrono::microseconds(1000))) {
    failure_->raise();
    C10D_CHECK_WITH(DistBackendError, Clock::now() < deadline,
                    "Work.wait: caught collective operation timeout: ", operation_->text, " has not ended after ",
                    timeout.count(), " ms");
    std::this_thread::sleep_for(pause);
    if (Clock::now() > asked + kSlice) {
      check_interrupt();
      asked = Clock::now();
    }
  }
  // An operation that failed has ended, too, and the watching thread may not have seen it.
  const std::string error = operation_->comm->asyncError();
  if (!error.empty()) {
    for (int i = 0; i < 20 && failure_->text().empty(); i++) {
      std::this_thread::sleep_for(kWatchInterval);
    }
  }
  failure_->raise();
  C10D_CHECK_WITH(DistBackendError, error.empty(), operation_->text, ": ", error);
}

// --- the start and the end -------------------------------------------------------------------------------------------

static bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

ProcessGroupNCCL::ProcessGroupNCCL(std::shared_ptr<Store> store, int rank, int size, Options options)
    : ProcessGroup(rank, size, options.timeout),
      store_(std::move(store)),
      options_(std::move(options)),
      blocking_wait_(is_set("TORCH_NCCL_BLOCKING_WAIT") || is_set("NCCL_BLOCKING_WAIT")),
      process_(::getpid()) {
  TORCH_CHECK_VALUE(0 <= rank && rank < size, "ProcessGroupNCCL: expected 0 <= rank < size, but got rank ", rank,
                    " of ", size);
  TORCH_CHECK_VALUE(c10::cuda::device_count() > 0,
                    "ProcessGroupNCCL is only supported with GPUs, no GPUs found! Hint: REFTORCH_CUDA_SIM=2 in the "
                    "environment gives a Debug build two simulated devices");
  thread_ = Thread("pg_nccl_watch", [this] { watch(); });
}

ProcessGroupNCCL::~ProcessGroupNCCL() {
  if (process_ == ::getpid()) {
    shutdown();
  }
}

std::vector<int> ProcessGroupNCCL::version() {
  int number = 0;
  check_nccl(ncclGetVersion(&number), nullptr, "ncclGetVersion");
  return {number / 10000, number % 10000 / 100, number % 100};
}

// Waits for the works, whose errors or timeouts the watching thread sees.
void ProcessGroupNCCL::shutdown() {
  {
    std::unique_lock lock(watched_mutex_);
    changed_.wait(lock, [&] { return closing_ || watched_.empty() || !failure_->text().empty(); });
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
  std::lock_guard lock(mutex_);
  lanes_.clear();
  pairs_.clear();
  std::lock_guard watched_lock(watched_mutex_);
  watched_.clear();
  comms_.clear();
}

void ProcessGroupNCCL::abort() {
  failure_->set("the process group was aborted");
  std::vector<std::shared_ptr<NCCLComm>> comms;
  {
    std::lock_guard lock(watched_mutex_);
    closing_ = true;
    changed_.notify_all();
    comms = comms_;
  }
  for (const auto& comm : comms) {
    comm->abort();
  }
}

// --- the thread that watches -----------------------------------------------------------------------------------------

void ProcessGroupNCCL::watch() {
  std::unique_lock lock(watched_mutex_);
  Milliseconds pause{1};
  for (;;) {
    pause = watched_.empty() ? Milliseconds(1) : std::min(2 * pause, kWatchInterval);
    changed_.wait(lock, [&] { return closing_ || !watched_.empty(); });
    if (closing_) {
      return;
    }
    // The events first, then the errors: an operation that failed has noted its error before its event comes.
    const std::deque<std::shared_ptr<NCCLOperation>> running = watched_;
    std::vector<std::shared_ptr<NCCLOperation>> ended;
    std::shared_ptr<NCCLOperation> bad;
    std::string why;
    lock.unlock();
    try {
      for (const auto& operation : running) {
        if (operation->end.query()) {
          ended.push_back(operation);
        } else if (bad == nullptr && Clock::now() > operation->called + operation->timeout) {
          bad = operation;
          why = c10::str("Watchdog caught collective operation timeout: it ran for ", operation->timeout.count(),
                         " milliseconds before timing out. Hint: a rank does not take part, or comes later");
        }
      }
      for (const auto& operation : running) {
        const std::string error = operation->comm->asyncError();
        if (!error.empty()) { // of the first operation that runs, or of the last one if all have ended
          bad = operation;
          why = error;
          if (std::find(ended.begin(), ended.end(), operation) == ended.end()) {
            break;
          }
        }
      }
    } catch (const std::exception& error) { // of the device
      bad = running.front();
      why = error.what();
    }
    if (bad != nullptr) {
      fail(*bad, why);
    }
    lock.lock();
    watched_.erase(std::remove_if(watched_.begin(), watched_.end(),
                                  [&](const auto& operation) {
                                    return bad != nullptr ||
                                           std::find(ended.begin(), ended.end(), operation) != ended.end();
                                  }),
                   watched_.end());
    changed_.notify_all();
    if (!watched_.empty() && !closing_) {
      changed_.wait_for(lock, pause, [&] { return closing_; });
    }
  }
}

// Reports an operation that failed to whoever waits or calls, and to the other ranks through the store.
void ProcessGroupNCCL::fail(const NCCLOperation& operation, const std::string& why) {
  std::string what = c10::str("[rank ", rank_, "] ", operation.text,
                              operation.place.empty() ? "" : " at " + operation.place, ": ", why);
  try {
    const std::shared_ptr<Store> store = store_->clone();
    store->setTimeout(Milliseconds(1000));
    const std::string first = store->compareSet(kFailedKey, "", what);
    if (first != what) {
      what += ". The first report: " + first;
    }
  } catch (const std::exception&) { // the store has gone with the rank that held it
  }
  if (failure_->set(what)) {
    std::vector<std::shared_ptr<NCCLComm>> comms;
    {
      std::lock_guard lock(watched_mutex_);
      comms = comms_;
    }
    for (const auto& comm : comms) {
      comm->abort();
    }
  }
}

// --- communicators ---------------------------------------------------------------------------------------------------

// Gives all ranks the id of rank 0, and waits until all have come: NCCL itself would wait for ever.
ncclUniqueId ProcessGroupNCCL::exchange_id(const std::string& key, int size, int rank) {
  const Deadline deadline = deadline_after(getTimeout());
  ncclUniqueId id{};
  if (rank == 0) {
    check_nccl(ncclGetUniqueId(&id), nullptr, "ncclGetUniqueId");
    store_->set(key, std::string(id.internal, sizeof id.internal));
  }
  store_->set(c10::str(key, "/", rank), "here");
  std::vector<std::string> keys{key};
  for (int peer = 0; peer < size; peer++) {
    keys.push_back(c10::str(key, "/", peer));
  }
  try {
    store_->wait(keys, Milliseconds(milliseconds_left(deadline)));
  } catch (const DistError& error) {
    std::string missing;
    for (int peer = 0; peer < size; peer++) {
      if (!store_->check({keys[peer + 1]})) {
        missing += (missing.empty() ? "" : ", ") + std::to_string(peer);
      }
    }
    C10D_CHECK_WITH(DistBackendError, false, "[rank ", rank_, "] waited for ", getTimeout().count(),
                    " ms for the first operation on a device of the ranks ", missing, ": ", error.what());
  }
  const std::string bytes = store_->get(key);
  C10D_CHECK_WITH(DistBackendError, bytes.size() == sizeof id.internal, "the store has no id of NCCL for ", key);
  std::memcpy(id.internal, bytes.data(), bytes.size());
  return id;
}

ProcessGroupNCCL::Lane ProcessGroupNCCL::make_lane(const std::string& key, int size, int rank,
                                                   c10::DeviceIndex device) {
  const c10::cuda::CUDAGuard guard(device);
  const ncclUniqueId id = exchange_id(key, size, rank);
  auto comm = std::make_shared<NCCLComm>(size, rank, id, options_.config);
  const std::string error = comm->asyncError();
  C10D_CHECK_WITH(DistBackendError, error.empty(), "[rank ", rank_, "] ", error);
  std::lock_guard lock(watched_mutex_);
  comms_.push_back(comm);
  return {std::move(comm), c10::cuda::getStreamFromPool(device)};
}

ProcessGroupNCCL::Lane& ProcessGroupNCCL::lane_of_device(c10::DeviceIndex device) {
  const auto found = lanes_.find(device);
  if (found != lanes_.end()) {
    return found->second;
  }
  const Lane lane = make_lane(c10::str("comm/", lanes_made_++), size_, rank_, device);
  return lanes_.emplace(device, lane).first->second;
}

// Messages of two ranks have a communicator of their own, so that no other rank has to take part.
ProcessGroupNCCL::Lane& ProcessGroupNCCL::lane_of_pair(int peer, c10::DeviceIndex device) {
  const auto found = pairs_.find({peer, device});
  if (found != pairs_.end()) {
    return found->second;
  }
  const std::string key = c10::str("pair/", std::min(rank_, peer), ":", std::max(rank_, peer));
  const Lane lane = make_lane(key, 2, rank_ < peer ? 0 : 1, device);
  return pairs_.emplace(std::pair(peer, device), lane).first->second;
}

} // namespace reftorch::c10d
