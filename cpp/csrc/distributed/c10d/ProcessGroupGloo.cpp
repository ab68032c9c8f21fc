// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp
#include <csrc/distributed/c10d/ProcessGroupGloo.h>
#include <csrc/distributed/c10d/ProcessGroupGlooDetail.h>

#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

namespace reftorch::c10d {

using at::Tensor;

// --- the start and the end -------------------------------------------------------------------------------------------

static constexpr const char* kFailedKey = "failed"; // under which a rank publishes why it failed

ProcessGroupGloo::ProcessGroupGloo(const std::shared_ptr<Store>& store, int rank, int size, Milliseconds timeout,
                                   const std::string& hostname)
    : ProcessGroup(rank, size, timeout), store_(store), process_(::getpid()) {
  TORCH_CHECK_VALUE(0 <= rank && rank < size, "ProcessGroupGloo: expected 0 <= rank < size, but got rank ", rank,
                    " of ", size);
  gloo::Connections connections = gloo::connect_full_mesh(*store, rank, size, hostname, deadline_after(timeout));
  context_ = std::make_unique<gloo::Context>(rank, size, std::move(connections.collectives));
  mailbox_ = std::make_unique<gloo::Mailbox>(rank, std::move(connections.messages),
                                             [this](gloo::Question question) { return answer(question); });
  thread_ = Thread("pg_gloo", [this] { run_jobs(); });
}

ProcessGroupGloo::~ProcessGroupGloo() {
  if (process_ == ::getpid()) {
    shutdown();
  } else {
    mailbox_.release();
  }
}

void ProcessGroupGloo::shutdown() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join(); // works in the queue end first, or time out
  context_->shutdown();
  mailbox_->abort("the process group was destroyed");
}

void ProcessGroupGloo::abort() {
  {
    std::lock_guard lock(mutex_);
    failed_ = failed_.empty() ? "the process group was aborted" : failed_;
  }
  context_->shutdown();
  mailbox_->abort("the process group was aborted");
}

// The name that record_comm() gives the events of this thread; empty for the names of the collectives.
static thread_local std::string comm_name;

std::string exchange_comm_name(std::string name) {
  return std::exchange(comm_name, std::move(name));
}

// Returns an event of the profiler, or null if this thread does not profile.
static std::shared_ptr<at::AsyncEvent> profiled(const std::string& op, c10::ArrayRef<Tensor> tensors) {
  if (!at::RecordFunction::is_enabled()) {
    return nullptr;
  }
  std::vector<at::DimVector> shapes;
  for (const Tensor& tensor : tensors) {
    shapes.emplace_back(tensor.sizes());
  }
  return std::make_shared<at::AsyncEvent>(comm_name.empty() ? "gloo:" + op : comm_name, std::move(shapes));
}
static void end_event(const std::shared_ptr<at::AsyncEvent>& event) {
  if (event != nullptr) {
    event->end();
  }
}

// --- the thread ------------------------------------------------------------------------------------------------------

WorkPtr ProcessGroupGloo::enqueue(Call call, const CollectiveOptions& opts, Tensors result,
                                  std::function<void(Deadline)> run, const Tensors& shown) {
  const c10::ArrayRef<Tensor> first(result.data(), std::min<size_t>(result.size(), 1));
  auto event = profiled(call.text.substr(0, call.text.find_first_of(" (")),
                        shown.empty() ? first : c10::ArrayRef<Tensor>(shown));
  auto work = std::make_shared<Work>(std::move(result));
  // The last reference to a tensor with a Python object takes the GIL, which the group's thread never does. So works
  // that nobody holds any more are let go here, on a thread of the caller.
  std::vector<WorkPtr> dropped;
  std::lock_guard lock(mutex_);
  C10D_CHECK_WITH(DistBackendError, !closing_, call.text, ": the process group was destroyed");
  dropped.swap(dropped_);
  call.text = c10::str("#", ++calls_, " ", call.text);
  call.key = c10::str(calls_, " ", call.key);
  call.place = opts.place;
  const Milliseconds timeout = opts.timeout == kUnsetTimeout ? getTimeout() : opts.timeout;
  jobs_.push_back({std::move(call), std::move(run), work, timeout, Clock::now(), std::move(event)});
  changed_.notify_all();
  return work;
}

void ProcessGroupGloo::run_jobs() {
  const c10::NoGradGuard no_grad;
  worker_tid_ = static_cast<int>(::syscall(SYS_gettid));
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
      if (jobs_.empty()) {
        return;
      }
      job = std::move(jobs_.front());
      jobs_.pop_front();
      last_call_ = job.call;
      runs_ = true;
    }
    run_job(job);
    job.run = nullptr;
    std::lock_guard lock(mutex_);
    if (job.work.use_count() == 1) {
      dropped_.push_back(std::move(job.work));
    }
  }
}

void ProcessGroupGloo::run_job(Job& job) {
  std::exception_ptr error;
  const Clock::time_point started = Clock::now();
  try {
    const Deadline deadline = deadline_after(job.timeout);
    {
      std::lock_guard lock(mutex_);
      C10D_CHECK_WITH(DistBackendError, failed_.empty(), "the process group has failed before: ", failed_);
    }
    check_same_call(job.call, deadline);
    job.run(deadline);
  } catch (const std::exception& reason) {
    error = std::make_exception_ptr(DistBackendError(explain(reason, job)));
  }
  {
    std::lock_guard lock(mutex_);
    runs_ = false;
    if (notes_times_) {
      times_.push_back({job.call.text, job.call.place, job.called, started, Clock::now(), error != nullptr});
    }
  }
  end_event(job.event);
  job.work->finish(error);
}

// The fingerprint that travels. Texts that are too long lose their beginnings: the end of a path says more.
struct Fingerprint {
  std::array<char, 64> key{};
  std::array<char, 96> text{}, place{};
};

template <size_t N>
static void put(std::array<char, N>& field, const std::string& text) {
  const size_t size = std::min(text.size(), N - 1);
  std::memcpy(field.data(), text.data() + text.size() - size, size);
}

static std::string shown(const std::string& text, const std::string& place) {
  return place.empty() ? text : text + " at " + place;
}

void ProcessGroupGloo::check_same_call(const Call& call, Deadline deadline) const {
  if (size_ == 1) {
    return;
  }
  Fingerprint ours, theirs;
  put(ours.key, call.key);
  put(ours.text, call.text);
  put(ours.place, call.place);
  context_->exchange(context_->next(), &ours, sizeof ours, context_->previous(), &theirs, sizeof theirs, deadline);
  theirs.text.back() = theirs.place.back() = '\0';
  C10D_CHECK_WITH(DistBackendError, ours.key == theirs.key, "the ranks make different calls: here ",
                  shown(call.text, call.place), "; rank ", context_->previous(), " ",
                  shown(theirs.text.data(), theirs.place.data()),
                  ". Hint: all ranks must call the same collectives in the same order, with tensors of the same size "
                  "and dtype");
}

// Returns the message of a work that failed. The first failure ends the connections: half a collective may be on its
// way, so they are of no use any more, and the peers shall learn of it.
std::string ProcessGroupGloo::explain(const std::exception& error, const Job& job) {
  std::string what = c10::str("[rank ", rank_, "] ", shown(job.call.text, job.call.place), ": ", error.what());
  {
    std::lock_guard lock(mutex_);
    if (!failed_.empty()) {
      return what;
    }
  }
  if (dynamic_cast<const TimedOut*>(&error) != nullptr) {
    const auto answers = describeRanks(std::min(job.timeout, Milliseconds(2000)));
    for (int peer = 0; peer < size_; peer++) {
      if (peer != rank_) {
        const auto answer = answers.find(peer);
        what += c10::str("; rank ", peer, " ", answer == answers.end() ? "does not answer" : answer->second);
      }
    }
    what = c10::str(what, " (after ", job.timeout.count(), " ms)");
  } else if (dynamic_cast<const ConnectionClosed*>(&error) != nullptr) {
    what += published();
  }
  publish(what);
  {
    std::lock_guard lock(mutex_);
    failed_ = what;
  }
  abort();
  return what;
}

// The store's own connection may be in use for a long time, so both functions take another one. If the store has gone
// with the rank that held it, the report is lost; the error itself stays.
void ProcessGroupGloo::publish(const std::string& failure) const {
  if (size_ == 1) {
    return;
  }
  try {
    const std::shared_ptr<Store> store = store_->clone();
    store->setTimeout(Milliseconds(1000));
    store->compareSet(kFailedKey, "", failure);
  } catch (const std::exception&) {
  }
}

std::string ProcessGroupGloo::published() const {
  try {
    const std::shared_ptr<Store> store = store_->clone();
    store->wait({kFailedKey}, Milliseconds(300)); // the rank that closed the connection published before
    return ". The first report: " + store->get(kFailedKey);
  } catch (const std::exception&) { // a rank that was killed publishes nothing
    return "";
  }
}

std::string ProcessGroupGloo::describe() {
  std::lock_guard lock(mutex_);
  if (last_call_.text.empty()) {
    return "has called no collective";
  }
  const std::string call = shown(last_call_.text, last_call_.place);
  return runs_ ? "waits in " + call : "has ended its last call, " + call;
}

std::map<int, std::string> ProcessGroupGloo::describeRanks(Milliseconds timeout) {
  std::map<int, std::string> answers = mailbox_->ask_all(gloo::Question::doing, deadline_after(timeout));
  answers[rank_] = describe();
  return answers;
}

std::string ProcessGroupGloo::answer(gloo::Question question) {
  return question == gloo::Question::doing ? describe() : read_stack(maker_, describe());
}

std::map<int, std::string> ProcessGroupGloo::stacksOfRanks(Milliseconds timeout) {
  std::map<int, std::string> answers = mailbox_->ask_all(gloo::Question::stack, deadline_after(timeout));
  answers[rank_] = answer(gloo::Question::stack);
  return answers;
}

void ProcessGroupGloo::noteTimes(bool on) {
  std::lock_guard lock(mutex_);
  notes_times_ = on;
}

std::vector<CallTimes> ProcessGroupGloo::takeTimes() {
  std::lock_guard lock(mutex_);
  return std::exchange(times_, {});
}

void ProcessGroupGloo::check_rank(int rank, const char* op, const char* which) const {
  TORCH_CHECK_VALUE(0 <= rank && rank < size_, op, ": invalid ", which, " rank ", rank, " in a group of ", size_,
                    " ranks");
}

// --- messages --------------------------------------------------------------------------------------------------------

// The peer always reads (Note [A reader that always reads]), so a send on the thread of the caller waits for the
// connection only.
WorkPtr ProcessGroupGloo::send(const Tensor& tensor, int to, int tag) {
  check_rank(to, "send", "destination");
  TORCH_CHECK_VALUE(to != rank_,
                    "send: invalid destination rank: destination rank should not be the same as the rank of "
                    "the current process.");
  TORCH_CHECK_VALUE(tag >= 0, "send: expected a tag of 0 or more, but got ", tag);
  const auto event = profiled("send", tensor);
  const Operand operand(tensor);
  auto work = std::make_shared<Work>(Tensors{tensor});
  std::exception_ptr error;
  try {
    mailbox_->send(to, tag, operand.buffer("send"), deadline_after(getTimeout()));
  } catch (const DistNetworkError& reason) {
    error = std::make_exception_ptr(
        DistBackendError(c10::str("[rank ", rank_, "] send to rank ", to, ": ", reason.what())));
  }
  end_event(event);
  work->finish(error);
  return work;
}

WorkPtr ProcessGroupGloo::recv(const Tensor& tensor, int from, int tag) {
  if (from != -1) {
    check_rank(from, "recv", "source");
    TORCH_CHECK_VALUE(from != rank_,
                      "recv: invalid source rank: source rank should not be the same as the rank of the "
                      "current process.");
  }
  TORCH_CHECK_VALUE(tag >= 0, "recv: expected a tag of 0 or more, but got ", tag);
  const auto event = profiled(from == -1 ? "recvAnySource" : "recv", tensor);
  const Operand operand(tensor);
  auto work = std::make_shared<Work>(Tensors{tensor});
  mailbox_->recv(from, tag, operand.buffer("recv"), work, deadline_after(getTimeout()), [operand, event] {
    const c10::NoGradGuard no_grad;
    operand.copy_back();
    end_event(event);
  });
  return work;
}

// Tags that no user has.
static int monitored_barrier_tag(int64_t number) {
  return INT_MIN + static_cast<int>(number % INT_MAX);
}

static std::string joined(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) {
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text;
}
static std::string passed(const std::vector<int>& ranks) {
  return ranks.empty() ? "No ranks successfully processed in monitoredBarrier."
                       : "Successfully processed ranks: " + joined(ranks);
}

// A byte from every rank to rank 0, and one back: 1 if all have come.
void ProcessGroupGloo::monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks) {
  const Milliseconds timeout = opts.timeout == kUnsetTimeout ? getTimeout() : opts.timeout;
  const Deadline deadline = deadline_after(timeout);
  const int tag = monitored_barrier_tag(monitored_barriers_++);
  char token = 1;
  const Buffer message{&token, 1, c10::kChar};
  const auto receive = [&](int from, Deadline until) {
    const auto memory = std::make_shared<char>(); // lives as long as the mailbox may write to it
    auto work = std::make_shared<Work>();
    mailbox_->recv(from, tag, {memory.get(), 1, c10::kChar}, work, until, [memory] {});
    work->wait(kUnsetTimeout);
    return *memory;
  };
  if (rank_ != 0) {
    bool passed = false;
    try {
      mailbox_->send(0, tag, message, deadline);
      passed = receive(0, deadline + Milliseconds(5000)) == 1; // rank 0 reports at the deadline
    } catch (const DistError&) {
    }
    C10D_CHECK_WITH(DistBackendError, passed, "Rank ", rank_,
                    " successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank "
                    "0. Please check rank 0 logs for faulty rank.");
    return;
  }
  std::vector<int> missing, here;
  std::string failure;
  for (int from = 1; from < size_; from++) {
    if (missing.empty() && Clock::now() >= deadline) { // nobody can say whether this rank would have come
      failure = c10::str("Rank 0 timed out in monitoredBarrier after ", timeout.count(), " ms. ", passed(here));
      break;
    }
    try {
      receive(from, missing.empty() || wait_all_ranks ? deadline : Clock::now());
      here.push_back(from);
    } catch (const DistError&) {
      missing.push_back(from);
    }
  }
  if (!missing.empty()) {
    const std::vector<int> named(missing.begin(), wait_all_ranks ? missing.end() : missing.begin() + 1);
    failure = c10::str(wait_all_ranks ? "Ranks " : "Rank ", joined(named), " failed to pass monitoredBarrier in ",
                       timeout.count(), " ms");
  }
  token = failure.empty() ? 1 : 0;
  for (const int to : here) {
    try {
      mailbox_->send(to, tag, message, deadline_after(Milliseconds(1000)));
    } catch (const DistNetworkError&) { // it has gone meanwhile, which its next call shows
    }
  }
  C10D_CHECK_WITH(DistBackendError, failure.empty(), "[Rank 0]: ", failure);
}

} // namespace reftorch::c10d
