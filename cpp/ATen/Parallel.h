// Mirrors: aten/src/ATen/Parallel.h
//
// Splits a range over threads. Left out: inter-op threads, native thread pools, TBB.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/FunctionRef.h>

#include <algorithm>
#include <cstdint>

namespace reftorch::at::internal {
// With fewer elements than this, one thread is faster than waking another thread.
constexpr int64_t GRAIN_SIZE = 32768;
} // namespace reftorch::at::internal

namespace reftorch::at {

TORCH_API int get_num_threads();
// Raises RuntimeError if n is less than one.
TORCH_API void set_num_threads(int n);

// Returns the grain for parallel_for if each step of the range handles `elements` elements: the number of steps that
// are worth a thread, at least one.
inline int64_t grain_of(int64_t elements) {
  return std::max<int64_t>(1, internal::GRAIN_SIZE / std::max<int64_t>(1, elements));
}

// Calls f(lo, hi) for consecutive parts of [begin, end), each with at least `grain` steps, on several threads. If f
// throws in one of the parts, the exception is rethrown here when all parts are done. In the child of a fork, one
// thread does all the work until the child calls set_num_threads; see Note [Fork].
TORCH_API void parallel_for(int64_t begin, int64_t end, int64_t grain, c10::function_ref<void(int64_t, int64_t)> f);

} // namespace reftorch::at
