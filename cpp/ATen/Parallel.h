// Mirrors: aten/src/ATen/Parallel.h
// Splitting a range over threads. Left out: inter-op threads, native thread pools, TBB.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace reftorch::at::internal {
// Below this many elements one thread is quicker than waking another.
constexpr int64_t GRAIN_SIZE = 32768;
} // namespace reftorch::at::internal

namespace reftorch::at {

TORCH_API int get_num_threads();
// ValueError for less than one.
TORCH_API void set_num_threads(int n);
// Inside parallel_for, where a nested one runs on its caller's thread.
TORCH_API bool in_parallel_region();

// Calls f(lo, hi) for consecutive parts of [begin, end) of at least `grain` each. An exception in any part is rethrown
// here, once all are done.
TORCH_API void parallel_for(int64_t begin, int64_t end, int64_t grain, c10::function_ref<void(int64_t, int64_t)> f);

} // namespace reftorch::at
