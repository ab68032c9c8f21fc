// Mirrors: c10/util/thread_name.cpp
#include <c10/util/thread_name.h>

#include <pthread.h>

namespace reftorch::c10 {

void setThreadName(const std::string& name) {
  constexpr size_t kLongest = 15; // a longer name is refused as a whole
  pthread_setname_np(pthread_self(), name.substr(0, kLongest).c_str());
}

} // namespace reftorch::c10
