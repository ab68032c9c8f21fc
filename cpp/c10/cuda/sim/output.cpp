// Mirrors: nothing in PyTorch: what a kernel prints, and its failed assertions
//
// Kernels that are compiled at run time call these functions for `printf` and `assert`. Output is collected and written
// after the kernel, as CUDA's is, so that lines of different host threads are not mixed. A kernel that prints more than
// kMost bytes writes earlier.
#include <c10/cuda/sim/runtime.h>

#include <kernel_source.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cudasim {

constexpr size_t kMost = 64 << 10;

static thread_local std::string printed;

void write_output() {
  if (!printed.empty()) {
    std::fwrite(printed.data(), 1, printed.size(), stdout);
    printed.clear();
  }
  std::fflush(stdout);
}

} // namespace cudasim

using namespace cudasim;

int cudasim_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!in_kernel()) { // host code of the same text
    const int written = std::vprintf(format, arguments);
    va_end(arguments);
    return written;
  }
  enter_simulator();
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  if (length > 0) {
    std::vector<char> text(static_cast<size_t>(length) + 1);
    std::vsnprintf(text.data(), text.size(), format, again);
    printed.append(text.data(), static_cast<size_t>(length));
    if (printed.size() > kMost) {
      write_output();
    }
  }
  va_end(again);
  va_end(arguments);
  leave_simulator();
  return length;
}

void cudasim_exit(int code, const char* file, int line) {
  if (in_kernel()) {
    fail_kernel(cudaErrorLaunchFailure, "exit() would end the process; a thread of a kernel ends by `return`", file,
                line, __builtin_return_address(0));
  }
  std::exit(code);
}

void cudasim_assert_fail(const char* assertion, const char* file, unsigned line, const char* function) noexcept {
  if (in_kernel()) {
    char text[512];
    std::snprintf(text, sizeof text, "Assertion `%s` failed.", assertion);
    fail_kernel(cudaErrorAssert, text, file, static_cast<int>(line), __builtin_return_address(0));
  }
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
  std::abort();
}
