// Mirrors: aten/src/ATen/Parallel.h
// Splitting a range over threads. Left out: inter-op threads, native thread pools, TBB.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/FunctionRef.h>

#include <algorithm>
#include <cstdint>

namespace reftorch::at::internal {
// Below this many elements one thread is quicker than waking another.
constexpr int64_t GRAIN_SIZE = 32768;
} // namespace reftorch::at::internal

namespace reftorch::at {

TORCH_API int get_num_threads();
// ValueError for less than one.
TORCH_API void set_num_threads(int n);

// How many pieces of `elements` each are worth a thread.
inline int64_t grain_of(int64_t elements) {
  return std::max<int64_t>(1, internal::GRAIN_SIZE / std::max<int64_t>(1, elements));
}

// Calls f(lo, hi) for consecutive parts of [begin, end) of at least `grain` each. An exception in any part is rethrown
// here, once all are done.
TORCH_API void parallel_for(int64_t begin, int64_t end, int64_t grain, c10::function_ref<void(int64_t, int64_t)> f);

} // namespace reftorch::at
