// Mirrors: c10/core/StorageImpl.h, c10/core/Storage.h
// The bytes that tensors share. Left out: copy-on-write, symbolic sizes, Python storage objects.
#pragma once

#include <c10/macros/Export.h>

#include <c10/core/Allocator.h>
#include <c10/util/intrusive_ptr.h>

namespace reftorch::c10 {

struct C10_API StorageImpl final : public intrusive_ptr_target {
  StorageImpl(size_t size_bytes, DataPtr data_ptr, Allocator* allocator, bool resizable)
      : data_ptr_(std::move(data_ptr)), size_bytes_(size_bytes), resizable_(resizable), allocator_(allocator) {}

  DataPtr data_ptr_;
  size_t size_bytes_;
  bool resizable_;      // false if the memory belongs to another library, or if another library borrows it (numpy)
  bool shrunk_ = false; // tensors may lie past the end: see Note [Geometry is checked before memory]
  Allocator* allocator_;
};

struct Storage final {
  Storage() = default;
  // Fresh memory from `allocator`; contents undefined.
  Storage(size_t size_bytes, Allocator* allocator)
      : storage_impl_(make_intrusive<StorageImpl>(size_bytes, allocator->allocate(size_bytes), allocator, true)) {}
  // Memory that exists already; it is freed by its DataPtr.
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

} // namespace reftorch::c10
