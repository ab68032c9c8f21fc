// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp (send, recv); gloo/transport/tcp/unbound_buffer.cc of the library Gloo
#include <csrc/distributed/c10d/gloo/mailbox.h>

#include <algorithm>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace reftorch::c10d::gloo {

enum class Kind : int32_t { data, doing_question, stack_question, answer };

struct Mailbox::Header {
  Kind kind;
  int32_t tag;
  uint64_t size;
};

static constexpr uint64_t kLongestAnswer = 1 << 20;

static std::exception_ptr error(const std::string& what) {
  return std::make_exception_ptr(DistBackendError(what));
}

Mailbox::Mailbox(int rank, std::vector<Socket> peers, std::function<std::string(Question)> answer)
    : rank_(rank),
      peers_(std::move(peers)),
      sending_(peers_.size()),
      answer_(std::move(answer)),
      gone_(peers_.size()),
      wake_up_(::eventfd(0, EFD_CLOEXEC)),
      thread_("pg_mailbox", [this] { read_messages(); }) {}

Mailbox::~Mailbox() {
  abort("the process group was destroyed");
  thread_.join();
}

void Mailbox::abort(const std::string& why) {
  closing_ = true;
  // The connections cannot be relied on to wake the thread: where the peers ended first, it waits for none any more.
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_up_.fd(), &one, sizeof one);
  for (const Socket& peer : peers_) {
    peer.shutdown();
  }
  fail_those(why, [](const Waiting&) { return true; });
}

void Mailbox::fail_those(const std::string& why, const std::function<bool(const Waiting&)>& which) {
  std::vector<WorkPtr> failed; // ended without the lock, because a callback may use this mailbox
  {
    std::lock_guard lock(mutex_);
    for (auto each = waiting_.begin(); each != waiting_.end();) {
      if (which(*each)) {
        failed.push_back(std::move(each->work));
        each = waiting_.erase(each);
      } else {
        ++each;
      }
    }
  }
  for (const WorkPtr& work : failed) {
    work->finish(error("recv: " + why));
  }
}

// --- sending ---------------------------------------------------------------------------------------------------------

void Mailbox::put(int to, const Header& header, const void* data, Deadline deadline) {
  std::lock_guard lock(sending_[to]);
  peers_[to].send(&header, sizeof header, deadline);
  peers_[to].send(data, header.size, deadline);
}

void Mailbox::send(int to, int tag, const Buffer& data, Deadline deadline) {
  put(to, {Kind::data, tag, data.bytes()}, data.data, deadline);
}

std::map<int, std::string> Mailbox::ask_all(Question question, Deadline deadline) {
  const std::lock_guard only_asker(asking_);
  const Kind kind = question == Question::doing ? Kind::doing_question : Kind::stack_question;
  int32_t number = 0;
  {
    std::lock_guard lock(mutex_);
    answers_.clear();
    number = ++number_;
  }
  size_t asked = 0;
  for (size_t to = 0; to < peers_.size(); to++) {
    if (static_cast<int>(to) == rank_) {
      continue;
    }
    try {
      put(static_cast<int>(to), {kind, number, 0}, nullptr, deadline);
      asked++;
    } catch (const DistNetworkError&) { // has gone, so it does not answer
    }
  }
  std::unique_lock lock(mutex_);
  answered_.wait_until(lock, deadline, [&] { return answers_.size() == asked; });
  return answers_;
}

// --- receiving -------------------------------------------------------------------------------------------------------

void Mailbox::deliver(const std::string& data, int from, const Waiting& waiting) {
  if (data.size() != waiting.data.bytes()) {
    waiting.work->finish(error(c10::str("recv: expected a message of ", waiting.data.bytes(), " bytes, but rank ", from,
                                        " sent one of ", data.size(), " bytes with the tag ", waiting.tag)));
    return;
  }
  std::memcpy(waiting.data.data, data.data(), data.size());
  waiting.work->setSourceRank(from);
  if (waiting.delivered) {
    waiting.delivered();
  }
  waiting.work->finish();
}

void Mailbox::recv(int from, int tag, const Buffer& data, WorkPtr work, Deadline deadline,
                   std::function<void()> delivered) {
  Waiting waiting{from, tag, data, std::move(work), deadline, std::move(delivered)};
  Message message;
  std::string failure;
  {
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(unasked_.begin(), unasked_.end(),
                                    [&](const Message& each) { return waiting.matches(each.from, each.tag); });
    if (found != unasked_.end()) {
      message = std::move(*found);
      unasked_.erase(found);
    } else if (closing_) {
      failure = "the process group was destroyed";
    } else if (from >= 0 && !gone_[from].empty()) {
      failure = gone_[from];
    } else {
      waiting_.push_back(std::move(waiting));
      return;
    }
  }
  if (failure.empty()) {
    deliver(message.data, message.from, waiting);
  } else {
    waiting.work->finish(error(c10::str("recv from rank ", from, ": ", failure)));
  }
}

void Mailbox::read_data(int from, int64_t tag, size_t size) {
  Waiting match;
  const auto take_match = [&](bool only_of_this_size) {
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
      return each.matches(from, tag) && (!only_of_this_size || each.data.bytes() == size);
    });
    if (found != waiting_.end()) {
      match = std::move(*found);
      waiting_.erase(found);
    }
    return match.work != nullptr;
  };
  if (take_match(true)) { // straight into the tensor
    try {
      peers_[from].recv(match.data.data, size, kForever);
    } catch (const DistNetworkError& reason) {
      match.work->finish(error(c10::str("recv from rank ", from, ": ", reason.what())));
      throw;
    }
    match.work->setSourceRank(from);
    if (match.delivered) {
      match.delivered();
    }
    match.work->finish();
    return;
  }
  Message message{from, static_cast<int>(tag), std::string(size, '\0')};
  peers_[from].recv(message.data.data(), size, kForever);
  {
    std::lock_guard lock(mutex_);
    const bool is_wanted =
        std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& each) { return each.matches(from, tag); });
    if (!is_wanted) {
      unasked_.push_back(std::move(message));
      return;
    }
  }
  if (take_match(false)) {
    deliver(message.data, from, match);
  }
}

void Mailbox::read_one(int from) {
  Header header{};
  peers_[from].recv(&header, sizeof header, kForever);
  if (header.kind == Kind::data) {
    read_data(from, header.tag, header.size);
  } else if (header.kind == Kind::doing_question) {
    answer(from, header.tag, Question::doing);
  } else if (header.kind == Kind::stack_question) {
    std::unique_lock lock(mutex_);
    stack_questions_.emplace_back(from, header.tag);
    if (!reads_stack_) {
      reads_stack_ = true;
      lock.unlock();
      stack_thread_.join();
      stack_thread_ = Thread("pg_stack", [this] { answer_stack_questions(); });
    }
  } else {
    C10D_CHECK_WITH(DistNetworkError, header.size <= kLongestAnswer, "a message that cannot be understood");
    std::string answer(header.size, '\0');
    peers_[from].recv(answer.data(), answer.size(), kForever);
    std::lock_guard lock(mutex_);
    if (header.tag == number_) {
      answers_[from] = std::move(answer);
      answered_.notify_all();
    }
  }
}

void Mailbox::answer_stack_questions() {
  for (;;) {
    std::pair<int, int32_t> question;
    {
      std::lock_guard lock(mutex_);
      if (stack_questions_.empty()) {
        reads_stack_ = false;
        return;
      }
      question = stack_questions_.front();
      stack_questions_.pop_front();
    }
    try {
      answer(question.first, question.second, Question::stack);
    } catch (const DistNetworkError&) { // the asker has gone
    }
  }
}

void Mailbox::answer(int from, int32_t number, Question question) {
  const std::string text = answer_(question).substr(0, kLongestAnswer);
  put(from, {Kind::answer, number, text.size()}, text.data(), deadline_after(Milliseconds(1000)));
}

void Mailbox::read_messages() {
  std::vector<pollfd> ready;
  for (const Socket& peer : peers_) {
    ready.push_back({peer.fd(), POLLIN, 0}); // poll() skips the -1 of our own place
  }
  ready.push_back({wake_up_.fd(), POLLIN, 0});
  while (!closing_) {
    if (::poll(ready.data(), ready.size(), static_cast<int>(kSlice.count())) < 0) {
      continue;
    }
    for (size_t from = 0; from < peers_.size(); from++) {
      if (ready[from].fd < 0 || ready[from].revents == 0) {
        continue;
      }
      try {
        read_one(static_cast<int>(from));
      } catch (const DistNetworkError& reason) {
        ready[from].fd = -1;
        const std::string why = c10::str(reason.what(), ": rank ", from, " has ended, or has failed before");
        {
          std::lock_guard lock(mutex_);
          gone_[from] = why;
        }
        fail_those(why, [&](const Waiting& each) { return each.from == static_cast<int>(from); });
      }
    }
    const Deadline now = Clock::now();
    fail_those("Timed out: no message came", [&](const Waiting& each) { return each.deadline <= now; });
  }
}

} // namespace reftorch::c10d::gloo
