// Mirrors: nothing in PyTorch, which checks with `assert`.
// The check of an index in ArrayRef and SmallVector. It costs a comparison where an element is read, so only the builds
// without NDEBUG have it (Debug, Sanitize and Tsan).
#pragma once

#include <c10/macros/Export.h>

#include <cstddef>

namespace reftorch::c10 {

// Throws std::logic_error, which Python sees as RuntimeError: an index out of bounds is a mistake in our code.
[[noreturn]] C10_API void report_out_of_bounds(size_t index, size_t size);

#ifdef NDEBUG
inline void check_bounds(size_t, size_t) {}
#else
inline void check_bounds(size_t index, size_t size) {
  if (__builtin_expect(index >= size, 0)) {
    report_out_of_bounds(index, size);
  }
}
#endif

} // namespace reftorch::c10
