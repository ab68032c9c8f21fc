// Mirrors: torch/csrc/distributed/c10d/FileStore.cpp
#include <csrc/distributed/c10d/FileStore.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace reftorch::c10d {

// An entry of the file: the lengths of key and value, and their bytes. A deleted key has no value.
struct FileStoreHeader {
  uint32_t key_size, value_size;
};
static constexpr uint32_t kDeleted = UINT32_MAX;
// Workers that have finished. A user's key cannot have this name, because keys of users get a slash in front.
static constexpr const char* kFinished = "finished";

static std::string users(const std::string& key) {
  return "/" + key;
}

// Holds the file open and locked against all other processes and threads, and has read what they have appended.
class FileStore::Locked final {
 public:
  explicit Locked(FileStore& store) : store_(store), lock_(store.mutex_) {
    fd_ = ::open(store.path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    C10D_CHECK_WITH(DistStoreError, fd_ >= 0, "FileStore: cannot open ", store.path_, ": ", std::strerror(errno));
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
    try {
      read_new_entries();
    } catch (...) {
      ::close(fd_);
      throw;
    }
  }
  ~Locked() {
    ::close(fd_); // unlocks
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  void append(const std::string& key, const std::string* value) {
    const FileStoreHeader header{static_cast<uint32_t>(key.size()),
                                 value == nullptr ? kDeleted : static_cast<uint32_t>(value->size())};
    std::string entry(reinterpret_cast<const char*>(&header), sizeof header);
    entry += key;
    if (value != nullptr) {
      entry += *value;
    }
    const ssize_t written = ::pwrite(fd_, entry.data(), entry.size(), store_.position_);
    if (written != static_cast<ssize_t>(entry.size())) { // a full disk; half an entry would confuse the readers
      const std::string error = std::strerror(errno);
      [[maybe_unused]] const int cut = ::ftruncate(fd_, store_.position_);
      throw DistStoreError("FileStore: cannot write " + store_.path_ + ": " + error);
    }
    store_.position_ += written;
    take(key, value);
  }

 private:
  void take(const std::string& key, const std::string* value) {
    if (value == nullptr) {
      store_.map_.erase(key);
    } else {
      store_.map_[key] = *value;
    }
  }

  void read_new_entries() {
    struct stat status{};
    ::fstat(fd_, &status);
    if (status.st_size < store_.position_) { // somebody removed the file, and another began it again
      store_.map_.clear();
      store_.position_ = 0;
    }
    std::string bytes(status.st_size - store_.position_, '\0');
    size_t size = 0;
    while (size < bytes.size()) {
      const ssize_t n = ::pread(fd_, &bytes[size], bytes.size() - size, store_.position_ + static_cast<int64_t>(size));
      C10D_CHECK_WITH(DistStoreError, n > 0, "FileStore: cannot read ", store_.path_, ": ", std::strerror(errno));
      size += n;
    }
    size_t place = 0;
    FileStoreHeader header{};
    while (place + sizeof header <= size) {
      std::memcpy(&header, &bytes[place], sizeof header);
      const size_t value_size = header.value_size == kDeleted ? 0 : header.value_size;
      C10D_CHECK_WITH(
          DistStoreError,
          header.key_size <= size && value_size <= size && place + sizeof header + header.key_size + value_size <= size,
          "FileStore: ", store_.path_, " is not the file of a store, or its end is missing");
      const std::string key = bytes.substr(place + sizeof header, header.key_size);
      const std::string value = bytes.substr(place + sizeof header + header.key_size, value_size);
      take(key, header.value_size == kDeleted ? nullptr : &value);
      place += sizeof header + header.key_size + value_size;
    }
    store_.position_ += static_cast<int64_t>(place);
  }

  FileStore& store_;
  const std::lock_guard<std::mutex> lock_;
  int fd_ = -1;
};

FileStore::FileStore(std::string path, int num_workers)
    : path_(std::move(path)), num_workers_(num_workers), process_(::getpid()) {
  Locked file(*this);
}

FileStore::~FileStore() {
  if (num_workers_ < 1 || process_ != ::getpid()) {
    return;
  }
  try {
    Locked file(*this);
    const std::string finished = std::to_string(added(kFinished, map_[kFinished], 1));
    file.append(kFinished, &finished);
    if (finished == std::to_string(num_workers_)) {
      ::unlink(path_.c_str());
    }
  } catch (const std::exception&) { // the folder has gone: there is nothing to remove
  }
}

void FileStore::set(const std::string& key, const std::string& value) {
  Locked(*this).append(users(key), &value);
}

std::string FileStore::get(const std::string& key) {
  wait({key}, getTimeout());
  Locked file(*this);
  const auto found = map_.find(users(key));
  C10D_CHECK_WITH(DistStoreError, found != map_.end(), "get: the key ", key, " was deleted meanwhile");
  return found->second;
}

int64_t FileStore::add(const std::string& key, int64_t amount) {
  Locked file(*this);
  const auto found = map_.find(users(key));
  const int64_t sum = added(key, found == map_.end() ? "" : found->second, amount);
  if (amount != 0 || found == map_.end()) { // a question for the number does not lengthen the file
    const std::string value = std::to_string(sum);
    file.append(users(key), &value);
  }
  return sum;
}

std::string FileStore::compareSet(const std::string& key, const std::string& expected, const std::string& desired) {
  Locked file(*this);
  const auto found = map_.find(users(key));
  if (found == map_.end() ? expected.empty() : found->second == expected) {
    file.append(users(key), &desired);
    return desired;
  }
  return found == map_.end() ? expected : found->second;
}

bool FileStore::deleteKey(const std::string& key) {
  Locked file(*this);
  const bool is_there = map_.count(users(key)) > 0;
  if (is_there) {
    file.append(users(key), nullptr);
  }
  return is_there;
}

bool FileStore::has(const std::vector<std::string>& keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) { return map_.count(users(key)) > 0; });
}

bool FileStore::check(const std::vector<std::string>& keys) {
  Locked file(*this);
  return has(keys);
}

int64_t FileStore::getNumKeys() {
  return static_cast<int64_t>(listKeys().size());
}

std::vector<std::string> FileStore::listKeys() {
  Locked file(*this);
  std::vector<std::string> keys;
  for (const auto& [key, value] : map_) {
    if (key[0] == '/') {
      keys.push_back(key.substr(1));
    }
  }
  return keys;
}

void FileStore::wait(const std::vector<std::string>& keys, Milliseconds timeout) {
  const Deadline deadline = deadline_after(timeout);
  Milliseconds pause{1}; // grows: most keys come soon, and a lock for each look costs the others
  while (!check(keys)) {
    if (Clock::now() >= deadline) {
      std::vector<std::string> missing;
      std::copy_if(keys.begin(), keys.end(), std::back_inserter(missing),
                   [&](const auto& key) { return !check({key}); });
      throw_wait_timeout(missing, timeout);
    }
    check_interrupt();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, Milliseconds(50));
  }
}

} // namespace reftorch::c10d
