// Mirrors: torch/csrc/distributed/c10d/FileStore.hpp
//
// The dictionary in a file, for processes that share a file system and no network address. The file is a log: every
// change is appended under a lock, and a reader goes on where it stopped the last time. A store of `num_workers`
// workers removes the file when the last worker has finished. Left out: the extended API, as in PyTorch.
#pragma once

#include <csrc/distributed/c10d/Store.h>

#include <map>
#include <mutex>

namespace reftorch::c10d {

class FileStore final : public Store {
 public:
  // Throws DistStoreError if the file cannot be opened. Fewer than 1 worker: the file is never removed.
  FileStore(std::string path, int num_workers);
  ~FileStore() override;

  using Store::wait;
  std::shared_ptr<Store> clone() override {
    return std::make_shared<FileStore>(path_, -1);
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
  const std::string& getPath() const {
    return path_;
  }

 private:
  class Locked;
  bool has(const std::vector<std::string>& keys) const;

  const std::string path_;
  const int num_workers_;
  const int process_; // that made this store: a forked child does not count as a worker
  std::mutex mutex_;
  // What was read of the file so far.
  std::map<std::string, std::string> map_;
  int64_t position_ = 0;
};

} // namespace reftorch::c10d
