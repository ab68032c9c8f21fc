// Mirrors: torch/csrc/distributed/c10d/TCPStore.cpp
#include <csrc/distributed/c10d/TCPStore.h>

#include <csrc/distributed/c10d/TCPStoreBackend.h>

#include <algorithm>
#include <map>

namespace reftorch::c10d {

using namespace tcp_store;

// The keys by which a server counts the processes that have come.
static constexpr const char* kWorkers = "init/";

// Returns the server of a port. Stores of one process that are multi-tenant share one.
static std::shared_ptr<TCPStoreServer> start_server(const std::string& host, const TCPStoreOptions& options) {
  static std::mutex mutex;
  static std::map<uint16_t, std::weak_ptr<TCPStoreServer>> servers;
  std::lock_guard lock(mutex);
  if (options.multiTenant) {
    if (auto server = servers[options.port].lock()) {
      return server;
    }
  }
  Socket listener = options.masterListenFd ? Socket(*options.masterListenFd)
                                           : Socket::listen(is_loopback(host) ? "127.0.0.1" : "", options.port);
  auto server = std::make_shared<TCPStoreServer>(std::move(listener));
  if (options.multiTenant) {
    servers[server->port()] = server;
  }
  return server;
}

TCPStore::TCPStore(std::string host, const TCPStoreOptions& options)
    : Store(options.timeout), host_(std::move(host)), port_(options.port) {
  const Deadline deadline = deadline_after(options.timeout);
  if (options.isServer) {
    server_ = start_server(host_, options);
    port_ = server_->port();
  }
  connect(deadline);
  if (options.numWorkers && *options.numWorkers > 0) {
    add(kWorkers, 1);
    if (options.waitWorkers && options.isServer) {
      wait_for_workers(*options.numWorkers, options.timeout);
    }
  }
}

TCPStore::~TCPStore() = default;

void TCPStore::wait_for_workers(int64_t count, Milliseconds timeout) {
  const Deadline deadline = deadline_after(timeout);
  for (Milliseconds pause{1}; add(kWorkers, 0) < count; pause = std::min(pause * 2, Milliseconds(50))) {
    C10D_CHECK_WITH(DistStoreError, Clock::now() < deadline, "Timed out after ", timeout.count() / 1000,
                    " seconds waiting for clients. ", add(kWorkers, 0), "/", count, " clients joined.");
    check_interrupt();
    std::this_thread::sleep_for(pause);
  }
}

// The server has answered this store, so there is nobody to wait for: where nobody listens any more, its process has
// ended. A group whose rank 0 was killed asks for a copy on the way to its error message.
static constexpr Milliseconds kTimeToConnectAgain{200};

std::shared_ptr<Store> TCPStore::clone() {
  TCPStoreOptions options;
  options.port = port_;
  options.timeout = std::min(getTimeout(), kTimeToConnectAgain);
  auto copy = std::make_shared<TCPStore>(server_ ? "127.0.0.1" : host_, options);
  copy->server_ = server_;
  copy->setTimeout(getTimeout());
  return copy;
}

void TCPStore::connect(Deadline deadline) {
  connection_ = Socket::connect(server_ ? "127.0.0.1" : host_, port_, deadline);
  connection_.send(kMagic.data(), kMagic.size(), deadline);
}

std::vector<std::string> TCPStore::ask(char command, const std::vector<std::string>& words, Milliseconds timeout) {
  std::string body(1, command);
  put_number<int64_t>(body, timeout.count());
  size_t size = body.size();
  for (const std::string& word : words) {
    size += sizeof(uint32_t) + word.size();
  }
  TORCH_CHECK_VALUE(size <= kMaxFrame / 2, "TCPStore: keys and values of one call must be shorter than ",
                    kMaxFrame / 2 >> 20, " MiB together, but got ", size, " bytes");
  for (const std::string& word : words) {
    put_word(body, word);
  }
  std::string message;
  put_number(message, static_cast<uint32_t>(body.size()));
  message += body;

  std::lock_guard lock(mutex_);
  // The server answers at the deadline; this side gives up a little later, if the server does not answer at all.
  const Deadline deadline = deadline_after(timeout + Milliseconds(5000));
  std::string frame;
  Socket connection = std::move(connection_); // is lost if the answer does not come: a late answer would confuse us
  try {
    if (!connection) {
      connect(deadline);
      connection = std::move(connection_);
    }
    connection.send(message.data(), message.size(), deadline);
    uint32_t answer_size = 0;
    connection.recv(&answer_size, sizeof answer_size, deadline);
    C10D_CHECK_WITH(DistNetworkError, answer_size > 0 && answer_size <= kMaxFrame, "an answer of an impossible size");
    frame.resize(answer_size);
    connection.recv(frame.data(), frame.size(), deadline);
  } catch (const DistNetworkError& error) {
    throw DistNetworkError(c10::str("TCPStore of ", host_, ":", port_, ": ", error.what(),
                                    ". Hint: has the process that holds the store ended?"));
  }
  connection_ = std::move(connection);
  std::vector<std::string> answer;
  C10D_CHECK_WITH(DistNetworkError, take_words(std::string_view(frame).substr(1), answer),
                  "TCPStore: the server's answer is not well-formed");
  switch (frame[0]) {
    case kDone: return answer;
    case kTimedOut: throw_wait_timeout(answer, timeout);
    case kQueueEmpty: throw DistQueueEmptyError("queue is empty");
    default: throw DistStoreError(answer.empty() ? "the server of the store failed" : answer[0]);
  }
}

void TCPStore::set(const std::string& key, const std::string& value) {
  ask(kSet, {key, value});
}
std::string TCPStore::get(const std::string& key) {
  return ask(kGet, {key}).at(0);
}
int64_t TCPStore::add(const std::string& key, int64_t amount) {
  return std::stoll(ask(kAdd, {key, std::to_string(amount)}).at(0));
}
std::string TCPStore::compareSet(const std::string& key, const std::string& expected, const std::string& desired) {
  return ask(kCompareSet, {key, expected, desired}).at(0);
}
bool TCPStore::deleteKey(const std::string& key) {
  return ask(kDelete, {key}).at(0) == "1";
}
bool TCPStore::check(const std::vector<std::string>& keys) {
  return ask(kCheck, keys).at(0) == "1";
}
int64_t TCPStore::getNumKeys() {
  return std::stoll(ask(kNumKeys, {}).at(0));
}
std::vector<std::string> TCPStore::listKeys() {
  return ask(kListKeys, {});
}
void TCPStore::wait(const std::vector<std::string>& keys, Milliseconds timeout) {
  ask(kWait, keys, timeout);
}
void TCPStore::append(const std::string& key, const std::string& value) {
  ask(kAppend, {key, value});
}
std::vector<std::string> TCPStore::multiGet(const std::vector<std::string>& keys) {
  return ask(kGet, keys);
}
void TCPStore::multiSet(const std::vector<std::string>& keys, const std::vector<std::string>& values) {
  TORCH_CHECK_VALUE(keys.size() == values.size(), "multi_set: expected one value for each key, but got ", keys.size(),
                    " keys and ", values.size(), " values");
  std::vector<std::string> words;
  for (size_t i = 0; i < keys.size(); i++) {
    words.insert(words.end(), {keys[i], values[i]});
  }
  ask(kMultiSet, words);
}
void TCPStore::queuePush(const std::string& key, const std::string& value) {
  ask(kQueuePush, {key, value});
}
std::string TCPStore::queuePop(const std::string& key, bool block) {
  return ask(block ? kQueuePop : kQueueTryPop, {key}).at(0);
}
int64_t TCPStore::queueLen(const std::string& key) {
  return std::stoll(ask(kQueueLen, {key}).at(0));
}

} // namespace reftorch::c10d
