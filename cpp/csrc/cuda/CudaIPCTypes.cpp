// Mirrors: torch/csrc/CudaIPCTypes.cpp, torch/csrc/StorageSharing.cpp
//
// See Note [CUDA IPC refcounting].
#include <csrc/cuda/CudaIPCTypes.h>

#include <ATen/MapAllocator.h>
#include <c10/core/Event.h>
#include <c10/cuda/BlockAnnouncement.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace reftorch::torch {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;
using Counter = std::atomic<int64_t>;
static_assert(Counter::is_always_lock_free);

constexpr size_t kCounterBytes = CUDA_IPC_REF_COUNTER_FILE_SIZE * sizeof(Counter);

// The process, its number of the file, and what says whether that number still means this file.
constexpr char kCounterHandle[] = "%d %d %" SCNu64;

struct CudaIPCRefCountersFile {
  c10::DataPtr memory = at::MapAllocator::new_fd(kCounterBytes);
  size_t next_offset = 0;

  Counter& counter(size_t offset) const {
    return static_cast<Counter*>(memory.get())[offset];
  }
  std::string handle() const {
    const at::MapAllocator& file = *at::MapAllocator::of(memory);
    char text[64];
    std::snprintf(text, sizeof text, kCounterHandle, getpid(), file.fd(), file.file().inode);
    return text;
  }
};

std::atomic<size_t> events_used{0};

struct MessageEvent {
  c10::Event event{c10::DeviceType::CUDA, c10::EventFlag::INTERPROCESS};

  MessageEvent() = default;
  MessageEvent(const MessageEvent&) = delete;
  MessageEvent& operator=(const MessageEvent&) = delete;
  ~MessageEvent() {
    events_used--;
  }
};

// One message, as the sender remembers it.
struct CudaIPCSentData {
  std::shared_ptr<CudaIPCRefCountersFile> file;
  size_t offset;
  std::unique_ptr<MessageEvent> event;

  bool is_needed() const {
    return file->counter(offset).load() > 0;
  }
};

// The memory of a storage that was sent, and its messages. It takes the place of the memory in the storage.
struct SentStorage {
  int process; // a forked child has a copy, but the counters are those of the parent
  c10::DataPtr original;
  std::vector<CudaIPCSentData> messages;

  bool is_needed() {
    messages.erase(std::remove_if(messages.begin(), messages.end(), [](const auto& each) { return !each.is_needed(); }),
                   messages.end());
    return !messages.empty();
  }
};

void warn_at_exit();

class CudaIPCGlobalEntities {
 public:
  static CudaIPCGlobalEntities& get() {
    static auto* const it = new CudaIPCGlobalEntities; // never destroyed: storages may outlive every static object
    return *it;
  }

  // Returns a message whose counter is 1.
  CudaIPCSentData new_message() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (counters_ == nullptr || counters_->next_offset == CUDA_IPC_REF_COUNTER_FILE_SIZE) {
      counters_ = std::make_shared<CudaIPCRefCountersFile>();
    }
    CudaIPCSentData message{counters_, counters_->next_offset++, nullptr};
    counters_->counter(message.offset) = 1;
    return message;
  }

  void add_to_limbo(std::unique_ptr<SentStorage> storage) {
    static const int registered = std::atexit(warn_at_exit);
    (void)registered;
    std::lock_guard<std::mutex> lock(mutex_);
    limbo_.push_back(std::move(storage));
    if (limbo_.size() > CUDA_IPC_WARN_AFTER_X_BLOCKS_IN_LIMBO && !std::exchange(has_warned_, true)) {
      std::fprintf(stderr,
                   "Warning: Producer process tried to deallocate over %zu memory blocks referred by consumer "
                   "processes. Deallocation might be significantly slowed down.\n",
                   CUDA_IPC_WARN_AFTER_X_BLOCKS_IN_LIMBO);
    }
  }

  bool collect() {
    std::vector<std::unique_ptr<SentStorage>> unused; // freed after the lock, because their end calls the allocator
    std::lock_guard<std::mutex> lock(mutex_);
    const auto first =
        std::stable_partition(limbo_.begin(), limbo_.end(), [](const auto& each) { return each->is_needed(); });
    std::move(first, limbo_.end(), std::back_inserter(unused));
    limbo_.erase(first, limbo_.end());
    if (counters_.use_count() == 1) { // no message uses the file
      counters_ = nullptr;
    }
    return !unused.empty();
  }

  bool is_limbo_empty() {
    std::lock_guard<std::mutex> lock(mutex_);
    return limbo_.empty();
  }

 private:
  std::mutex mutex_; // of the members below
  std::shared_ptr<CudaIPCRefCountersFile> counters_;
  std::vector<std::unique_ptr<SentStorage>> limbo_;
  bool has_warned_ = false;
};

// A forked child also ends, but the limbo is that of its parent.
const int first_process = getpid();
void warn_at_exit() {
  CudaIPCCollect();
  if (getpid() == first_process && !CudaIPCGlobalEntities::get().is_limbo_empty()) {
    std::fputs(
        "Warning: Producer process has been terminated before all shared CUDA tensors released. See "
        "Note [CUDA IPC refcounting]\n",
        stderr);
  }
}

// Frees the memory of a storage, unless a process still needs it.
void free_sent(void* context) {
  std::unique_ptr<SentStorage> storage(static_cast<SentStorage*>(context));
  if (storage->process != getpid()) {
    return;
  }
  if (storage->is_needed()) {
    CudaIPCGlobalEntities::get().add_to_limbo(std::move(storage));
  }
  CudaIPCCollect();
}

// Returns what the storage remembers of its messages. The first message moves the memory of the storage there.
SentStorage& sent_storage_of(c10::StorageImpl& impl) {
  if (impl.data_ptr_.get_deleter() != &free_sent) {
    auto sent = std::make_unique<SentStorage>(SentStorage{getpid(), {}, {}});
    SentStorage& result = *sent;
    c10::DataPtr memory(impl.data_ptr_.get(), sent.release(), &free_sent, impl.data_ptr_.device());
    std::swap(impl.data_ptr_, memory); // other threads always find the address
    result.original = std::move(memory);
  }
  return *static_cast<SentStorage*>(impl.data_ptr_.get_context());
}

template <typename Handle>
std::string to_bytes(const Handle& handle) {
  return {reinterpret_cast<const char*>(&handle), sizeof handle};
}

// ---- the receiver ----

// Received storages have numbers in the table of shared storages: see Note [Shared storages]. No file has this device.
constexpr uint64_t kNoDevice = ~uint64_t(0);
struct Received {
  using Key = std::pair<std::string, ptrdiff_t>; // the handle and the offset
  std::mutex mutex;                              // of the members below
  std::map<Key, uint64_t> numbers;
  uint64_t latest = 0;
};
Received& received() {
  static auto* const it = new Received; // never destroyed, as above
  return *it;
}

struct ReceivedStorage {
  int process; // a forked child must not count the memory as released
  c10::DeviceIndex device;
  std::shared_ptr<void> base;
  void* data;
  Received::Key key;
  uint64_t number;
  std::string ref_counter_handle;
  size_t ref_counter_offset;
};

void free_received(void* context) {
  const std::unique_ptr<ReceivedStorage> it(static_cast<ReceivedStorage*>(context));
  if (it->process != getpid()) {
    return;
  }
  {
    std::lock_guard<std::mutex> lock(received().mutex);
    const auto found = received().numbers.find(it->key);
    if (found != received().numbers.end() && found->second == it->number) {
      received().numbers.erase(found);
    }
  }
  // The sender may reuse the memory at once, so the work that reads it must have ended.
  const auto stream = c10::cuda::getCurrentCUDAStream(it->device);
  C10_CUDA_IGNORE_ERROR(cudaStreamSynchronize(stream));
  c10::cuda::announce_freed_block(it->data, stream, /*shared=*/false);
  it->base.reset();
  releaseCudaIPCCounter(it->ref_counter_handle, it->ref_counter_offset);
}

// Makes the current stream wait for what the sender had queued.
void wait_for_sender(const SharedCudaStorage& message) {
  cudaIpcEventHandle_t handle = {};
  TORCH_CHECK(message.event_handle.size() == sizeof handle, "expected the handle of an event, got ",
              message.event_handle.size(), " bytes");
  std::memcpy(&handle, message.event_handle.data(), sizeof handle);
  cudaEvent_t opened = nullptr;
  C10_CUDA_CHECK(cudaIpcOpenEventHandle(&opened, handle));
  c10::Event event(c10::DeviceType::CUDA, c10::EventFlag::INTERPROCESS);
  event.adopt(opened, message.device);
  event.block(c10::cuda::getCurrentCUDAStream(message.device));
}

struct RegisterCallback {
  RegisterCallback() {
    allocator::setFreeMemoryCallback(&CudaIPCCollect);
  }
};
const RegisterCallback register_callback;

} // namespace

SharedCudaStorage shareCudaStorage(const c10::Storage& storage) {
  c10::StorageImpl& impl = *storage.storage_impl_;
  TORCH_CHECK(impl.data_ptr_.get_deleter() != &free_received,
              "Attempted to send CUDA tensor received from another process; this is not currently supported. Consider "
              "cloning before sending.");
  const c10::Device device = storage.device();
  TORCH_CHECK(device.type() == c10::DeviceType::CUDA, "_share_cuda_: expected a storage on a CUDA device, got ",
              device);
  const c10::cuda::CUDAGuard guard(device.index());
  SharedCudaStorage result;
  result.device = device.index();
  result.size_bytes = storage.nbytes();
  if (storage.mutable_data() == nullptr) {
    return result;
  }
  const auto memory = allocator::get()->shareIpcHandle(storage.mutable_data());
  result.handle = memory.handle;
  result.offset_bytes = memory.offset;
  CudaIPCSentData message = CudaIPCGlobalEntities::get().new_message();
  result.ref_counter_handle = message.file->handle();
  result.ref_counter_offset = message.offset;
  const auto stream = c10::cuda::getCurrentCUDAStream(device.index());
  result.event_sync_required = events_used.fetch_add(1) < CUDA_IPC_MAXIMUM_EVENTS_TO_USE;
  cudaIpcEventHandle_t handle = {};
  if (result.event_sync_required) {
    message.event = std::make_unique<MessageEvent>();
    message.event->event.record(stream);
    C10_CUDA_CHECK(cudaIpcGetEventHandle(&handle, static_cast<cudaEvent_t>(message.event->event.eventId())));
  } else {
    events_used--;
    stream.synchronize();
  }
  result.event_handle = to_bytes(handle);
  SentStorage& sent = sent_storage_of(impl);
  sent.is_needed(); // forgets the messages whose receivers have finished
  sent.messages.push_back(std::move(message));
  return result;
}

c10::Storage receivedCudaStorage(const std::string& handle, ptrdiff_t offset_bytes) {
  uint64_t number = 0;
  {
    std::lock_guard<std::mutex> lock(received().mutex);
    const auto found = received().numbers.find({handle, offset_bytes});
    number = found == received().numbers.end() ? 0 : found->second;
  }
  c10::Storage storage;
  if (number != 0) {
    storage.storage_impl_ = c10::find_shared_storage({kNoDevice, number});
  }
  return storage;
}

c10::Storage newSharedCudaStorage(const SharedCudaStorage& message) {
  const c10::cuda::CUDAGuard guard(message.device);
  if (message.event_sync_required) {
    wait_for_sender(message);
  }
  std::shared_ptr<void> base = allocator::get()->getIpcDevPtr(message.handle);
  char* const data = static_cast<char*>(base.get()) + message.offset_bytes;
  c10::cuda::announce_opened_block(data, message.size_bytes);
  Received::Key key{message.handle, message.offset_bytes};
  uint64_t number = 0;
  {
    std::lock_guard<std::mutex> lock(received().mutex);
    number = received().numbers[key] = ++received().latest;
  }
  auto* const context = new ReceivedStorage{getpid(),
                                            message.device,
                                            std::move(base),
                                            data,
                                            std::move(key),
                                            number,
                                            message.ref_counter_handle,
                                            message.ref_counter_offset};
  const c10::Device device(c10::DeviceType::CUDA, message.device);
  const c10::Storage storage(message.size_bytes, {data, context, &free_received, device});
  c10::add_shared_storage({kNoDevice, number}, storage.storage_impl_);
  return storage;
}

void releaseCudaIPCCounter(const std::string& handle, size_t offset) {
  int process = 0, number = 0;
  uint64_t inode = 0;
  if (offset >= CUDA_IPC_REF_COUNTER_FILE_SIZE ||
      std::sscanf(handle.c_str(), kCounterHandle, &process, &number, &inode) != 3) {
    return;
  }
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) {
    return; // the sender has ended
  }
  try {
    const c10::DataPtr memory = at::MapAllocator::from_fd(file, kCounterBytes);
    if (at::MapAllocator::of(memory)->file().inode == inode) {
      static_cast<Counter*>(memory.get())[offset]--;
    }
  } catch (const c10::Error&) { // another file has the number, or this process has no room for the mapping
  }
  close(file);
}

bool CudaIPCCollect() {
  return CudaIPCGlobalEntities::get().collect();
}

} // namespace reftorch::torch
