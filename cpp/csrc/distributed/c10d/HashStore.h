// Mirrors: torch/csrc/distributed/c10d/HashStore.hpp
//
// The dictionary inside one process: threads that play ranks meet in it.
#pragma once

#include <csrc/distributed/c10d/Store.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

namespace reftorch::c10d {

class HashStore final : public Store, public std::enable_shared_from_this<HashStore> {
 public:
  using Store::wait;
  std::shared_ptr<Store> clone() override {
    return shared_from_this(); // its waits do not delay each other
  }
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

 private:
  // Waits until `condition` holds; returns false at the deadline.
  bool wait_until(std::unique_lock<std::mutex>& lock, Deadline deadline, const std::function<bool()>& condition);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> map_;
  std::map<std::string, std::deque<std::string>> queues_;
};

} // namespace reftorch::c10d
