// Mirrors: aten/src/ATen/ParallelOpenMP.cpp
#include <ATen/Parallel.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace reftorch::at {

static std::atomic<int> num_threads{0};
static thread_local bool in_region = false;

static int default_num_threads() {
#ifdef _OPENMP
  return omp_get_max_threads(); // honours OMP_NUM_THREADS
#else
  return 1;
#endif
}

int get_num_threads() {
  const int n = num_threads.load();
  return n > 0 ? n : default_num_threads();
}

void set_num_threads(int n) {
  TORCH_CHECK(n > 0, "set_num_threads expects a positive integer, got ", n);
  num_threads = n;
}

void parallel_for(int64_t begin, int64_t end, int64_t grain, c10::function_ref<void(int64_t, int64_t)> f) {
  if (begin >= end) {
    return;
  }
  const int64_t count = end - begin;
  const int64_t parts = std::min<int64_t>(get_num_threads(), (count + grain - 1) / std::max<int64_t>(grain, 1));
  if (parts <= 1 || in_region) {
    f(begin, end);
    return;
  }
  const int64_t step = (count + parts - 1) / parts;
  std::exception_ptr error;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel for num_threads(static_cast<int>(parts)) schedule(static, 1)
  for (int64_t part = 0; part < parts; part++) {
    const int64_t lo = begin + part * step, hi = std::min(end, lo + step);
    if (lo >= hi) {
      continue;
    }
    const bool was_in_region = std::exchange(in_region, true);
    try {
      f(lo, hi);
    } catch (...) { // an exception must not leave an OpenMP region
      if (!failed.test_and_set()) {
        error = std::current_exception();
      }
    }
    in_region = was_in_region;
  }
  if (error) {
    std::rethrow_exception(error);
  }
}

} // namespace reftorch::at
