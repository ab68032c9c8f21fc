// Mirrors: torch/csrc/distributed/c10d/TCPStoreBackend.cpp
#include <csrc/distributed/c10d/TCPStoreBackend.h>

#include <csrc/distributed/c10d/Store.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace reftorch::c10d {

using namespace tcp_store;

// --- messages --------------------------------------------------------------------------------------------------------

void put_word(std::string& message, std::string_view word) {
  put_number(message, static_cast<uint32_t>(word.size()));
  message.append(word);
}

bool take_words(std::string_view frame, std::vector<std::string>& words) {
  while (!frame.empty()) {
    uint32_t size = 0;
    if (frame.size() < sizeof size) {
      return false;
    }
    std::memcpy(&size, frame.data(), sizeof size);
    frame.remove_prefix(sizeof size);
    if (frame.size() < size) {
      return false;
    }
    words.emplace_back(frame.substr(0, size));
    frame.remove_prefix(size);
  }
  return true;
}

static std::string answer(char status, const std::vector<std::string>& words = {}) {
  std::string body(1, status);
  for (const std::string& word : words) {
    put_word(body, word);
  }
  if (body.size() > kMaxFrame) {
    return answer(kFailed, {"the answer would be too long; hint: ask for fewer values at once"});
  }
  std::string message;
  put_number(message, static_cast<uint32_t>(body.size()));
  return message + body;
}

// --- the loop --------------------------------------------------------------------------------------------------------

static void watch(const Socket& epoll, int operation, int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  ::epoll_ctl(epoll.fd(), operation, fd, &event);
}

TCPStoreServer::TCPStoreServer(Socket listener)
    : listener_(std::move(listener)), epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_up_(::eventfd(0, EFD_CLOEXEC)) {
  watch(epoll_, EPOLL_CTL_ADD, listener_.fd(), EPOLLIN);
  watch(epoll_, EPOLL_CTL_ADD, wake_up_.fd(), EPOLLIN);
  thread_ = Thread("store_server", [this] { run(); });
}

TCPStoreServer::~TCPStoreServer() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_up_.fd(), &one, sizeof one);
  thread_.join();
}

void TCPStoreServer::run() {
  epoll_event events[64];
  for (;;) {
    const int count = ::epoll_wait(epoll_.fd(), events, 64, milliseconds_to_next_deadline());
    for (int i = 0; i < count; i++) {
      const int fd = events[i].data.fd;
      if (fd == wake_up_.fd()) {
        return;
      }
      if (fd == listener_.fd()) {
        accept_clients();
        continue;
      }
      const auto found = clients_.find(fd);
      if (found == clients_.end()) { // was dropped since epoll_wait
        continue;
      }
      try {
        if ((events[i].events & EPOLLOUT) != 0) {
          write(found->second);
        } else {
          read(found->second);
        }
      } catch (const DistNetworkError&) {
        drop(found);
      }
    }
    drop_late(Clock::now());
  }
}

void TCPStoreServer::accept_clients() {
  try {
    while (Socket socket = listener_.try_accept()) {
      const int fd = socket.fd();
      Client& client = clients_[fd];
      client.socket = std::move(socket);
      watch(epoll_, EPOLL_CTL_ADD, fd, EPOLLIN);
      set_deadline(client, deadline_after(kGreeting));
    }
  } catch (const std::system_error&) { // too many open files
    const auto oldest = std::find_if(deadlines_.begin(), deadlines_.end(),
                                     [&](const auto& each) { return !clients_.at(each.second).greeted; });
    if (oldest != deadlines_.end()) {
      drop(clients_.find(oldest->second));
    } else {
      std::this_thread::sleep_for(Milliseconds(10));
    }
  } catch (const DistNetworkError&) { // a connection that ended before it was accepted
  }
}

void TCPStoreServer::read(Client& client) {
  char bytes[1 << 16];
  const size_t size = client.socket.try_recv(bytes, sizeof bytes);
  client.in.append(bytes, size);
  if (!client.greeted) {
    const size_t known = std::min(client.in.size(), kMagic.size());
    if (client.in.compare(0, known, kMagic, 0, known) != 0) {
      throw ConnectionClosed("the client does not speak the protocol");
    }
    if (known < kMagic.size()) {
      return;
    }
    client.greeted = true;
    client.in.erase(0, kMagic.size());
    set_deadline(client, kForever);
  }
  read_questions(client);
}

void TCPStoreServer::read_questions(Client& client) {
  // A client asks one question at a time, so what it sends meanwhile need not be understood, but is limited.
  while (!client.waits && client.out.empty()) {
    uint32_t size = 0;
    if (client.in.size() < sizeof size) {
      return;
    }
    std::memcpy(&size, client.in.data(), sizeof size);
    if (size < 1 + sizeof(int64_t) || size > kMaxFrame) {
      throw ConnectionClosed("a frame of an impossible size");
    }
    if (client.in.size() < sizeof size + size) {
      return;
    }
    const std::string_view frame(client.in.data() + sizeof size, size);
    int64_t timeout = 0;
    std::memcpy(&timeout, frame.data() + 1, sizeof timeout);
    client.question = {frame[0], Milliseconds(timeout), {}};
    if (!take_words(frame.substr(1 + sizeof timeout), client.question.words)) {
      throw ConnectionClosed("a frame that ends in the middle of a word");
    }
    client.in.erase(0, sizeof size + size);
    if (is_ready(client.question)) {
      client.out = execute(client.question);
      write(client);
    } else {
      wait_for_keys(client);
    }
  }
  if (client.in.size() > kMaxFrame + sizeof(uint32_t)) {
    throw ConnectionClosed("more questions than a client may ask at once");
  }
}

void TCPStoreServer::write(Client& client) {
  client.out.erase(0, client.socket.try_send(client.out.data(), client.out.size()));
  // As long as the client does not take its answer, nothing is read from it.
  if (client.is_slow == client.out.empty()) {
    client.is_slow = !client.out.empty();
    watch(epoll_, EPOLL_CTL_MOD, client.socket.fd(), client.is_slow ? EPOLLOUT : EPOLLIN);
  }
}

void TCPStoreServer::drop(Clients::iterator client) {
  stop_waiting(client->second);
  set_deadline(client->second, kForever);
  clients_.erase(client); // closes the descriptor, which leaves epoll thereby
}

void TCPStoreServer::set_deadline(Client& client, Deadline deadline) {
  deadlines_.erase({client.deadline, client.socket.fd()});
  client.deadline = deadline;
  if (deadline != kForever) {
    deadlines_.insert({deadline, client.socket.fd()});
  }
}

int TCPStoreServer::milliseconds_to_next_deadline() const {
  return deadlines_.empty() ? -1 : milliseconds_left(deadlines_.begin()->first);
}

void TCPStoreServer::drop_late(Deadline now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const auto found = clients_.find(deadlines_.begin()->second);
    Client& client = found->second;
    if (!client.waits) { // for the greeting
      drop(found);
      continue;
    }
    std::vector<std::string> missing;
    for (const std::string& key : client.question.words) {
      if (client.question.command == kQueuePop || map_.count(key) == 0) {
        missing.push_back(key);
      }
    }
    stop_waiting(client);
    client.out = answer(kTimedOut, missing);
    try {
      write(client);
      read_questions(client);
    } catch (const DistNetworkError&) {
      drop(found);
    }
  }
}

// --- the dictionary --------------------------------------------------------------------------------------------------

bool TCPStoreServer::is_ready(const Question& question) const {
  const std::vector<std::string>& words = question.words;
  const auto has = [&](const std::string& key) { return map_.count(key) > 0; };
  switch (question.command) {
    case kGet:
    case kWait: return std::all_of(words.begin(), words.end(), has);
    case kQueuePop: return words.size() != 1 || queues_.count(words[0]) > 0;
    default: return true;
  }
}

void TCPStoreServer::wait_for_keys(Client& client) {
  client.waits = true;
  for (const std::string& key : client.question.words) {
    waiters_.insert({key, client.socket.fd()});
  }
  set_deadline(client, deadline_after(client.question.timeout));
}

void TCPStoreServer::stop_waiting(Client& client) {
  if (!client.waits) {
    return;
  }
  client.waits = false;
  for (const std::string& key : client.question.words) {
    const auto [begin, end] = waiters_.equal_range(key);
    for (auto each = begin; each != end;) {
      each = each->second == client.socket.fd() ? waiters_.erase(each) : std::next(each);
    }
  }
  set_deadline(client, kForever);
}

void TCPStoreServer::wake_waiters(const std::string& key) {
  std::vector<int> waiting;
  const auto [begin, end] = waiters_.equal_range(key);
  std::transform(begin, end, std::back_inserter(waiting), [](const auto& each) { return each.second; });
  for (const int fd : waiting) {
    const auto found = clients_.find(fd);
    // A client before this one may have taken the value out of the queue, or asked for one key twice.
    if (found == clients_.end() || !found->second.waits || !is_ready(found->second.question)) {
      continue;
    }
    stop_waiting(found->second);
    found->second.out = execute(found->second.question);
    try {
      write(found->second);
    } catch (const DistNetworkError&) { // its own event will drop the client: its memory is in use further up
    }
  }
}

std::string TCPStoreServer::execute(const Question& question) {
  const std::vector<std::string>& words = question.words;
  const char command = question.command;
  const size_t expected =
      command == kSet || command == kAdd || command == kAppend || command == kQueuePush               ? 2
      : command == kCompareSet                                                                        ? 3
      : command == kDelete || command == kQueuePop || command == kQueueTryPop || command == kQueueLen ? 1
                                                                                                      : words.size();
  if (words.size() != expected || (command == kMultiSet && words.size() % 2 != 0)) {
    return answer(kFailed, {"a question with a wrong number of words"});
  }
  std::vector<std::string> result;
  switch (command) {
    case kSet:
      map_[words[0]] = words[1];
      wake_waiters(words[0]);
      break;
    case kMultiSet:
      for (size_t i = 0; i < words.size(); i += 2) {
        map_[words[i]] = words[i + 1];
        wake_waiters(words[i]);
      }
      break;
    case kAppend:
      if (map_[words[0]].size() + words[1].size() > kMaxFrame / 2) {
        return answer(kFailed, {"append: the value would become too long"});
      }
      map_[words[0]] += words[1];
      wake_waiters(words[0]);
      break;
    case kGet:
      for (const std::string& key : words) {
        result.push_back(map_.at(key));
      }
      break;
    case kAdd: try { result = {std::to_string(added(words[0], map_[words[0]], added(words[0], words[1], 0)))};
      } catch (const DistStoreError& error) {
        return answer(kFailed, {error.what()});
      }
      map_[words[0]] = result[0];
      wake_waiters(words[0]);
      break;
    case kCompareSet: {
      const auto found = map_.find(words[0]);
      if (found == map_.end() ? words[1].empty() : found->second == words[1]) {
        map_[words[0]] = words[2];
        wake_waiters(words[0]);
        result = {words[2]};
      } else {
        result = {found == map_.end() ? words[1] : found->second};
      }
      break;
    }
    case kDelete: result = {std::to_string(map_.erase(words[0]))}; break;
    case kCheck: result = {is_ready({kWait, {}, words}) ? "1" : "0"}; break;
    case kNumKeys: result = {std::to_string(map_.size())}; break;
    case kListKeys:
      for (const auto& [key, value] : map_) {
        result.push_back(key);
      }
      break;
    case kWait: break;
    case kQueuePush:
      queues_[words[0]].push_back(words[1]);
      wake_waiters(words[0]);
      break;
    case kQueuePop:
    case kQueueTryPop: {
      const auto found = queues_.find(words[0]);
      if (found == queues_.end()) {
        return answer(kQueueEmpty);
      }
      result = {std::move(found->second.front())};
      found->second.pop_front();
      if (found->second.empty()) {
        queues_.erase(found);
      }
      break;
    }
    case kQueueLen: {
      const auto found = queues_.find(words[0]);
      result = {std::to_string(found == queues_.end() ? 0 : found->second.size())};
      break;
    }
    default: return answer(kFailed, {"an unknown command"});
  }
  return answer(kDone, result);
}

} // namespace reftorch::c10d
