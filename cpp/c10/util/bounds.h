// Mirrors: nothing in PyTorch, which checks with `assert`.
//
// The bounds check of ArrayRef and SmallVector. The check costs a comparison at every read of an element, so only
// builds without NDEBUG make it (Debug, Sanitize and Tsan).
#pragma once

#include <c10/macros/Export.h>

#include <cstddef>

namespace reftorch::c10 {

// Throws std::logic_error, which Python sees as RuntimeError: an index out of range is a mistake in the library.
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
