// Mirrors: aten/src/ATen/Parallel.h
// Splitting a range over threads. Left out: inter-op threads, native thread pools, TBB.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/FunctionRef.h>

#include <algorithm>
#include <cstdint>

namespace reftorch::at::internal {
// With fewer elements than this, one thread is quicker than waking another one.
constexpr int64_t GRAIN_SIZE = 32768;
} // namespace reftorch::at::internal

namespace reftorch::at {

TORCH_API int get_num_threads();
// ValueError for less than one.
TORCH_API void set_num_threads(int n);

// The grain for parallel_for where each step of the range handles `elements` elements: as many steps as are worth a
// thread, and at least one.
inline int64_t grain_of(int64_t elements) {
  return std::max<int64_t>(1, internal::GRAIN_SIZE / std::max<int64_t>(1, elements));
}

// Calls f(lo, hi) for consecutive parts of [begin, end), each with at least `grain` steps, on several threads. An
// exception that f throws in any part is rethrown here when all parts are done. In the child of a fork one thread does
// everything, unless the child calls set_num_threads; see Note [Fork].
TORCH_API void parallel_for(int64_t begin, int64_t end, int64_t grain, c10::function_ref<void(int64_t, int64_t)> f);

} // namespace reftorch::at
