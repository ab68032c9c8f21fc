// Mirrors: c10/util/intrusive_ptr.h
//
// A smart pointer whose reference count is stored in the object that it points to: one allocation, one word, and the
// count can be read from the object. Left out: weak pointers. Where the autograd graph must not own a node, it uses
// std::weak_ptr<Node>.
//
// The highest bit of the count says that a Python object stands for the target and holds one of the references. The
// pointers call incref_pyobject() when the first further reference appears, and decref_pyobject() when the last further
// reference is gone. See Note [One PyObject per TensorImpl].
#pragma once

#include <c10/util/small_objects.h>

#include <atomic>
#include <cstddef>
#include <utility>

namespace reftorch::c10 {

class intrusive_ptr_target : public SmallObject {
 public:
  intrusive_ptr_target() = default;
  intrusive_ptr_target(const intrusive_ptr_target&) : refcount_(0) {}
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) {
    return *this;
  }
  virtual ~intrusive_ptr_target() = default;

  size_t use_count() const {
    return refcount_.load(std::memory_order_acquire) & ~kHasPyObject;
  }

 protected:
  // Sets the bit. The caller holds a reference, which belongs to the Python object from now on. Returns the number of
  // references.
  size_t add_pyobject() noexcept {
    if (refcount_.load(std::memory_order_acquire) == 1) { // the caller holds the only reference
      refcount_.store(1 | kHasPyObject, std::memory_order_release);
      return 1;
    }
    return refcount_.fetch_or(kHasPyObject, std::memory_order_acq_rel);
  }
  // Clears the bit. Returns the number of references.
  size_t remove_pyobject() noexcept {
    if (refcount_.load(std::memory_order_acquire) == (1 | kHasPyObject)) {
      refcount_.store(1, std::memory_order_release);
      return 1;
    }
    return refcount_.fetch_and(~kHasPyObject, std::memory_order_acq_rel) & ~kHasPyObject;
  }
  // Called if the bit is set: incref_pyobject() after the count has gone from 1 to 2, and decref_pyobject() after it
  // has gone from 2 to 1. decref_pyobject() may delete the target.
  virtual void incref_pyobject() const noexcept {}
  virtual void decref_pyobject() const noexcept {}

 private:
  static constexpr size_t kHasPyObject = size_t(1) << (8 * sizeof(size_t) - 1);

  template <typename T>
  friend class intrusive_ptr;
  mutable std::atomic<size_t> refcount_{0};
};

template <typename T>
class intrusive_ptr final {
 public:
  using element_type = T;

  intrusive_ptr() noexcept = default;
  intrusive_ptr(std::nullptr_t) noexcept {}
  intrusive_ptr(const intrusive_ptr& other) noexcept : target_(other.target_) {
    retain();
  }
  intrusive_ptr(intrusive_ptr&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  template <typename U>
  intrusive_ptr(intrusive_ptr<U> other) noexcept : target_(other.release()) {}
  ~intrusive_ptr() {
    reset();
  }
  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }

  // Takes over a reference that the caller holds.
  static intrusive_ptr reclaim(T* owned) {
    intrusive_ptr ptr;
    ptr.target_ = owned;
    return ptr;
  }
  // Adds a reference to an object that others own.
  static intrusive_ptr unsafe_reclaim_from_nonowning(T* target) {
    intrusive_ptr ptr;
    ptr.target_ = target;
    ptr.retain();
    return ptr;
  }
  // Makes the first reference to a new object, which no other thread has seen.
  static intrusive_ptr first(T* fresh) {
    fresh->refcount_.store(1, std::memory_order_relaxed);
    return reclaim(fresh);
  }
  // Hands the reference over to the caller.
  T* release() noexcept {
    return std::exchange(target_, nullptr);
  }
  void reset() noexcept {
    T* target = release();
    if (target == nullptr) {
      return;
    }
    // If this is the only reference, no other thread can change the count, so no locked instruction is needed.
    const bool is_only = target->refcount_.load(std::memory_order_acquire) == 1;
    const size_t before = is_only ? 1 : target->refcount_.fetch_sub(1, std::memory_order_acq_rel);
    if (before == 1) {
      target->refcount_.store(0, std::memory_order_relaxed);
      delete target;
    } else if (before == (2 | intrusive_ptr_target::kHasPyObject)) {
      static_cast<const intrusive_ptr_target*>(target)->decref_pyobject();
    }
  }

  T* get() const noexcept {
    return target_;
  }
  T& operator*() const noexcept {
    return *target_;
  }
  T* operator->() const noexcept {
    return target_;
  }
  explicit operator bool() const noexcept {
    return target_ != nullptr;
  }
  bool defined() const noexcept {
    return target_ != nullptr;
  }
  size_t use_count() const noexcept {
    return target_ == nullptr ? 0 : target_->use_count();
  }
  bool unique() const noexcept {
    return use_count() == 1;
  }

 private:
  void retain() noexcept {
    if (target_ != nullptr &&
        target_->refcount_.fetch_add(1, std::memory_order_acquire) == (1 | intrusive_ptr_target::kHasPyObject)) {
      static_cast<const intrusive_ptr_target*>(target_)->incref_pyobject();
    }
  }

  T* target_ = nullptr;
};

template <typename T, typename... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::first(new T(std::forward<Args>(args)...));
}

template <typename T>
bool operator==(const intrusive_ptr<T>& lhs, const intrusive_ptr<T>& rhs) noexcept {
  return lhs.get() == rhs.get();
}
template <typename T>
bool operator!=(const intrusive_ptr<T>& lhs, const intrusive_ptr<T>& rhs) noexcept {
  return lhs.get() != rhs.get();
}

} // namespace reftorch::c10
