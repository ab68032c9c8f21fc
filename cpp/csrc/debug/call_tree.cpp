// Mirrors: nothing in PyTorch: its profiler (torch/csrc/profiler) records ops, not functions.
//
// Records the calls of functions as trees. Left out: times, which would mislead in a Debug build; arguments; functions
// outside this library.
#include <csrc/debug/call_tree.h>

#include <c10/util/Mutex.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <stdexcept>

namespace reftorch::torch::debug {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Note [Folding while recording]
// A kernel may call a function once per element, so a tree that kept every call would be as large as the tensors. When
// a call returns, its subtree is the tail of the preorder array. If the preceding sibling has an equal subtree, the
// tail is cut off and the count of the sibling goes up. So the memory depends on the shape of the program, not on the
// number of calls.
class Recorder {
 public:
  explicit Recorder(std::size_t max_calls) : max_calls_(max_calls) {}

  void enter(std::uintptr_t function) {
    std::lock_guard<c10::Mutex> lock(mutex_);
    if (result_.calls.size() >= max_calls_) {
      result_.lost++;
      open_.push_back({function, kNone, kNone});
      return;
    }
    open_.push_back({function, result_.calls.size(), kNone});
    result_.calls.push_back({function, static_cast<std::uint32_t>(open_.size() - 1), 1});
  }

  void exit(std::uintptr_t function) {
    std::lock_guard<c10::Mutex> lock(mutex_);
    // The innermost open call may differ from `function`: the recording may have begun inside this call, or a foreign
    // exception may have skipped exits.
    const bool known = std::any_of(open_.begin(), open_.end(), [&](const Open& o) { return o.function == function; });
    while (known && !open_.empty()) {
      const Open last = open_.back();
      open_.pop_back();
      fold(last);
      if (last.function == function) {
        break;
      }
    }
  }

  ThreadCalls take() {
    std::lock_guard<c10::Mutex> lock(mutex_);
    return std::move(result_);
  }

 private:
  struct Open {
    std::uintptr_t function;
    std::size_t start;      // the index of the call in the result, kNone if the call is lost
    std::size_t last_child; // the index of the last child that has returned
  };

  void fold(const Open& call) {
    std::size_t& previous = open_.empty() ? last_root_ : open_.back().last_child;
    if (call.start == kNone) {
      return;
    }
    auto& calls = result_.calls;
    const std::size_t size = calls.size() - call.start;
    if (previous != kNone && call.start - previous == size && calls[previous].function == call.function &&
        std::equal(calls.begin() + previous + 1, calls.begin() + call.start, calls.begin() + call.start + 1, same)) {
      calls[previous].count++;
      calls.resize(call.start);
    } else {
      previous = call.start;
    }
  }

  static bool same(const Call& a, const Call& b) {
    return a.function == b.function && a.depth == b.depth && a.count == b.count;
  }

  const std::size_t max_calls_;
  c10::Mutex mutex_; // a worker thread may still run when the recording is taken
  ThreadCalls result_;
  std::vector<Open> open_;
  std::size_t last_root_ = kNone;
};

struct Recording {
  c10::Mutex mutex;
  std::size_t max_calls = 0;
  std::vector<std::shared_ptr<Recorder>> recorders;
};

// Never destroyed: threads may report while the process exits.
Recording& recording() {
  static auto* r = new Recording;
  return *r;
}

bool enabled = false; // only __atomic builtins access the flag: at -O0 the members of std::atomic are calls
std::atomic<std::uint64_t> generation{0};

struct ThreadState {
  std::shared_ptr<Recorder> recorder;
  std::uint64_t generation = 0;
};
thread_local ThreadState* state = nullptr;
thread_local bool busy = false; // calls that the recorder itself makes must not be recorded

std::shared_ptr<Recorder> recorder_of_this_thread() {
  // The state is leaked, a few bytes for each recorded thread: a thread_local object with a destructor could be
  // destroyed while other destructors of the thread still report.
  if (!state) {
    state = new ThreadState;
  }
  const auto current = generation.load(std::memory_order_acquire);
  if (state->generation != current) {
    std::lock_guard<c10::Mutex> lock(recording().mutex);
    state->recorder = std::make_shared<Recorder>(recording().max_calls);
    state->generation = current;
    recording().recorders.push_back(state->recorder);
  }
  return state->recorder;
}

template <class Report>
void report(Report&& f) {
  if (busy) {
    return;
  }
  busy = true;
  f(*recorder_of_this_thread());
  busy = false;
}

} // namespace

void start_call_tree(std::size_t max_calls) {
  {
    std::lock_guard<c10::Mutex> lock(recording().mutex);
    if (__atomic_load_n(&enabled, __ATOMIC_RELAXED)) {
      throw std::logic_error("call_tree: a recording is running already; recordings do not nest");
    }
    recording().max_calls = max_calls;
    recording().recorders.clear();
    generation.fetch_add(1, std::memory_order_release);
  }
  report([](Recorder&) {}); // the caller's thread comes first
  __atomic_store_n(&enabled, true, __ATOMIC_RELEASE);
}

std::vector<ThreadCalls> stop_call_tree() {
  __atomic_store_n(&enabled, false, __ATOMIC_RELEASE);
  std::lock_guard<c10::Mutex> lock(recording().mutex);
  std::vector<ThreadCalls> trees;
  for (auto& recorder : recording().recorders) {
    trees.push_back(recorder->take());
  }
  recording().recorders.clear();
  return trees;
}

void enter_call(std::uintptr_t function) {
  if (__atomic_load_n(&enabled, __ATOMIC_RELAXED)) {
    report([&](Recorder& r) { r.enter(function); });
  }
}

void exit_call(std::uintptr_t function) {
  if (__atomic_load_n(&enabled, __ATOMIC_RELAXED)) {
    report([&](Recorder& r) { r.exit(function); });
  }
}

} // namespace reftorch::torch::debug

// Note [libc has the hooks too]
// libc exports empty functions with the names of the hooks, and the dynamic linker would choose these. So the library
// is linked with -Bsymbolic-functions, which binds our calls to our definitions.

// The hooks are optimized in every build: at -O0 the test of the flag would cost three times as much.
#define REFTORCH_HOOK extern "C" __attribute__((no_instrument_function, optimize("O2"), used)) void

REFTORCH_HOOK __cyg_profile_func_enter(void* function, void*) {
  if (__builtin_expect(__atomic_load_n(&reftorch::torch::debug::enabled, __ATOMIC_RELAXED), false)) {
    reftorch::torch::debug::enter_call(reinterpret_cast<std::uintptr_t>(function));
  }
}

REFTORCH_HOOK __cyg_profile_func_exit(void* function, void*) {
  if (__builtin_expect(__atomic_load_n(&reftorch::torch::debug::enabled, __ATOMIC_RELAXED), false)) {
    reftorch::torch::debug::exit_call(reinterpret_cast<std::uintptr_t>(function));
  }
}
