// Mirrors: torch/csrc/distributed/c10d/HashStore.cpp
#include <csrc/distributed/c10d/HashStore.h>

#include <algorithm>

namespace reftorch::c10d {

void HashStore::set(const std::string& key, const std::string& value) {
  std::lock_guard lock(mutex_);
  map_[key] = value;
  changed_.notify_all();
}

std::string HashStore::get(const std::string& key) {
  return multiGet({key}).front();
}

int64_t HashStore::add(const std::string& key, int64_t amount) {
  std::lock_guard lock(mutex_);
  const int64_t sum = added(key, map_[key], amount);
  map_[key] = std::to_string(sum);
  changed_.notify_all();
  return sum;
}

std::string HashStore::compareSet(const std::string& key, const std::string& expected, const std::string& desired) {
  std::lock_guard lock(mutex_);
  const auto found = map_.find(key);
  if (found == map_.end() ? expected.empty() : found->second == expected) {
    changed_.notify_all();
    return map_[key] = desired;
  }
  return found == map_.end() ? expected : found->second;
}

bool HashStore::deleteKey(const std::string& key) {
  std::lock_guard lock(mutex_);
  return map_.erase(key) > 0;
}

bool HashStore::check(const std::vector<std::string>& keys) {
  std::lock_guard lock(mutex_);
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) { return map_.count(key) > 0; });
}

int64_t HashStore::getNumKeys() {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(map_.size());
}

std::vector<std::string> HashStore::listKeys() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> keys;
  for (const auto& [key, value] : map_) {
    keys.push_back(key);
  }
  return keys;
}

bool HashStore::wait_until(std::unique_lock<std::mutex>& lock, Deadline deadline,
                           const std::function<bool()>& condition) {
  while (!condition()) {
    if (Clock::now() >= deadline) {
      return false;
    }
    changed_.wait_until(lock, std::min(deadline, deadline_after(kSlice)));
    lock.unlock(); // the check may take the GIL, whose holder may wait for our lock
    check_interrupt();
    lock.lock();
  }
  return true;
}

void HashStore::wait(const std::vector<std::string>& keys, Milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto is_there = [&](const std::string& key) { return map_.count(key) > 0; };
  if (!wait_until(lock, deadline_after(timeout), [&] { return std::all_of(keys.begin(), keys.end(), is_there); })) {
    std::vector<std::string> missing;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(missing),
                 [&](const auto& key) { return !is_there(key); });
    throw_wait_timeout(missing, timeout);
  }
}

void HashStore::append(const std::string& key, const std::string& value) {
  std::lock_guard lock(mutex_);
  map_[key] += value;
  changed_.notify_all();
}

std::vector<std::string> HashStore::multiGet(const std::vector<std::string>& keys) {
  wait(keys, getTimeout());
  std::lock_guard lock(mutex_);
  std::vector<std::string> values;
  for (const std::string& key : keys) {
    const auto found = map_.find(key);
    C10D_CHECK_WITH(DistStoreError, found != map_.end(), "get: the key ", key, " was deleted meanwhile");
    values.push_back(found->second);
  }
  return values;
}

void HashStore::multiSet(const std::vector<std::string>& keys, const std::vector<std::string>& values) {
  TORCH_CHECK_VALUE(keys.size() == values.size(), "multi_set: expected one value for each key, but got ", keys.size(),
                    " keys and ", values.size(), " values");
  for (size_t i = 0; i < keys.size(); i++) {
    set(keys[i], values[i]);
  }
}

void HashStore::queuePush(const std::string& key, const std::string& value) {
  std::lock_guard lock(mutex_);
  queues_[key].push_back(value);
  changed_.notify_all();
}

std::string HashStore::queuePop(const std::string& key, bool block) {
  std::unique_lock lock(mutex_);
  const auto is_filled = [&] { return queues_.count(key) > 0; };
  if (!block) {
    C10D_CHECK_WITH(DistQueueEmptyError, is_filled(), "queue is empty");
  } else if (!wait_until(lock, deadline_after(getTimeout()), is_filled)) {
    throw_wait_timeout({key}, getTimeout());
  }
  std::deque<std::string>& queue = queues_[key];
  std::string value = std::move(queue.front());
  queue.pop_front();
  if (queue.empty()) {
    queues_.erase(key);
  }
  return value;
}

int64_t HashStore::queueLen(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto found = queues_.find(key);
  return found == queues_.end() ? 0 : static_cast<int64_t>(found->second.size());
}

} // namespace reftorch::c10d
