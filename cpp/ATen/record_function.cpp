// Mirrors: aten/src/ATen/record_function.cpp, torch/csrc/autograd/profiler_kineto.cpp
#include <ATen/record_function.h>

#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/library.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Mutex.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace reftorch::at {
ProfilerHooks profiler_hooks;

using Clock = std::chrono::steady_clock;

struct Recording {
  explicit Recording(ProfilerConfig config_) : config(config_) {}
  int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began).count();
  }

  const ProfilerConfig config;
  const Clock::time_point began = Clock::now();
  c10::Mutex mutex; // needed because a backward pass may move to another thread, which then records too
  std::vector<RecordedEvent> events;
  int64_t num_threads = 0;
};

namespace {

// Read by threads that profile, without the GIL, while another thread may end the profile: by atomic operations only.
std::shared_ptr<Recording> current;

std::shared_ptr<Recording> current_recording() {
  return std::atomic_load(&current);
}

// The observer of the calling thread, which the threads share that run its backward passes. So no other thread can take
// an observer away while it is called.
thread_local std::shared_ptr<OpObserver> op_observer;

std::shared_ptr<OpObserver> get_op_observer() {
  return op_observer;
}
void put_op_observer(const std::shared_ptr<OpObserver>& observer) {
  op_observer = observer;
}
const RegisterThreadLocal<&get_op_observer, &put_op_observer> register_op_observer("record_function.cpp: op_observer");

struct ThreadRecording {
  std::weak_ptr<Recording> of;
  int64_t number = 0;
  std::vector<int64_t> open; // the events that have not ended, the innermost last
};
thread_local ThreadRecording this_thread;

int64_t allocated_bytes() {
  return static_cast<int64_t>(c10::getCPUMemoryStats().allocated_bytes);
}

std::vector<DimVector> shapes_of(const OperatorEntry& entry, const Stack& stack) {
  std::vector<DimVector> shapes;
  const IValue* args = stack.end() - entry.schema.arguments.size();
  for (uint8_t i : entry.tensor_args) {
    if (args[i].isTensor()) {
      shapes.emplace_back(args[i].toTensor().sizes());
    } else if (args[i].isTensorList()) {
      for (const Tensor& t : args[i].toTensorVector()) {
        shapes.emplace_back(t.defined() ? t.sizes() : IntArrayRef());
      }
    }
  }
  return shapes;
}

void call_observed(OpObserver& observer, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const auto unobserved = [](auto&& callback) {
    const c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::Profiler);
    callback();
  };
  unobserved([&] { observer.start(op, *stack); });
  try {
    op.redispatchBoxed(keys, stack);
  } catch (...) {
    unobserved([&] { observer.end(op, nullptr); });
    throw;
  }
  unobserved([&] { observer.end(op, stack); });
}

void profiler_fallback(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const autocast::Casts casts(op, stack); // see Note [Autocast]
  if (const std::shared_ptr<OpObserver> observer = op_observer; observer != nullptr) {
    call_observed(*observer, op, keys - c10::DispatchKey::Profiler, stack);
    return;
  }
  if (!autocast::profiler_needs_key()) {
    op.redispatchBoxed(keys - c10::DispatchKey::Profiler, stack);
    return;
  }
  const bool may_be_recorded = keys.has(c10::DispatchKey::Autograd) && profiler_hooks.next_sequence_nr != nullptr;
  const std::shared_ptr<Recording> recording = current_recording();
  const ProfilerConfig config = recording != nullptr ? recording->config : ProfilerConfig{};
  const RecordFunction record(
      op.schema().qualified_name(), may_be_recorded ? profiler_hooks.next_sequence_nr() : -1, false,
      config.record_shapes ? shapes_of(op.entry(), *stack) : std::vector<DimVector>(),
      config.with_flops && profiler_hooks.flops != nullptr ? profiler_hooks.flops(op, *stack) : 0);
  op.redispatchBoxed(keys - c10::DispatchKey::Profiler, stack);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.fallback(c10::DispatchKey::Profiler, &profiler_fallback);
}

} // namespace

int64_t enable_profiler(ProfilerConfig config) {
  TORCH_CHECK(current_recording() == nullptr,
              "Can't enable the profiler: it runs already. Hint: profile() does not nest.");
  TORCH_CHECK(op_observer == nullptr,
              "Can't enable the profiler: a debugging tool observes the ops. Hint: leave its block.");
  const auto recording = std::make_shared<Recording>(config);
  std::atomic_store(&current, recording);
  autocast::set_profiler_needs_key(true);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(recording->began.time_since_epoch()).count();
}

std::vector<RecordedEvent> disable_profiler() {
  const std::shared_ptr<Recording> done = std::atomic_exchange(&current, std::shared_ptr<Recording>());
  TORCH_CHECK(done != nullptr, "Can't disable the profiler when it's not running");
  autocast::set_profiler_needs_key(false);
  std::lock_guard<c10::Mutex> lock(done->mutex);
  for (RecordedEvent& event : done->events) {
    event.end_ns = event.end_ns < 0 ? done->now() : event.end_ns;
  }
  return std::move(done->events);
}

void set_op_observer(std::shared_ptr<OpObserver> observer) {
  TORCH_CHECK(op_observer == nullptr, "Can't observe the ops: another tool does already. Hint: leave its block first.");
  TORCH_CHECK(current_recording() == nullptr, "Can't observe the ops: the profiler runs. Hint: leave its block first.");
  op_observer = std::move(observer);
  autocast::set_profiler_needs_key(true);
}

void clear_op_observer() {
  // The observer dies last: its end may run Python, which may set another observer.
  if (const std::shared_ptr<OpObserver> ended = std::exchange(op_observer, nullptr); ended != nullptr) {
    autocast::set_profiler_needs_key(false);
  }
}

bool RecordFunction::records_shapes() {
  const std::shared_ptr<Recording> recording = current_recording();
  return recording != nullptr && recording->config.record_shapes;
}

// Returns the recording that this thread takes part in, or null.
static std::shared_ptr<Recording> recording_of_thread() {
  std::shared_ptr<Recording> recording = current_recording();
  if (recording == nullptr || !autocast::profiler_needs_key() || op_observer != nullptr) {
    return nullptr;
  }
  std::lock_guard<c10::Mutex> lock(recording->mutex);
  if (this_thread.of.lock() != recording) {
    this_thread = {recording, recording->num_threads++, {}};
  }
  return recording;
}

// The bytes that the CPU's tensors have, and those of all devices. Allocators take locks, so no lock may be held.
static std::pair<int64_t, int64_t> memory_now() {
  return {allocated_bytes(), profiler_hooks.device_memory != nullptr ? profiler_hooks.device_memory() : 0};
}

// Adds the event to the recording of this thread, inside the events that are open, and returns its index.
static int64_t begin_event(Recording& recording, RecordedEvent event, bool count_memory) {
  if (recording.config.with_stack && profiler_hooks.python_stack != nullptr) {
    event.stack = profiler_hooks.python_stack();
  }
  if (count_memory) {
    const auto [cpu, device] = memory_now();
    event.cpu_memory = -cpu;
    event.device_memory = -device;
  }
  std::lock_guard<c10::Mutex> lock(recording.mutex);
  event.parent = this_thread.open.empty() ? -1 : this_thread.open.back();
  event.thread = this_thread.number;
  const auto index = static_cast<int64_t>(recording.events.size());
  this_thread.open.push_back(index);
  event.start_ns = recording.now();
  recording.events.push_back(std::move(event));
  return index;
}

static void end_event(int64_t index, bool count_memory) {
  const std::shared_ptr<Recording> recording = this_thread.of.lock();
  if (index < 0 || recording == nullptr) {
    return;
  }
  const int64_t end_ns = recording->now();
  count_memory = count_memory && recording->config.profile_memory;
  const auto [cpu, device] = count_memory ? memory_now() : std::pair<int64_t, int64_t>();
  std::lock_guard<c10::Mutex> lock(recording->mutex);
  while (!this_thread.open.empty() && this_thread.open.back() >= index) {
    this_thread.open.pop_back();
  }
  if (index < static_cast<int64_t>(recording->events.size())) { // otherwise the profiler was disabled during the event
    RecordedEvent& event = recording->events[static_cast<size_t>(index)];
    event.end_ns = end_ns;
    event.cpu_memory += cpu;
    event.device_memory += device;
  }
}

RecordFunction::RecordFunction(std::string name, int64_t sequence_nr, bool is_backward, std::vector<DimVector> shapes,
                               int64_t flops) {
  if (const std::shared_ptr<Recording> recording = recording_of_thread()) {
    RecordedEvent event;
    event.name = std::move(name);
    event.sequence_nr = sequence_nr;
    event.is_backward = is_backward;
    event.shapes = std::move(shapes);
    event.flops = flops;
    index_ = begin_event(*recording, std::move(event), recording->config.profile_memory);
  }
}

RecordFunction::~RecordFunction() {
  end_event(index_, true);
}

int64_t RecordFunction::begin(std::string name) {
  const std::shared_ptr<Recording> recording = is_enabled() ? recording_of_thread() : nullptr;
  RecordedEvent event;
  event.name = std::move(name);
  return recording != nullptr ? begin_event(*recording, std::move(event), false) : -1;
}

void RecordFunction::end(int64_t index) {
  end_event(index, false);
}

AsyncEvent::AsyncEvent(std::string name, std::vector<DimVector> shapes) {
  const std::shared_ptr<Recording> recording = recording_of_thread();
  if (recording == nullptr) {
    return;
  }
  recording_ = recording;
  std::lock_guard<c10::Mutex> lock(recording->mutex);
  RecordedEvent event;
  event.name = std::move(name);
  event.thread = this_thread.number;
  event.shapes = recording->config.record_shapes ? std::move(shapes) : std::vector<DimVector>();
  event.is_async = true;
  index_ = static_cast<int64_t>(recording->events.size());
  event.start_ns = recording->now();
  recording->events.push_back(std::move(event));
}

void AsyncEvent::end() {
  const std::shared_ptr<Recording> recording = recording_.lock();
  if (recording == nullptr) {
    return;
  }
  recording_.reset();
  const int64_t end = recording->now();
  std::lock_guard<c10::Mutex> lock(recording->mutex);
  if (index_ < static_cast<int64_t>(recording->events.size())) { // otherwise the profiler was disabled during the event
    recording->events[static_cast<size_t>(index_)].end_ns = end;
  }
}

} // namespace reftorch::at
