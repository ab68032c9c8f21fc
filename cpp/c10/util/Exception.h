// Mirrors: c10/util/Exception.h
// The error types that cross into Python, TORCH_CHECK and TORCH_WARN. Left out: C++ backtraces, the check's lazily
// formatted form, kinds of warnings other than the user's.
#pragma once

#include <c10/macros/Export.h>

#include <exception>
#include <sstream>
#include <string>

namespace reftorch::c10 {

// The base of every error we throw; it becomes Python's RuntimeError (csrc/Exceptions.cpp maps each type below).
class C10_API Error : public std::exception {
 public:
  explicit Error(std::string msg) : msg_(std::move(msg)) {}
  const char* what() const noexcept override {
    return msg_.c_str();
  }
  const std::string& msg() const {
    return msg_;
  }

 private:
  std::string msg_;
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
// A matrix has no inverse, no factor, no solution: torch.linalg.LinAlgError.
class C10_API LinAlgError : public Error {
  using Error::Error;
};
class C10_API OutOfMemoryError : public Error {
  using Error::Error;
};

// A warning goes to stderr, or to the handler: csrc/Exceptions.cpp sets one that calls Python's warnings.warn. A
// handler may throw, for Python may be told to make errors of warnings.
using WarningHandler = void (*)(const std::string& msg);
C10_API void set_warning_handler(WarningHandler handler);
C10_API void warn(const std::string& msg);

template <typename... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

namespace detail {
// Out of line so that the check itself costs its caller one compare and one cold call.
template <typename ErrorType>
[[noreturn]] C10_API void torchCheckFail(const char* file, int line, const std::string& msg);
[[noreturn]] C10_API void torchInternalAssertFail(const char* file, int line, const char* condition,
                                                  const std::string& msg);
} // namespace detail

} // namespace reftorch::c10

#define TORCH_CHECK_WITH(error_t, cond, ...)                                                                \
  do {                                                                                                      \
    if (!(cond)) {                                                                                          \
      ::reftorch::c10::detail::torchCheckFail<::reftorch::c10::error_t>(__FILE__, __LINE__,                 \
                                                                        ::reftorch::c10::str(__VA_ARGS__)); \
    }                                                                                                       \
  } while (false)

#define TORCH_CHECK(cond, ...) TORCH_CHECK_WITH(Error, cond, __VA_ARGS__)
#define TORCH_CHECK_INDEX(cond, ...) TORCH_CHECK_WITH(IndexError, cond, __VA_ARGS__)
#define TORCH_CHECK_VALUE(cond, ...) TORCH_CHECK_WITH(ValueError, cond, __VA_ARGS__)
#define TORCH_CHECK_TYPE(cond, ...) TORCH_CHECK_WITH(TypeError, cond, __VA_ARGS__)
#define TORCH_CHECK_LINALG(cond, ...) TORCH_CHECK_WITH(LinAlgError, cond, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(cond, ...) TORCH_CHECK_WITH(NotImplementedError, cond, __VA_ARGS__)

#define TORCH_WARN(...) ::reftorch::c10::warn(::reftorch::c10::str(__VA_ARGS__))

// A broken promise of our own, never of the caller: always checked, it names the file and line.
#define TORCH_INTERNAL_ASSERT(cond, ...)                                                                              \
  do {                                                                                                                \
    if (!(cond)) {                                                                                                    \
      ::reftorch::c10::detail::torchInternalAssertFail(__FILE__, __LINE__, #cond, ::reftorch::c10::str(__VA_ARGS__)); \
    }                                                                                                                 \
  } while (false)
