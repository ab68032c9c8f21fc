// Mirrors: torch/csrc/distributed/c10d/Store.hpp
//
// A small dictionary that all ranks share: the place where processes that know nothing of each other meet. A value is
// any string of bytes. All functions may be called from several threads. Left out: watching a key.
#pragma once

#include <csrc/distributed/c10d/Utils.h>

#include <csrc/distributed/c10d/exception.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace reftorch::c10d {

class Store {
 public:
  static constexpr Milliseconds kDefaultTimeout{300'000};
  explicit Store(Milliseconds timeout = kDefaultTimeout) : timeout_(timeout) {}
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Returns a store of the same contents with a connection of its own, so that a long wait of one does not delay the
  // other.
  virtual std::shared_ptr<Store> clone() = 0;

  virtual void set(const std::string& key, const std::string& value) = 0;
  // Waits until the key exists. Throws DistStoreError after the store's timeout, as every function that waits.
  virtual std::string get(const std::string& key) = 0;
  // Adds to a number that starts at 0 and returns the sum. Atomic: of two ranks that add 1, one gets 1 and one gets 2.
  virtual int64_t add(const std::string& key, int64_t amount) = 0;
  // Compares the value of the key with `expected`; a key that does not exist counts as empty. If they are equal, the
  // key gets the value `desired`. Returns the value that the key has then, or `expected` if the key does not exist.
  virtual std::string compareSet(const std::string& key, const std::string& expected, const std::string& desired) = 0;
  virtual bool deleteKey(const std::string& key) = 0;
  // Returns whether all keys exist.
  virtual bool check(const std::vector<std::string>& keys) = 0;
  virtual int64_t getNumKeys() = 0;
  virtual std::vector<std::string> listKeys() = 0;
  // Waits until all keys exist.
  virtual void wait(const std::vector<std::string>& keys, Milliseconds timeout) = 0;
  void wait(const std::vector<std::string>& keys) {
    wait(keys, getTimeout());
  }
  // Waits until `world_size` callers have come to the barrier `key`.
  void barrier(const std::string& key, int64_t world_size, Milliseconds timeout);

  // The extended API, which a FileStore does not have.
  virtual bool hasExtendedApi() const {
    return false;
  }
  virtual void append(const std::string& key, const std::string& value);
  virtual std::vector<std::string> multiGet(const std::vector<std::string>& keys);
  virtual void multiSet(const std::vector<std::string>& keys, const std::vector<std::string>& values);
  virtual void queuePush(const std::string& key, const std::string& value);
  // Takes the oldest value of the queue. If the queue is empty, waits, or throws DistQueueEmptyError if not `block`.
  virtual std::string queuePop(const std::string& key, bool block = true);
  virtual int64_t queueLen(const std::string& key);

  virtual Milliseconds getTimeout() const {
    return timeout_.load();
  }
  virtual void setTimeout(Milliseconds timeout) {
    timeout_ = timeout;
  }

 private:
  std::atomic<Milliseconds> timeout_;
};

// Returns the sum of the number in `value` (0 if empty) and `amount`. Throws DistStoreError if `value` is not a number.
int64_t added(const std::string& key, const std::string& value, int64_t amount);

// Throws the DistStoreError of a wait that took too long.
[[noreturn]] void throw_wait_timeout(const std::vector<std::string>& missing, Milliseconds timeout);

} // namespace reftorch::c10d
