// Mirrors: nothing in PyTorch: memory of a simulated device that several processes use
//
// Note [Memory between processes]
// Problem: on a GPU, a process opens memory of another one by a handle. But the memory of a simulated device belongs to
// its process, and no other process can map it later. Trick: the first handle that a process asks for moves the memory
// of the device into a file without a name, at the same addresses, while no operation runs. A handle has the process
// and the number of the file there, and says where the allocation is; another process opens the file in /proc and maps
// the pages of the allocation behind the memory of its own device. Nothing remains when processes are killed: a process
// that has opened memory keeps the pages, even if the other process ends. Each allocation with a handle has a number.
// The file has this number behind the memory until the allocation is freed, so a handle of freed memory opens nothing.
//
// Limits: memory that is freed while another process has it open may be given away again, and both processes then use
// it. CUDA calls this undefined, too. The processes must see each other in /proc, as processes of one user in one
// container do. Each process has simulated devices of its own, so opened memory does not count as used there, and a
// fault of a kernel stops the device of one process only. A file has no huge pages, so operations of a process that
// has given handles away begin and end more slowly. Opened memory needs addresses, of which a device with the most
// memory that a setting allows has none left.
//
// What a watcher knows of opened memory: where it is, so that an access outside is found. All of it counts as written,
// because the watcher does not see what the other process does; for the same reason, no race with that process is
// found.
#include <c10/cuda/sim/activities.h>
#include <c10/cuda/sim/observer.h>
#include <c10/cuda/sim/runtime.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace cudasim {

ProcessFile process_file(int number) {
  struct stat facts = {};
  fstat(number, &facts);
  return {getpid(), number, static_cast<uint64_t>(facts.st_ino)};
}

int open_process_file(const ProcessFile& file) {
  const std::string path = "/proc/" + std::to_string(file.process) + "/fd/" + std::to_string(file.number);
  const int number = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat facts = {};
  if (number >= 0 && (fstat(number, &facts) != 0 || facts.st_ino != file.inode)) {
    close(number);
    return -1;
  }
  return number;
}

void tell_segment_opened(const void* p) {
  if_watching([&](Observer& it) { it.freed(p); }); // only the parts that tensors own count as allocated
}
void tell_block_opened(const void* p, size_t bytes) {
  if_watching([&](Observer& it) { it.opened(p, bytes); });
}

// What a handle contains. It has no gaps, because handles are compared byte by byte.
struct MemoryHandle {
  char kind[8];
  ProcessFile file;
  uint64_t device, offset, bytes, number;
};
static_assert(sizeof(MemoryHandle) == 56 && sizeof(MemoryHandle) <= sizeof(cudaIpcMemHandle_t));
constexpr char kMemory[8] = "memory";

static bool operator==(const MemoryHandle& a, const MemoryHandle& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Memory of another process, by its address here. The mutex of the runtime protects the map.
struct Opening {
  MemoryHandle handle;
  int count; // the calls of cudaIpcOpenMemHandle that have not been followed by cudaIpcCloseMemHandle
};
static std::map<char*, Opening>& openings() {
  static auto* const it = new std::map<char*, Opening>; // never destroyed, as the runtime
  return *it;
}

// Where the number of the allocation with this offset is in the file.
static off_t place_of_number(size_t offset) {
  return static_cast<off_t>(runtime().memory_bytes + offset / 512 * sizeof(uint64_t));
}
static size_t file_bytes() {
  return static_cast<size_t>(place_of_number(runtime().memory_bytes));
}

// Copies the pages that contain anything but zeros, so that memory which nobody has used takes no room.
static void copy_pages(char* to, const char* from, size_t bytes) {
  static const char zeros[kPage] = {};
  for (size_t at = 0; at < bytes; at += kPage) {
    const size_t n = std::min(kPage, bytes - at);
    if (std::memcmp(from + at, zeros, n) != 0) {
      std::memcpy(to + at, from + at, n);
    }
  }
}

// Moves the memory of the device into a file. Nobody uses the memory meanwhile. Returns the file, or -1.
static int move_into_file(Device& device) {
  Runtime& r = runtime();
  const int file = memfd_create("cudasim_memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(file_bytes())) != 0) {
    return file < 0 ? -1 : (close(file), -1);
  }
  void* const view = mmap(nullptr, r.memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (view == MAP_FAILED) {
    close(file);
    return -1;
  }
  mprotect(device.base, r.memory_bytes, PROT_READ | PROT_WRITE);
  for (const auto& [begin, bytes] : device.live) {
    copy_pages(static_cast<char*>(view) + (begin - device.base), begin, bytes);
  }
  munmap(view, r.memory_bytes);
  const int access = !r.protect || device.users > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (mmap(device.base, r.memory_bytes, access, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0) == MAP_FAILED) {
    close(file);
    return -1;
  }
  madvise(device.base, r.memory_bytes, MADV_HUGEPAGE);
  return file;
}

// Makes sure that the memory of the device is in a file. Returns whether it is. The caller holds the mutex by `lock`,
// which is unlocked during waits.
static bool share_memory(Device& device, std::unique_lock<std::mutex>& lock) {
  if (device.file >= 0) {
    return true;
  }
  // As before a fork, no worker runs an operation. With CUDA_LAUNCH_BLOCKING=1 there are no workers, and a thread that
  // runs an operation has opened the memory.
  Runtime& r = runtime();
  r.paused = true;
  std::unique_lock<std::mutex> gate(device.gate, std::defer_lock);
  r.progress.wait(lock, [&] {
    if (r.running > 0) {
      return false;
    }
    gate.lock();
    if (r.blocking && device.users > 0) {
      gate.unlock();
    }
    return gate.owns_lock();
  });
  if (device.file < 0) { // another thread may have been quicker
    device.file = move_into_file(device);
  }
  gate.unlock();
  r.paused = false;
  r.progress.notify_all();
  for (const auto& [handle, stream] : r.streams) {
    stream->work.notify_all();
  }
  return device.file >= 0;
}

void end_export(Device& device, char* allocation) {
  if (device.exported.erase(allocation) != 0) {
    const uint64_t nothing = 0;
    [[maybe_unused]] const ssize_t written =
        pwrite(device.file, &nothing, sizeof nothing, place_of_number(static_cast<size_t>(allocation - device.base)));
  }
}

// Maps the pages of another process's allocation at addresses of the device. Returns the address of the allocation, or
// null. The caller holds the mutex.
static char* map_allocation(Device& device, int file, const MemoryHandle& handle) {
  const auto [first_page, size] = pages_of(device.base + handle.offset, handle.bytes);
  const size_t before = static_cast<size_t>(device.base + handle.offset - first_page);
  std::lock_guard<std::mutex> gate(device.gate);
  char* at = device.base + runtime().memory_bytes; // moves to the first gap that is large enough
  for (const auto& [begin, bytes] : device.opened) {
    const auto [taken, taken_size] = pages_of(begin, bytes);
    if (static_cast<size_t>(taken - at) >= size) {
      break;
    }
    at = taken + taken_size;
  }
  if (static_cast<size_t>(device.base + kDeviceSpan - at) < size) {
    return nullptr;
  }
  const int access = !runtime().protect || device.users > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  const auto offset = static_cast<off_t>(handle.offset - before);
  if (mmap(at, size, access, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, offset) == MAP_FAILED) {
    return nullptr;
  }
  device.opened[at + before] = handle.bytes;
  return at + before;
}

// Maps the allocation if it still exists.
static char* open_allocation(Device& device, const MemoryHandle& handle) {
  const int file = open_process_file(handle.file);
  if (file < 0) {
    return nullptr;
  }
  uint64_t number = 0;
  struct stat facts = {};
  const bool exists = pread(file, &number, sizeof number, place_of_number(handle.offset)) == sizeof number &&
                      number == handle.number && fstat(file, &facts) == 0 &&
                      static_cast<size_t>(facts.st_size) == file_bytes();
  char* const result = exists ? map_allocation(device, file, handle) : nullptr;
  close(file); // the pages stay
  return result;
}

} // namespace cudasim

using namespace cudasim;

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  const ApiCall call("cudaIpcGetMemHandle");
  RETURN_IF_ERROR(status());
  Device* const device = device_of(pointer);
  char* const begin = static_cast<char*>(pointer);
  std::unique_lock<std::mutex> lock(runtime().mutex);
  if (device == nullptr || device->live.count(begin) == 0) {
    return done(cudaErrorInvalidValue);
  }
  if (!share_memory(*device, lock)) {
    return done(cudaErrorMapBufferObjectFailed);
  }
  const auto live = device->live.find(begin); // it may have been freed during the wait
  if (live == device->live.end()) {
    return done(cudaErrorInvalidValue);
  }
  static uint64_t latest = 0;
  MemoryHandle result = {};
  std::memcpy(result.kind, kMemory, sizeof kMemory);
  result.file = process_file(device->file);
  result.device = static_cast<uint64_t>(device->number);
  result.offset = static_cast<uint64_t>(begin - device->base);
  result.bytes = live->second;
  const auto [exported, is_new] = device->exported.emplace(begin, latest + 1);
  result.number = exported->second;
  if (is_new) {
    latest++;
    if (pwrite(device->file, &result.number, sizeof result.number, place_of_number(result.offset)) < 0) {
      device->exported.erase(exported);
      return done(cudaErrorMapBufferObjectFailed);
    }
  }
  *handle = {};
  std::memcpy(handle->reserved, &result, sizeof result);
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t bytes, unsigned flags) {
  const ApiCall call("cudaIpcOpenMemHandle");
  RETURN_IF_ERROR(status());
  if (flags != cudaIpcMemLazyEnablePeerAccess) {
    return done(cudaErrorInvalidValue);
  }
  MemoryHandle handle;
  std::memcpy(&handle, bytes.reserved, sizeof handle);
  Runtime& r = runtime();
  if (std::memcmp(handle.kind, kMemory, sizeof kMemory) != 0 || handle.offset >= r.memory_bytes ||
      handle.bytes > r.memory_bytes - handle.offset) {
    return done(cudaErrorInvalidResourceHandle);
  }
  if (handle.file.process == getpid()) {
    return done(cudaErrorDeviceUninitialized); // as in CUDA, a handle is for other processes
  }
  const auto device = std::find_if(r.devices.begin(), r.devices.end(), [&](const Device& each) {
    return static_cast<uint64_t>(each.number) == handle.device;
  });
  if (device == r.devices.end()) { // CUDA_VISIBLE_DEVICES hides it from this process
    return done(cudaErrorInvalidDevice);
  }
  char* at = nullptr;
  {
    std::lock_guard<std::mutex> lock(r.mutex);
    for (auto& [begin, opening] : openings()) {
      if (opening.handle == handle) {
        opening.count++;
        *pointer = begin;
        return cudaSuccess;
      }
    }
    at = open_allocation(*device, handle);
    if (at == nullptr) {
      return done(cudaErrorMapBufferObjectFailed);
    }
    openings()[at] = {handle, 1};
  }
  *pointer = at;
  if_watching([&](Observer& it) { it.opened(at, handle.bytes); });
  return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  const ApiCall call("cudaIpcCloseMemHandle");
  RETURN_IF_ERROR(status());
  Runtime& r = runtime();
  Device* const device = device_of(pointer);
  char* const begin = static_cast<char*>(pointer);
  std::unique_lock<std::mutex> lock(r.mutex);
  auto found = openings().find(begin);
  if (device == nullptr || found == openings().end()) {
    return done(cudaErrorInvalidValue);
  }
  if (found->second.count > 1) {
    found->second.count--;
    return cudaSuccess;
  }
  lock.unlock();
  const cudaError_t error = synchronize_device(*device); // no kernel may lose its memory
  lock.lock();
  found = openings().find(begin);
  if (found == openings().end() || --found->second.count > 0) {
    return done(error); // other threads have closed and opened the memory meanwhile
  }
  openings().erase(found);
  {
    std::lock_guard<std::mutex> gate(device->gate);
    const auto [first_page, size] = pages_of(begin, device->opened[begin]);
    device->opened.erase(begin);
    munmap(first_page, size);
  }
  lock.unlock();
  if_watching([&](Observer& it) { it.freed(pointer); });
  return done(error);
}
