// Mirrors: aten/src/ATen/ParallelOpenMP.cpp
#include <ATen/Parallel.h>

#include <c10/util/Exception.h>
#include <c10/util/LongWork.h>
#include <c10/util/thread_name.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace reftorch::at {

static std::atomic<int> num_threads{0};
static thread_local bool in_region = false;
// True in the child of a fork on the thread that called fork(). OpenMP would wait for this thread's team, whose other
// threads exist only in the parent. New threads of the child have no team yet and get a new one.
static thread_local bool has_lost_its_team = false;

// Makes the child compute with one thread until it asks for more; see Note [Fork].
static void after_fork_in_child() {
  num_threads = 1;
  has_lost_its_team = true;
}
static const int parallel_atfork_registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);

static const char* const kHelperName = "pt_parallel_for";

// Names this thread, which OpenMP has made and keeps, at its first part.
[[maybe_unused]] static void name_helper() {
  static thread_local bool is_named = false;
  if (!std::exchange(is_named, true)) {
    c10::setThreadName(kHelperName);
  }
}

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

// Calls run(part) for each part, on new threads and on this thread.
static void run_on_new_threads(int64_t parts, c10::function_ref<void(int64_t)> run) {
  std::vector<std::thread> threads;
  int64_t part = 1;
  try {
    for (; part < parts; part++) {
      threads.emplace_back([run, part] {
        c10::setThreadName(kHelperName);
        run(part);
      });
    }
  } catch (const std::system_error&) {
    // The system gives no more threads, so this thread does the rest.
  }
  for (; part < parts; part++) {
    run(part);
  }
  run(0);
  for (std::thread& thread : threads) {
    thread.join();
  }
}

static void run_on_team(int64_t parts, c10::function_ref<void(int64_t)> run) {
#pragma omp parallel for num_threads(static_cast<int>(parts)) schedule(static, 1)
  for (int64_t part = 0; part < parts; part++) {
#ifdef _OPENMP
    if (omp_get_thread_num() != 0) { // 0 is the thread that called
      name_helper();
    }
#endif
    run(part);
  }
}

void parallel_for(int64_t begin, int64_t end, int64_t grain, c10::function_ref<void(int64_t, int64_t)> f) {
  if (begin >= end) {
    return;
  }
  const int64_t count = end - begin;
  const int64_t worthwhile = (count + grain - 1) / std::max<int64_t>(grain, 1);
  if (worthwhile > 1) {
    c10::LongWork::begin();
  }
  const int64_t parts = std::min<int64_t>(get_num_threads(), worthwhile);
  if (parts <= 1 || in_region) {
    f(begin, end);
    return;
  }
  const int64_t step = (count + parts - 1) / parts;
  std::exception_ptr error;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
  const auto run_part = [&](int64_t part) {
    const int64_t lo = begin + part * step, hi = std::min(end, lo + step);
    if (lo >= hi) {
      return;
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
  };
  if (has_lost_its_team) {
    run_on_new_threads(parts, run_part);
  } else {
    run_on_team(parts, run_part);
  }
  if (error) {
    std::rethrow_exception(error);
  }
}

} // namespace reftorch::at
