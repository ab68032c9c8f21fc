// Mirrors: c10/core/StorageImpl.h, c10/core/Storage.h
//
// A storage owns the bytes that a tensor and its views share. Left out: copy-on-write, symbolic sizes, Python storage
// objects.
#pragma once

#include <c10/macros/Export.h>

#include <c10/core/Allocator.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>

namespace reftorch::c10 {

struct FileId;

struct C10_API StorageImpl final : public intrusive_ptr_target {
  StorageImpl(size_t size_bytes, DataPtr data_ptr, Allocator* allocator, bool resizable)
      : data_ptr_(std::move(data_ptr)), size_bytes_(size_bytes), resizable_(resizable), allocator_(allocator) {}

  DataPtr data_ptr_;
  size_t size_bytes_;
  bool resizable_;      // false if another library owns the memory, or borrows it (numpy)
  bool shrunk_ = false; // some tensors may reach past the end: see Note [Geometry is checked before memory]
  Allocator* allocator_;

  // Called when the table of shared storages holds the only reference that is left.
  void decref_pyobject() const noexcept override;

 private:
  friend C10_API void add_shared_storage(FileId file, const intrusive_ptr<StorageImpl>& storage);
};

struct Storage final {
  Storage() = default;
  // Allocates fresh memory from `allocator`. The contents are undefined.
  Storage(size_t size_bytes, Allocator* allocator)
      : storage_impl_(make_intrusive<StorageImpl>(size_bytes, allocator->allocate(size_bytes), allocator, true)) {}
  // Takes memory that exists already, and frees it by its DataPtr.
  Storage(size_t size_bytes, DataPtr data_ptr)
      : storage_impl_(make_intrusive<StorageImpl>(size_bytes, std::move(data_ptr), nullptr, false)) {}

  void* mutable_data() const {
    return storage_impl_->data_ptr_.get();
  }
  size_t nbytes() const {
    return storage_impl_->size_bytes_;
  }
  bool resizable() const {
    return storage_impl_->resizable_;
  }
  Device device() const {
    return storage_impl_->data_ptr_.device();
  }
  bool is_alias_of(const Storage& other) const {
    return storage_impl_ == other.storage_impl_;
  }
  size_t use_count() const {
    return storage_impl_.use_count();
  }
  explicit operator bool() const {
    return storage_impl_.defined();
  }

  intrusive_ptr<StorageImpl> storage_impl_;
};

// Note [Shared storages]
// ~~~~~~~~~~~~~~~~~~~~~~
// A storage in shared memory may arrive in a process more than once: as the storage of two views, or as an answer to
// the process that sent it. The process must map the memory once only. With two mappings of the same bytes, no check
// could see that the tensors overlap, and a change in place through one would not count for the other.
//
// So a table says which storage of this process uses which file. The table must not keep a storage alive. It owns
// one reference, marked by the bit that intrusive_ptr has for the reference of a Python object (a storage has no such
// object): when the table's reference is the only one left, decref_pyobject() takes the storage out of the table and
// deletes it, unless another thread has found the storage in between. The lock of the table decides which of them is
// first.

// The file that memory is mapped from.
struct FileId {
  uint64_t device;
  uint64_t inode;
};
// Returns the storage of this process on a file. Returns null if there is none.
C10_API intrusive_ptr<StorageImpl> find_shared_storage(FileId file);
C10_API void add_shared_storage(FileId file, const intrusive_ptr<StorageImpl>& storage);

} // namespace reftorch::c10
