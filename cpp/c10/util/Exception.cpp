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

namespace detail {

template <typename ErrorType>
void torchCheckFail(const char* /*file*/, int /*line*/, const std::string& msg) {
  throw ErrorType(msg);
}

template void torchCheckFail<Error>(const char*, int, const std::string&);
template void torchCheckFail<IndexError>(const char*, int, const std::string&);
template void torchCheckFail<ValueError>(const char*, int, const std::string&);
template void torchCheckFail<TypeError>(const char*, int, const std::string&);
template void torchCheckFail<NotImplementedError>(const char*, int, const std::string&);
template void torchCheckFail<LinAlgError>(const char*, int, const std::string&);
template void torchCheckFail<OutOfMemoryError>(const char*, int, const std::string&);

void torchInternalAssertFail(const char* file, int line, const char* condition, const std::string& msg) {
  throw Error(
      str(condition, " INTERNAL ASSERT FAILED at ", file, ":", line, ", please report a bug to reftorch. ", msg));
}

} // namespace detail
} // namespace reftorch::c10
