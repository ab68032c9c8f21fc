// Mirrors: nothing in PyTorch: the simulator's streams
//
// A stream is a queue of operations. Its worker thread starts with the first operation and runs one operation after the
// other.
#include <c10/cuda/sim/activities.h>
#include <c10/cuda/sim/observer.h>
#include <c10/cuda/sim/runtime.h>

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace cudasim {

thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;
static thread_local bool is_worker = false;

// The runtime is never destroyed, because workers may still run when the process ends.
Runtime& runtime() {
  static Runtime* const it = new Runtime;
  return *it;
}

// Note [The end of the process]
// Problem: kernels call libraries that end with the process. If a worker is inside a product of OpenBLAS while OpenBLAS
// joins its threads, both wait without end. Trick: a function that runs before the libraries end lets every worker
// finish the operation that it is running, and no further one. From then on, operations are dropped, and nobody waits
// for a stream: as on a GPU, work that nobody has waited for may be lost when the process ends. The guard ends kernels
// that take long: see Note [A kernel that never ends]. A process that does not run exit(), for example because of a
// signal, needs none of this.
static void end_streams() {
  Runtime& r = runtime();
  if (r.forked) {
    return; // this process has no workers
  }
  std::unique_lock<std::mutex> lock(r.mutex);
  r.ended = true;
  for (const auto& [handle, stream] : r.streams) {
    stream->work.notify_all();
  }
  r.progress.notify_all();
  r.progress.wait(lock, [&] { return r.running == 0; });
}

// Before a fork, OpenBLAS joins its threads too. So no worker runs an operation during a fork, and the mutex is locked,
// so that the child finds it in order. A worker that waits for another stream does not count, because the operation for
// which it waits may not have begun.
static void before_fork() {
  Runtime& r = runtime();
  std::unique_lock<std::mutex> lock(r.mutex);
  r.paused = true;
  r.progress.wait(lock, [&] { return r.running == 0; });
  lock.release();
  lock_guard_thread(true);
}
static void after_fork_in_parent() {
  Runtime& r = runtime();
  lock_guard_thread(false);
  r.paused = false;
  r.progress.notify_all();
  for (const auto& [handle, stream] : r.streams) {
    stream->work.notify_all();
  }
  r.mutex.unlock();
}
static void after_fork_in_child() {
  runtime().forked = true; // the child has no workers
  lock_guard_thread(false);
  runtime().mutex.unlock();
}

Runtime::Runtime() {
  memory_bytes = static_cast<size_t>(number_setting("REFTORCH_CUDA_SIM_MEMORY_MB", 4096, 2, kMaxMemoryMb)) << 20;
  protect = setting("REFTORCH_CUDA_SIM_PROTECT", "1") != "0";
  blocking = setting("CUDA_LAUNCH_BLOCKING", "0") == "1";
  latency_us = static_cast<int>(number_setting("REFTORCH_CUDA_SIM_LATENCY_US", 0, 0, 1'000'000));
  helpers = static_cast<int>(number_setting("REFTORCH_CUDA_SIM_THREADS", 1, 1, 256)) - 1;
  for (const int number : visible_devices()) {
    Device& device = devices.emplace_back();
    device.index = static_cast<int>(devices.size()) - 1;
    device.number = number;
    reserve_memory(device, memory_bytes, protect);
    auto stream = std::make_shared<CUstream_st>();
    stream->device = &device;
    stream->blocking = stream->is_default = true;
    device.default_stream = stream.get();
    streams[stream.get()] = stream;
  }
  if (!devices.empty()) {
    install_fault_handlers(previous);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    std::atexit(end_streams);
  }
}

bool passed(const Mark& mark) {
  return runtime().ended || (mark.shared != nullptr ? has_passed(*mark.shared, mark.ticket)
                                                    : mark.stream == nullptr || mark.stream->finished >= mark.ticket);
}
void wait_for(const Mark& mark) {
  Runtime& r = runtime();
  std::unique_lock<std::mutex> lock(r.mutex);
  if (is_worker) {
    r.running--;
    r.progress.notify_all();
  }
  const auto may_go_on = [&] { return passed(mark) && !(is_worker && r.paused); };
  if (mark.shared == nullptr) {
    r.progress.wait(lock, may_go_on);
  }
  while (!may_go_on()) { // no other process notifies this one
    r.progress.wait_for(lock, std::chrono::milliseconds(1));
  }
  r.running += is_worker;
}

static void work(const StreamPtr& stream) {
  Runtime& r = runtime();
  Device& device = *stream->device;
  current_device = device.index;
  is_worker = true;
  pthread_setname_np(pthread_self(), ("cuda:" + std::to_string(device.index)).c_str());
  bool is_open = false;
  std::unique_lock<std::mutex> lock(r.mutex);
  for (;;) {
    stream->work.wait(lock, [&] { return r.ended || (!r.paused && (!stream->queue.empty() || stream->destroyed)); });
    if (stream->queue.empty() || r.ended) {
      return;
    }
    r.running++;
    Queued operation = std::move(stream->queue.front());
    stream->queue.pop_front();
    lock.unlock();
    if (!is_open) {
      open_memory(device, true);
      is_open = true;
    }
    if (r.latency_us > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(r.latency_us));
    }
    std::for_each(operation.before.begin(), operation.before.end(), wait_for);
    if (!r.ended) { // the process may have ended during the wait
      operation.run(operation.number);
    }
    operation = {};
    lock.lock();
    if (stream->queue.empty()) { // close the memory before another thread can learn that the work is done
      open_memory(device, false);
      is_open = false;
    }
    stream->finished++;
    r.running--;
    r.progress.notify_all();
  }
}

StreamPtr find_stream(cudaStream_t stream) {
  if (stream == nullptr) {
    stream = runtime().devices[current_device].default_stream;
  }
  auto it = runtime().streams.find(stream);
  return it != runtime().streams.end() ? it->second : nullptr;
}

const CUstream_st* handle_of(cudaStream_t stream, int device) {
  return stream != nullptr ? stream : runtime().devices[static_cast<size_t>(device)].default_stream;
}

void tell_block_allocated(const void* p, size_t bytes) {
  if_watching([&](Observer& it) { it.allocated(p, bytes); });
}
void tell_block_freed(const void* p, int device, cudaStream_t stream, bool shared) {
  if_watching([&](Observer& it) { it.block_freed(p, handle_of(stream, device), shared); });
}

// Returns the number that the observer gives an operation which is enqueued next; 0 if nobody watches.
static unsigned long number_of(const StreamPtr& stream, const char* what) {
  Observer* it = watching();
  return it != nullptr ? it->enqueued(stream.get(), what) : 0;
}

// Note [The default stream]
// Stream 0 is CUDA's legacy stream. Its work waits for all earlier work of the blocking streams of its device, and
// later work of the blocking streams waits for it. Streams made with cudaStreamNonBlocking, as PyTorch's are, do not
// wait for the legacy stream, and the legacy stream does not wait for them.
Mark enqueue(const StreamPtr& stream, Operation operation) {
  Runtime& r = runtime();
  {
    std::lock_guard<std::mutex> lock(r.mutex);
    if (stream->capture != nullptr) {
      capture_operation(*stream, std::move(operation));
      return {};
    }
  }
  record_activity(operation, *stream);
  const unsigned long number = operation.what != nullptr ? number_of(stream, operation.what) : 0;
  if (operation.announce != nullptr && number != 0) {
    if_watching([&](Observer& it) { operation.announce(it, number); });
  }
  std::unique_lock<std::mutex> lock(r.mutex);
  if (r.ended) { // see Note [The end of the process]
    return {stream, stream->submitted, nullptr};
  }
  std::vector<Mark> before;
  for (const auto& [other, owner] : r.streams) {
    if (other != stream.get() && other->device == stream->device && other->blocking && stream->blocking &&
        other->is_default != stream->is_default && other->finished < other->submitted) {
      before.push_back({owner, other->submitted, nullptr});
    }
  }
  if (r.blocking) { // CUDA_LAUNCH_BLOCKING=1: only other host threads can have enqueued work that has not finished
    const Mark mark{stream, ++stream->submitted, nullptr};
    before.push_back({stream, mark.ticket - 1, nullptr});
    for (const Mark& earlier : before) {
      r.progress.wait(lock, [&] { return passed(earlier); });
    }
    lock.unlock();
    open_memory(*stream->device, true);
    operation.run(number);
    open_memory(*stream->device, false);
    lock.lock();
    stream->finished++;
    r.progress.notify_all();
    return mark;
  }
  stream->queue.push_back({std::move(operation.run), number, std::move(before)});
  const Mark mark{stream, ++stream->submitted, nullptr};
  if (!stream->has_worker) {
    stream->has_worker = true;
    std::thread(work, stream).detach();
  }
  stream->work.notify_one();
  return mark;
}

} // namespace cudasim
