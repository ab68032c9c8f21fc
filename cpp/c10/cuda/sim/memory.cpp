// Mirrors: nothing in PyTorch: the memory of the simulator's devices
//
// Note [Host code cannot touch device memory]
// Problem: on a GPU, host code that follows a device pointer crashes, but the simulator's device memory is host memory.
// Trick: the pages of a device's memory are accessible only while streams of the device have work. A host thread that
// reads the memory at another time gets SIGSEGV, and the handler in faults.cpp reports what the pointer was. Limit:
// page permissions belong to the process, not to a thread, so a read while kernels run is not noticed. With
// CUDA_LAUNCH_BLOCKING=1 no kernel runs at the same time as host code, and the check is exact. Changing the permissions
// is cheap with huge pages, because 2 MiB are one entry of the page table.
#include <c10/cuda/sim/runtime.h>

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace cudasim {

// The thread sanitizer has data of its own at these addresses. It knows the memory of a program at a few places only,
// and this one is before the executable on x86-64.
#if defined(__SANITIZE_THREAD__)
constexpr uintptr_t kFirstAddress = 0x550000000000;
#else
constexpr uintptr_t kFirstAddress = 0x200000000000;
#endif

Device* device_of(const void* pointer) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(pointer) - kFirstAddress;
  const size_t i = at / kDeviceSpan;
  Runtime& r = runtime();
  return i < r.devices.size() ? &r.devices[i] : nullptr;
}

std::pair<char*, size_t> find_allocation(const std::map<char*, size_t>& live, const void* p, size_t bytes) {
  auto it = live.upper_bound(static_cast<char*>(const_cast<void*>(p)));
  if (it != live.begin() && (--it, static_cast<const char*>(p) + bytes <= it->first + it->second)) {
    return *it;
  }
  return {nullptr, 0};
}

std::pair<char*, size_t> find_allocation(const Device& device, const void* p, size_t bytes) {
  const auto own = find_allocation(device.live, p, bytes);
  return own.first != nullptr ? own : find_allocation(device.opened, p, bytes);
}

std::pair<char*, size_t> pages_of(char* begin, size_t bytes) {
  const size_t before = reinterpret_cast<uintptr_t>(begin) % kPage;
  return {begin - before, (before + bytes + kPage - 1) / kPage * kPage};
}

void reserve_memory(Device& device, size_t bytes, bool protect) {
  void* const at = reinterpret_cast<void*>(kFirstAddress + static_cast<uintptr_t>(device.index) * kDeviceSpan);
  device.base = static_cast<char*>(mmap(at, bytes, protect ? PROT_NONE : PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0));
  if (device.base == MAP_FAILED) {
    std::perror("cudasim: the addresses of a simulated device cannot be reserved");
    std::abort();
  }
  madvise(device.base, bytes, MADV_HUGEPAGE);
}

void open_memory(Device& device, bool open) {
  Runtime& r = runtime();
  std::lock_guard<std::mutex> lock(device.gate);
  device.users += open ? 1 : -1;
  if (r.protect && device.users == (open ? 1 : 0)) {
    const int access = open ? PROT_READ | PROT_WRITE : PROT_NONE;
    mprotect(device.base, r.memory_bytes, access);
    for (const auto& [begin, bytes] : device.opened) {
      const auto [first_page, size] = pages_of(begin, bytes);
      mprotect(first_page, size, access);
    }
  }
}

} // namespace cudasim
