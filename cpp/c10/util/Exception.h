// Mirrors: c10/util/Exception.h
//
// The error types that become Python exceptions, and the macros TORCH_CHECK and TORCH_WARN. Left out: lazily
// formatted messages, warning categories other than UserWarning.
#pragma once

#include <c10/macros/Export.h>

#include <exception>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace reftorch::c10 {

// The addresses of the C++ frames of this thread, the innermost first; none unless the environment has
// TORCH_SHOW_CPP_STACKTRACES=1. csrc/Exceptions.cpp adds their names to the message that Python sees.
using Frames = std::vector<void*>;
C10_API Frames current_frames();

// The base of every error that the library throws. Python sees it as RuntimeError; csrc/Exceptions.cpp maps each type
// below.
class C10_API Error : public std::exception {
 public:
  explicit Error(std::string msg);
  const char* what() const noexcept override {
    return msg_.c_str();
  }
  const std::string& msg() const {
    return msg_;
  }
  const Frames& frames() const {
    return frames_;
  }

 private:
  std::string msg_;
  Frames frames_; // see current_frames
};

class C10_API IndexError : public Error {
  using Error::Error;
};
class C10_API ValueError : public Error {
  using Error::Error;
};
class C10_API TypeError : public Error {
  using Error::Error;
};
class C10_API NotImplementedError : public Error {
  using Error::Error;
};
// A matrix has no inverse, no factorization or no solution. Python sees torch.linalg.LinAlgError.
class C10_API LinAlgError : public Error {
  using Error::Error;
};
class C10_API OutOfMemoryError : public Error {
  using Error::Error;
};
// A function of a device's library failed. Python sees torch.AcceleratorError, with the number of the library's error.
class C10_API AcceleratorError : public Error {
 public:
  AcceleratorError(int error_code, std::string message) : Error(std::move(message)), error_code_(error_code) {}
  int error_code() const {
    return error_code_;
  }

 private:
  int error_code_;
};

// Called with each warning. csrc/Exceptions.cpp sets a handler that calls Python's warnings.warn; without a handler,
// warnings go to stderr. The handler may throw, because a Python program can turn warnings into errors.
// `once` asks the handler to drop a text that it has seen before in this program.
using WarningHandler = void (*)(const std::string& msg, bool once);
C10_API void set_warning_handler(WarningHandler handler);
C10_API void warn(const std::string& msg, bool once = false);

template <typename... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

namespace detail {
// These functions put the message together and throw it. Because they are never inlined, a check adds only a comparison
// and a rarely taken branch to its function, and the function needs no room on its stack for the message.
template <typename ErrorType, typename... Args>
[[noreturn, gnu::cold, gnu::noinline]] void torchCheckFail(const Args&... args) {
  throw ErrorType(str(args...));
}
template <typename... Args>
[[noreturn, gnu::cold, gnu::noinline]] void torchInternalAssertFail(const char* file, int line, const char* condition,
                                                                    const Args&... args) {
  throw Error(
      str(condition, " INTERNAL ASSERT FAILED at ", file, ":", line, ", please report a bug to reftorch. ", args...));
}
} // namespace detail

} // namespace reftorch::c10

#define TORCH_CHECK_WITH(error_t, cond, ...)                                          \
  do {                                                                                \
    if (!(cond)) {                                                                    \
      ::reftorch::c10::detail::torchCheckFail<::reftorch::c10::error_t>(__VA_ARGS__); \
    }                                                                                 \
  } while (false)

#define TORCH_CHECK(cond, ...) TORCH_CHECK_WITH(Error, cond, __VA_ARGS__)
#define TORCH_CHECK_INDEX(cond, ...) TORCH_CHECK_WITH(IndexError, cond, __VA_ARGS__)
#define TORCH_CHECK_VALUE(cond, ...) TORCH_CHECK_WITH(ValueError, cond, __VA_ARGS__)
#define TORCH_CHECK_TYPE(cond, ...) TORCH_CHECK_WITH(TypeError, cond, __VA_ARGS__)
#define TORCH_CHECK_LINALG(cond, ...) TORCH_CHECK_WITH(LinAlgError, cond, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(cond, ...) TORCH_CHECK_WITH(NotImplementedError, cond, __VA_ARGS__)

#define TORCH_WARN(...) ::reftorch::c10::warn(::reftorch::c10::str(__VA_ARGS__))
// Warns once in a program for each text, or each time after torch.set_warn_always(True).
#define TORCH_WARN_ONCE(...) ::reftorch::c10::warn(::reftorch::c10::str(__VA_ARGS__), /*once=*/true)

// Checks a condition that only a mistake in the library can break, never the caller. It is checked in every build, and
// the error names the file and line.
#define TORCH_INTERNAL_ASSERT(cond, ...)                                                          \
  do {                                                                                            \
    if (!(cond)) {                                                                                \
      ::reftorch::c10::detail::torchInternalAssertFail(__FILE__, __LINE__, #cond, ##__VA_ARGS__); \
    }                                                                                             \
  } while (false)
