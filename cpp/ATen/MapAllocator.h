// Mirrors: aten/src/ATen/MapAllocator.h
//
// Shared memory: pages that several processes map, so that one process reads what another writes. The memory belongs to
// a file that exists in memory only. Another process reaches the file by a file descriptor, which a socket can carry
// from process to process, or by a name under /dev/shm.
//
// PyTorch makes both kinds of files under /dev/shm and removes the name of the first kind at once. Here memfd_create
// makes the first kind: the file never has a name, and its memory does not count against the size of /dev/shm, which is
// 64 MB in many containers. Left out: files on a disk, read-only mappings, the daemon torch_shm_manager.
#pragma once

#include <c10/core/StorageImpl.h>

#include <atomic>
#include <string>

namespace reftorch::at {

class TORCH_API MapAllocator {
 public:
  // Return new memory of `size` bytes, all zero. Raise RuntimeError if there is no room for the memory: without this
  // check the process would die of SIGBUS when it writes to a page that cannot be had.
  static c10::DataPtr new_fd(size_t size);
  static c10::DataPtr new_named(const std::string& name, size_t size);
  // Map memory that exists. Raise RuntimeError if the file is smaller than `size`. from_fd leaves `fd` open.
  static c10::DataPtr from_fd(int fd, size_t size);
  static c10::DataPtr from_name(const std::string& name, size_t size);
  // Returns the allocator that mapped this memory, or null if the memory is not shared.
  static MapAllocator* of(const c10::DataPtr& memory);

  int fd() const {
    return fd_;
  }
  const std::string& name() const { // empty if the file has no name
    return name_;
  }
  c10::FileId file() const {
    return file_;
  }
  // The number of mappings and of messages on their way is stored in front of the bytes of a file with a name. The name
  // is removed when the number becomes 0. A file without a name ends with its last descriptor and mapping.
  void incref();
  void decref();
  // Frees `memory` together with this mapping.
  void keep(c10::DataPtr memory) {
    kept_ = std::move(memory);
  }

 private:
  MapAllocator(int fd, std::string name, size_t size);
  ~MapAllocator();
  static void unmap(void* self);
  static c10::DataPtr into_data_ptr(MapAllocator* self);

  std::atomic<int64_t>& count() const {
    return *static_cast<std::atomic<int64_t>*>(base_);
  }

  int fd_ = -1;
  std::string name_;
  c10::FileId file_;
  void* base_ = nullptr;
  size_t mapped_ = 0;
  c10::DataPtr kept_;
};

} // namespace reftorch::at
