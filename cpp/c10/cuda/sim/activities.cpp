// Mirrors: nothing in PyTorch: what CUPTI, NVIDIA's library for profilers, tells of a GPU
#include <c10/cuda/sim/activities.h>

#include <map>
#include <memory>
#include <utility>

namespace cudasim {
namespace {

struct Recorded {
  Activity activity;
  std::atomic<bool> ended{false}; // set after the times are written
};

struct Recording {
  explicit Recording(CallHooks hooks_) : hooks(hooks_) {}
  const CallHooks hooks;
  std::mutex mutex; // protects what follows
  std::vector<std::shared_ptr<Recorded>> operations;
  std::map<const CUstream_st*, int> streams;
};

// Threads read the pointer without a lock, while another thread ends the recording: by atomic operations only.
std::shared_ptr<Recording> current;
// Without a recording, this is all that a call looks at.
std::atomic<bool> is_recording{false};

thread_local int64_t this_call = -1; // the number of the call in which the thread is
thread_local bool in_call = false;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace

void start_activities(CallHooks hooks) {
  std::atomic_store(&current, std::make_shared<Recording>(hooks));
  is_recording = true;
}

std::vector<Activity> stop_activities() {
  is_recording = false;
  std::vector<Activity> result;
  const std::shared_ptr<Recording> done = std::atomic_exchange(&current, std::shared_ptr<Recording>());
  if (done == nullptr) {
    return result;
  }
  std::map<const void*, std::string> names; // a kernel's name takes long to find
  const std::lock_guard<std::mutex> lock(done->mutex);
  for (const auto& recorded : done->operations) {
    if (recorded->ended) {
      Activity activity = recorded->activity;
      if (const void* function = activity.about.function) {
        std::string& name = names[function];
        if (name.empty()) {
          name = function_name(function);
        }
        activity.name = name;
      }
      result.push_back(std::move(activity));
    }
  }
  return result;
}

ApiCall::ApiCall(const char* name) {
  if (!is_recording || in_call) {
    return;
  }
  if (const std::shared_ptr<Recording> recording = std::atomic_load(&current)) {
    this_call = recording->hooks.begin(name);
    end_ = recording->hooks.end;
    in_call = true;
  }
}
ApiCall::~ApiCall() {
  if (end_ != nullptr) {
    end_(this_call);
    this_call = -1;
    in_call = false;
  }
}

void record_activity(Operation& operation, const CUstream_st& stream) {
  const std::shared_ptr<Recording> recording = is_recording ? std::atomic_load(&current) : nullptr;
  if (recording == nullptr || operation.what == nullptr) {
    return;
  }
  const auto recorded = std::make_shared<Recorded>();
  recorded->activity.about = operation.about;
  recorded->activity.name = operation.about.name != nullptr ? operation.about.name : operation.what;
  recorded->activity.device = stream.device->index;
  recorded->activity.call = this_call;
  {
    const std::lock_guard<std::mutex> lock(recording->mutex);
    const auto next = static_cast<int>(recording->streams.size()) + 1;
    recorded->activity.stream = stream.is_default ? 0 : recording->streams.emplace(&stream, next).first->second;
    recording->operations.push_back(recorded);
  }
  operation.run = [recorded, run = std::move(operation.run)](unsigned long number) {
    recorded->activity.start_ns = now_ns();
    run(number);
    recorded->activity.end_ns = now_ns();
    recorded->ended = true;
  };
}

} // namespace cudasim
