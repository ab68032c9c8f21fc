// Mirrors: torch/csrc/distributed/c10d/TCPStore.hpp
//
// One process, the master, holds the dictionary, and all processes, the master included, ask it over TCP. Left out: the
// choice of a backend (PyTorch has one on libuv and one of its own), counters.
#pragma once

#include <csrc/distributed/c10d/Store.h>
#include <csrc/distributed/c10d/socket.h>

#include <mutex>
#include <optional>

namespace reftorch::c10d {

class TCPStoreServer;

struct TCPStoreOptions {
  uint16_t port = 29500; // 0: any free port
  bool isServer = false;
  std::optional<int64_t> numWorkers;
  bool waitWorkers = true;
  Milliseconds timeout = Store::kDefaultTimeout;
  // Several stores of one process may share the server of a port.
  bool multiTenant = false;
  // A listening socket, which the server takes over.
  std::optional<int> masterListenFd;
};

class TCPStore final : public Store {
 public:
  // Returns when the server answers and, if numWorkers is given and waitWorkers is set, when that many processes have
  // come. Throws DistNetworkError if the port cannot be opened or nobody answers within the timeout.
  TCPStore(std::string host, const TCPStoreOptions& options);
  ~TCPStore() override;

  using Store::wait;
  std::shared_ptr<Store> clone() override;
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compareSet(const std::string& key, const std::string& expected, const std::string& desired) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  int64_t getNumKeys() override;
  std::vector<std::string> listKeys() override;
  void wait(const std::vector<std::string>& keys, Milliseconds timeout) override;
  bool hasExtendedApi() const override {
    return true;
  }
  void append(const std::string& key, const std::string& value) override;
  std::vector<std::string> multiGet(const std::vector<std::string>& keys) override;
  void multiSet(const std::vector<std::string>& keys, const std::vector<std::string>& values) override;
  void queuePush(const std::string& key, const std::string& value) override;
  std::string queuePop(const std::string& key, bool block) override;
  int64_t queueLen(const std::string& key) override;

  const std::string& getHost() const {
    return host_;
  }
  uint16_t getPort() const {
    return port_;
  }

 private:
  // Sends a question and returns the words of the answer. Throws the error that the server answers.
  std::vector<std::string> ask(char command, const std::vector<std::string>& words, Milliseconds timeout);
  std::vector<std::string> ask(char command, const std::vector<std::string>& words) {
    return ask(command, words, getTimeout());
  }
  void connect(Deadline deadline);
  void wait_for_workers(int64_t count, Milliseconds timeout);

  const std::string host_;
  uint16_t port_;
  std::shared_ptr<TCPStoreServer> server_; // in the master
  std::mutex mutex_;                       // one question at a time
  Socket connection_;                      // is made again after a question that got no answer
};

} // namespace reftorch::c10d
