// Mirrors: nothing in PyTorch: what the environment says about the simulated devices; runtime.h lists the settings
#include <c10/cuda/sim/runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

namespace cudasim {

std::string setting(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : otherwise;
}

// Reads a whole number at the beginning of a text. Returns whether there is one, and moves `text` behind it.
static bool read_number(const char*& text, long& value) {
  char* end = nullptr;
  value = std::strtol(text, &end, 10);
  const bool found = end != text;
  text = end;
  return found;
}

long number_setting(const char* name, long otherwise, long least, long most) {
  const std::string said = setting(name, "");
  const char* rest = said.c_str();
  long value = 0;
  if (said.empty() || (read_number(rest, value) && *rest == '\0' && value >= least && value <= most)) {
    return said.empty() ? otherwise : value;
  }
  static std::mutex mutex;
  static std::set<std::string> reported;
  std::lock_guard<std::mutex> lock(mutex);
  if (!reported.insert(name).second) {
    return otherwise;
  }
  std::fprintf(stderr, "cudasim: %s is '%s'; expected a whole number from %ld to %ld. It counts as %ld.\n", name,
               said.c_str(), least, most, otherwise);
  return otherwise;
}

std::vector<int> visible_devices() {
  const long all = number_setting("REFTORCH_CUDA_SIM", 0, 0, kMaxDevices);
  std::vector<int> visible;
  const char* rest = std::getenv("CUDA_VISIBLE_DEVICES");
  if (rest == nullptr) {
    for (int i = 0; i < all; i++) {
      visible.push_back(i);
    }
    return visible;
  }
  long number = 0;
  while (read_number(rest, number) && number >= 0 && number < all && (*rest == ',' || *rest == '\0')) {
    if (std::find(visible.begin(), visible.end(), number) != visible.end()) {
      return {};
    }
    visible.push_back(static_cast<int>(number));
    rest += *rest == ',';
  }
  return visible;
}

} // namespace cudasim
