// Mirrors: c10/util/Exception.cpp
//
// Left out: backtraces, warning handlers of one thread or one scope.
#include <c10/util/Exception.h>

#include <iostream>

namespace reftorch::c10 {

static WarningHandler warning_handler = nullptr;

void set_warning_handler(WarningHandler handler) {
  warning_handler = handler;
}

void warn(const std::string& msg) {
  if (warning_handler != nullptr) {
    warning_handler(msg);
  } else {
    std::cerr << "Warning: " << msg << std::endl;
  }
}

} // namespace reftorch::c10
