// Mirrors: torch/csrc/distributed/c10d/PrefixStore.hpp
//
// The keys of one user of a store: the prefix "group_1" keeps the keys of one group apart from those of another.
#pragma once

#include <csrc/distributed/c10d/Store.h>

namespace reftorch::c10d {

class PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, std::shared_ptr<Store> store)
      : prefix_(std::move(prefix)), store_(std::move(store)) {}

  using Store::wait;
  std::shared_ptr<Store> clone() override {
    return std::make_shared<PrefixStore>(prefix_, store_->clone());
  }
  void set(const std::string& key, const std::string& value) override {
    store_->set(joined(key), value);
  }
  std::string get(const std::string& key) override {
    return store_->get(joined(key));
  }
  int64_t add(const std::string& key, int64_t amount) override {
    return store_->add(joined(key), amount);
  }
  std::string compareSet(const std::string& key, const std::string& expected, const std::string& desired) override {
    return store_->compareSet(joined(key), expected, desired);
  }
  bool deleteKey(const std::string& key) override {
    return store_->deleteKey(joined(key));
  }
  bool check(const std::vector<std::string>& keys) override {
    return store_->check(joined(keys));
  }
  // Counts the keys of the whole store, as PyTorch's does.
  int64_t getNumKeys() override {
    return store_->getNumKeys();
  }
  std::vector<std::string> listKeys() override;
  void wait(const std::vector<std::string>& keys, Milliseconds timeout) override {
    store_->wait(joined(keys), timeout);
  }
  bool hasExtendedApi() const override {
    return store_->hasExtendedApi();
  }
  void append(const std::string& key, const std::string& value) override {
    store_->append(joined(key), value);
  }
  std::vector<std::string> multiGet(const std::vector<std::string>& keys) override {
    return store_->multiGet(joined(keys));
  }
  void multiSet(const std::vector<std::string>& keys, const std::vector<std::string>& values) override {
    store_->multiSet(joined(keys), values);
  }
  void queuePush(const std::string& key, const std::string& value) override {
    store_->queuePush(joined(key), value);
  }
  std::string queuePop(const std::string& key, bool block) override {
    return store_->queuePop(joined(key), block);
  }
  int64_t queueLen(const std::string& key) override {
    return store_->queueLen(joined(key));
  }
  Milliseconds getTimeout() const override {
    return store_->getTimeout();
  }
  void setTimeout(Milliseconds timeout) override {
    store_->setTimeout(timeout);
  }
  const std::shared_ptr<Store>& getUnderlyingStore() const {
    return store_;
  }

 private:
  std::string joined(const std::string& key) const {
    return prefix_ + "/" + key;
  }
  std::vector<std::string> joined(std::vector<std::string> keys) const;

  const std::string prefix_;
  const std::shared_ptr<Store> store_;
};

} // namespace reftorch::c10d
