// Mirrors: torch/csrc/distributed/c10d/PrefixStore.cpp
#include <csrc/distributed/c10d/PrefixStore.h>

namespace reftorch::c10d {

std::vector<std::string> PrefixStore::joined(std::vector<std::string> keys) const {
  for (std::string& key : keys) {
    key = joined(key);
  }
  return keys;
}

std::vector<std::string> PrefixStore::listKeys() {
  const std::string begin = joined("");
  std::vector<std::string> keys;
  for (const std::string& key : store_->listKeys()) {
    if (key.rfind(begin, 0) == 0) {
      keys.push_back(key.substr(begin.size()));
    }
  }
  return keys;
}

} // namespace reftorch::c10d
