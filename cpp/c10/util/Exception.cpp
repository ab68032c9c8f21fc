// Mirrors: c10/util/Exception.cpp
//
// Left out: warning handlers of one thread or one scope.
#include <c10/util/Exception.h>

#include <execinfo.h>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace reftorch::c10 {

Error::Error(std::string msg) : msg_(std::move(msg)), frames_(current_frames()) {}

Frames current_frames() {
  static const bool shown = [] {
    const char* value = std::getenv("TORCH_SHOW_CPP_STACKTRACES");
    return value != nullptr && std::string_view(value) == "1";
  }();
  Frames frames(shown ? 64 : 0);
  if (shown) {
    frames.resize(static_cast<size_t>(backtrace(frames.data(), static_cast<int>(frames.size()))));
  }
  return frames;
}

static WarningHandler warning_handler = nullptr;

void set_warning_handler(WarningHandler handler) {
  warning_handler = handler;
}

void warn(const std::string& msg, bool once) {
  if (warning_handler != nullptr) {
    warning_handler(msg, once);
  } else {
    std::cerr << "Warning: " << msg << std::endl;
  }
}

} // namespace reftorch::c10
