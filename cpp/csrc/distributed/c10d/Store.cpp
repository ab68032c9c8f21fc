// Mirrors: torch/csrc/distributed/c10d/Store.cpp
#include <csrc/distributed/c10d/Store.h>

#include <cstdlib>

namespace reftorch::c10d {

void Store::barrier(const std::string& key, int64_t world_size, Milliseconds timeout) {
  const std::string all = key + "/all";
  if (add(key + "/count", 1) % world_size == 0) {
    set(all, "1");
  }
  wait({all}, timeout);
}

[[noreturn]] static void not_extended(const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, name, ": this kind of store has no extended API. Hint: has_extended_api() tells");
}

void Store::append(const std::string& key, const std::string& value) {
  not_extended("append");
}
std::vector<std::string> Store::multiGet(const std::vector<std::string>& keys) {
  not_extended("multi_get");
}
void Store::multiSet(const std::vector<std::string>& keys, const std::vector<std::string>& values) {
  not_extended("multi_set");
}
void Store::queuePush(const std::string& key, const std::string& value) {
  not_extended("queue_push");
}
std::string Store::queuePop(const std::string& key, bool block) {
  not_extended("queue_pop");
}
int64_t Store::queueLen(const std::string& key) {
  not_extended("queue_len");
}

int64_t added(const std::string& key, const std::string& value, int64_t amount) {
  char* end = nullptr;
  const int64_t number = std::strtoll(value.c_str(), &end, 10);
  C10D_CHECK_WITH(DistStoreError, *end == '\0' && end == value.c_str() + value.size(),
                  "add: expected a number as the value of the key ", key, ", but found a text of ", value.size(),
                  " bytes");
  return static_cast<int64_t>(static_cast<uint64_t>(number) + static_cast<uint64_t>(amount)); // wraps around
}

void throw_wait_timeout(const std::vector<std::string>& missing, Milliseconds timeout) {
  std::string names;
  for (const std::string& key : missing) {
    names += (names.empty() ? "" : ", ") + key;
  }
  throw DistStoreError(c10::str("wait timeout after ", timeout.count(), "ms, keys: ", names));
}

} // namespace reftorch::c10d
