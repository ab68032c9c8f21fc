// Mirrors: nothing in PyTorch: the events of the simulator
//
// An event is a place in a stream, for which streams and host threads wait.
//
// Note [Events between processes]
// Problem: a stream of one process waits for the work of a stream of another process, but no process sees the streams
// of the other one. Trick: an interprocess event is a few numbers in memory that both processes map. A recording takes
// the next number and enqueues an operation that stores this number as passed. Who waits remembers the number of the
// last recording, and looks every millisecond whether it has passed. The memory is a file without a name, so that
// nothing remains when processes are killed; a handle has the process and the number of the file there, by which
// another process opens the file in /proc. A file has room for many events, because a process may have few files open,
// and lasts until the last of them is destroyed. A process that ends with recordings in its queues never stores them,
// so a wait also ends when the process of the last recording has ended. Limit: if two processes record one event at the
// same time, a wait for the earlier recording may end with the later one.
#include <c10/cuda/sim/activities.h>
#include <c10/cuda/sim/observer.h>
#include <c10/cuda/sim/runtime.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

namespace cudasim {

// An event is new if it is all zeros.
struct EventState {
  std::atomic<uint64_t> recorded{0}, passed{0}; // the numbers of the last recording and of the last that has passed
  std::atomic<int> recorder{0};                 // the process of the last recording
};

constexpr size_t kEventsOfFile = 512, kEventFileBytes = kEventsOfFile * sizeof(EventState);

struct EventFile {
  EventState* states;
  int number;

  ~EventFile() {
    munmap(states, kEventFileBytes);
    close(number);
  }
};

struct SharedEvent {
  std::shared_ptr<EventFile> file;
  size_t place; // in the file

  EventState& state() const {
    return file->states[place];
  }
};

// Takes the file. Returns null if there is none or if it cannot be mapped.
static std::shared_ptr<EventFile> map_events(int number) {
  struct stat facts = {};
  if (number < 0 || fstat(number, &facts) != 0 || facts.st_size != static_cast<off_t>(kEventFileBytes)) {
    return number < 0 ? nullptr : (close(number), nullptr);
  }
  void* const at = mmap(nullptr, kEventFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
  if (at == MAP_FAILED) {
    close(number);
    return nullptr;
  }
  return std::shared_ptr<EventFile>(new EventFile{static_cast<EventState*>(at), number});
}

// Returns an event that no process has; null if there can be no more of them.
static std::shared_ptr<SharedEvent> new_shared_event() {
  static auto* const latest = new std::weak_ptr<EventFile>; // never destroyed, as the runtime, whose mutex protects it
  static size_t used = 0;
  std::lock_guard<std::mutex> lock(runtime().mutex);
  std::shared_ptr<EventFile> file = latest->lock();
  if (file == nullptr || used == kEventsOfFile) {
    const int number = memfd_create("cudasim_events", MFD_CLOEXEC);
    if (number >= 0 && ftruncate(number, static_cast<off_t>(kEventFileBytes)) != 0) {
      close(number);
      return nullptr;
    }
    file = map_events(number);
    *latest = file;
    used = 0;
  }
  return file == nullptr ? nullptr : std::make_shared<SharedEvent>(SharedEvent{file, used++});
}

static cudaEvent_t new_event(std::shared_ptr<SharedEvent> shared) {
  auto event = std::make_shared<CUevent_st>();
  event->device = current_device;
  event->shared = std::move(shared);
  event->itself = event;
  return event.get();
}

// A process that has ended and for which its parent has not waited yet is a zombie.
static bool is_running(int process) {
  std::FILE* const file = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "r");
  if (file == nullptr) {
    return false;
  }
  char text[512];
  const size_t bytes = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[bytes] = '\0';
  const char* const name_end = std::strrchr(text, ')'); // "PID (NAME) STATE ..."
  return name_end != nullptr && std::strlen(name_end) > 2 && name_end[2] != 'Z' && name_end[2] != 'X';
}

bool has_passed(const SharedEvent& event, uint64_t recording) {
  return event.state().passed >= recording || !is_running(event.state().recorder);
}

static void record_shared(const std::shared_ptr<SharedEvent>& event, const StreamPtr& stream) {
  event->state().recorder = getpid();
  const uint64_t recording = ++event->state().recorded;
  enqueue(stream, {nullptr, [=](unsigned long) {
                     std::atomic<uint64_t>& latest = event->state().passed;
                     uint64_t passed = latest;
                     while (passed < recording && !latest.compare_exchange_weak(passed, recording)) {
                     }
                   }});
}

void record_event(CUevent_st& event, const StreamPtr& stream) {
  if_watching([&](Observer& it) { it.event_recorded(&event, stream.get()); });
  if (event.shared != nullptr) {
    record_shared(event.shared, stream);
    return;
  }
  auto time = std::make_shared<std::chrono::steady_clock::time_point>();
  Mark mark = enqueue(stream, {nullptr, [time](unsigned long) { *time = std::chrono::steady_clock::now(); }});
  mark.time = time;
  std::lock_guard<std::mutex> lock(runtime().mutex);
  std::swap(event.mark, mark); // the mark of the recording before is destroyed after the mutex is unlocked
}
Mark mark_of(const CUevent_st& event) {
  if (event.shared != nullptr) {
    return {nullptr, event.shared->state().recorded, nullptr, event.shared};
  }
  std::lock_guard<std::mutex> lock(runtime().mutex);
  return event.mark;
}
bool is_recorded(const CUevent_st& event) {
  return event.shared != nullptr ? event.shared->state().recorded > 0 : event.mark.stream != nullptr;
}
void wait_event(const StreamPtr& stream, const CUevent_st& event) {
  if_watching([&](Observer& it) { it.stream_waits(stream.get(), &event); });
  enqueue(stream, {nullptr, [mark = mark_of(event)](unsigned long) { wait_for(mark); }});
}

} // namespace cudasim

using namespace cudasim;

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  RETURN_IF_ERROR(status());
  std::shared_ptr<SharedEvent> shared;
  if (flags & cudaEventInterprocess) {
    if (!(flags & cudaEventDisableTiming)) {
      return done(cudaErrorInvalidValue);
    }
    shared = new_shared_event();
    if (shared == nullptr) {
      return done(cudaErrorMapBufferObjectFailed);
    }
  }
  *event = new_event(std::move(shared));
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event != nullptr) {
    event->itself.reset(); // a graph may own the event, too
  }
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  return cudaEventRecordWithFlags(event, handle, cudaEventRecordDefault);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned flags) {
  const ApiCall call("cudaEventRecord");
  return with_stream(handle, [&](const StreamPtr& stream) {
    if (event->device != stream->device->index) {
      return cudaErrorInvalidResourceHandle;
    }
    if (flags & cudaEventRecordExternal) {
      return capture_event(*event, *stream, /*records=*/true);
    }
    if (!capture_record(*event, *stream)) {
      record_event(*event, stream);
    }
    return cudaSuccess;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  const ApiCall call("cudaStreamWaitEvent");
  return with_stream(handle, [&](const StreamPtr& stream) {
    if (flags & cudaEventWaitExternal) {
      return capture_event(*event, *stream, /*records=*/false);
    }
    cudaError_t error = cudaSuccess;
    if (!capture_wait(stream, *event, &error)) {
      wait_event(stream, *event);
    }
    return error;
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  RETURN_IF_ERROR(status());
  RETURN_IF_ERROR(forbid_wait(*event));
  {
    const Mark mark = mark_of(*event);
    std::lock_guard<std::mutex> lock(runtime().mutex);
    if (!passed(mark)) {
      return done(cudaErrorNotReady);
    }
  }
  if_watching([&](Observer& it) { it.host_waits_for_event(event); });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const ApiCall call("cudaEventSynchronize");
  RETURN_IF_ERROR(status());
  RETURN_IF_ERROR(forbid_wait(*event));
  if_watching([&](Observer& it) { it.host_waits_for_event(event); });
  return synchronize(mark_of(*event));
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Mark begun = mark_of(*start), ended = mark_of(*end);
  if (begun.time == nullptr || ended.time == nullptr) {
    return done(cudaErrorInvalidResourceHandle);
  }
  RETURN_IF_ERROR(cudaEventQuery(start));
  RETURN_IF_ERROR(cudaEventQuery(end));
  for (const Mark& mark : {begun, ended}) { // an event that another thread has recorded again meanwhile
    wait_for(mark);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*ended.time - *begun.time).count();
  return cudaSuccess;
}

// ---- Between processes ----

// What a handle contains.
struct EventHandle {
  char kind[8];
  ProcessFile file;
  uint64_t place;
};
static_assert(sizeof(EventHandle) <= sizeof(cudaIpcEventHandle_t));
constexpr char kEvent[8] = "event";

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  RETURN_IF_ERROR(status());
  if (event->shared == nullptr) {
    return done(cudaErrorInvalidResourceHandle);
  }
  EventHandle result = {};
  std::memcpy(result.kind, kEvent, sizeof kEvent);
  result.file = process_file(event->shared->file->number);
  result.place = event->shared->place;
  *handle = {};
  std::memcpy(handle->reserved, &result, sizeof result);
  return cudaSuccess;
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t bytes) {
  RETURN_IF_ERROR(status());
  EventHandle handle;
  std::memcpy(&handle, bytes.reserved, sizeof handle);
  if (std::memcmp(handle.kind, kEvent, sizeof kEvent) != 0 || handle.place >= kEventsOfFile) {
    return done(cudaErrorInvalidResourceHandle);
  }
  auto file = map_events(open_process_file(handle.file));
  if (file == nullptr) {
    return done(cudaErrorMapBufferObjectFailed);
  }
  *event = new_event(std::make_shared<SharedEvent>(SharedEvent{std::move(file), handle.place}));
  return cudaSuccess;
}
