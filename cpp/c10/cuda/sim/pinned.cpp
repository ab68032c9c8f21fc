// Mirrors: nothing in PyTorch: pinned memory in the simulator
//
// Pinned memory is ordinary memory of the host, of which the simulator knows the addresses.
#include <c10/cuda/sim/observer.h>
#include <c10/cuda/sim/runtime.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>

namespace cudasim {

// Note [Two views of pinned memory]
// Problem: a watcher wants to see when the host touches pinned memory that a copy still uses, so it protects the pages;
// but the copy itself must reach them. Trick: pinned memory that is allocated while somebody watches is mapped twice.
// The host gets one address, whose pages may be protected, and the copies use the other one. Limits: the memory is then
// shared with a forked child, and pages are protected, not bytes.
static void* map_pinned(size_t bytes, void** view) {
  const int file = memfd_create("cudasim pinned", MFD_CLOEXEC);
  void* host = MAP_FAILED;
  *view = MAP_FAILED;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    *view = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (file >= 0) {
    close(file);
  }
  return host == MAP_FAILED || *view == MAP_FAILED ? nullptr : host;
}

char* device_view(const void* p, size_t bytes) {
  const auto [begin, size] = find_allocation(runtime().pinned, p, bytes);
  const auto view = runtime().pinned_views.find(begin);
  char* const at = static_cast<char*>(const_cast<void*>(p));
  return begin == nullptr || view == runtime().pinned_views.end() ? at : view->second + (at - begin);
}

} // namespace cudasim

using namespace cudasim;

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  RETURN_IF_ERROR(status());
  RETURN_IF_ERROR(forbid_unsafe());
  const size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  void* view = nullptr;
  *pointer = watching() != nullptr ? map_pinned(rounded, &view) : std::aligned_alloc(kPage, rounded);
  if (*pointer == nullptr) {
    return done(cudaErrorMemoryAllocation);
  }
  std::lock_guard<std::mutex> lock(runtime().mutex);
  if (view != nullptr) {
    runtime().pinned_views[static_cast<char*>(*pointer)] = static_cast<char*>(view);
  }
  runtime().pinned[static_cast<char*>(*pointer)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  RETURN_IF_ERROR(status());
  std::lock_guard<std::mutex> lock(runtime().mutex);
  char* const begin = static_cast<char*>(pointer);
  if (begin == nullptr || bytes == 0) {
    return done(cudaErrorInvalidValue);
  }
  const auto behind = runtime().pinned.lower_bound(begin + bytes);
  if (behind != runtime().pinned.begin() && std::prev(behind)->first + std::prev(behind)->second > begin) {
    return done(cudaErrorHostMemoryAlreadyRegistered);
  }
  runtime().pinned[begin] = bytes;
  runtime().registered.insert(begin);
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* pointer) {
  RETURN_IF_ERROR(status());
  std::lock_guard<std::mutex> lock(runtime().mutex);
  if (runtime().registered.erase(static_cast<char*>(pointer)) == 0) {
    return done(cudaErrorHostMemoryNotRegistered);
  }
  runtime().pinned.erase(static_cast<char*>(pointer));
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
  RETURN_IF_ERROR(status());
  RETURN_IF_ERROR(forbid_unsafe());
  std::lock_guard<std::mutex> lock(runtime().mutex);
  if (pointer == nullptr) {
    return cudaSuccess;
  }
  const auto found = runtime().pinned.find(static_cast<char*>(pointer));
  if (found == runtime().pinned.end() || runtime().registered.count(found->first) != 0) {
    return done(cudaErrorInvalidValue);
  }
  const size_t rounded = (found->second + kPage - 1) / kPage * kPage;
  const auto view = runtime().pinned_views.find(found->first);
  if (view == runtime().pinned_views.end()) {
    std::free(pointer);
  } else {
    if_watching([&](Observer& it) { it.freed(pointer); });
    munmap(view->second, rounded);
    munmap(pointer, rounded);
    runtime().pinned_views.erase(view);
  }
  runtime().pinned.erase(found);
  return cudaSuccess;
}
