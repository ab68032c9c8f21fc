// Mirrors: nothing in PyTorch, which makes such objects without a lock and forbids threads to share the tensor.
//
// Owns an object that is made when a thread first asks for it.
#pragma once

#include <memory>

namespace reftorch::c10 {

// Threads may call get() and get_or_make() at the same time. If several threads make an object, one of the objects is
// kept and every thread gets that one. Assignment and destruction require that no other thread uses the LazyPtr. The
// class uses compiler builtins instead of std::atomic, whose members are function calls in the Debug build.
template <typename T>
class LazyPtr final {
 public:
  LazyPtr() = default;
  LazyPtr(const LazyPtr&) = delete;
  LazyPtr& operator=(const LazyPtr&) = delete;
  ~LazyPtr() {
    delete ptr_;
  }

  // Returns null until the object is made.
  T* get() const {
    return __atomic_load_n(&ptr_, __ATOMIC_ACQUIRE);
  }
  // `make` returns a std::unique_ptr to a T, or to a class derived from T.
  template <typename Make>
  T* get_or_make(Make&& make) {
    T* seen = get();
    if (seen != nullptr) {
      return seen;
    }
    std::unique_ptr<T> fresh = make();
    const bool is_first =
        __atomic_compare_exchange_n(&ptr_, &seen, fresh.get(), /*weak=*/false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return is_first ? fresh.release() : seen;
  }
  LazyPtr& operator=(std::unique_ptr<T> fresh) {
    T* const former = get(); // not exchanged, because that is a locked instruction
    __atomic_store_n(&ptr_, fresh.release(), __ATOMIC_RELEASE);
    delete former;
    return *this;
  }

  T* operator->() const {
    return get();
  }
  T& operator*() const {
    return *get();
  }
  bool operator==(std::nullptr_t) const {
    return get() == nullptr;
  }
  bool operator!=(std::nullptr_t) const {
    return get() != nullptr;
  }

 private:
  T* ptr_ = nullptr;
};

} // namespace reftorch::c10
