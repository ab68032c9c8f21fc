// Mirrors: nothing in PyTorch, which leaves this to malloc.
//
// Note [Small objects]
// Problem: an op that is recorded makes about six small objects (tensor, storage, node, ...) and frees them with the
// graph. malloc keeps only seven freed blocks of each size ready for a thread, and uses slower code for the rest of a
// longer graph. Together, this takes a sixth of the instructions of a recorded op. Trick: each thread keeps the blocks
// that it frees, in lists by size, and reuses them. The blocks come from malloc, so any thread may free them. Only the
// Release build does this; in the other builds every object comes from malloc directly, so that debuggers and
// sanitizers can track it.
#pragma once

#include <c10/macros/Export.h>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace reftorch::c10 {

namespace impl {

constexpr size_t kSmallObjectStep = 64, kSmallObjectMax = 1024, kSmallObjectsKept = 512;

// Allocates a block large enough for every object of its list: the size is rounded up to a multiple of
// kSmallObjectStep.
inline void* allocate_fresh(size_t size) {
  return ::operator new((size + kSmallObjectStep - 1) / kSmallObjectStep * kSmallObjectStep);
}

// The free blocks of one thread. lists_[i] has the blocks of (i + 1) * kSmallObjectStep bytes.
class C10_API SmallObjectLists final {
 public:
  SmallObjectLists() = default;
  SmallObjectLists(const SmallObjectLists&) = delete;
  SmallObjectLists& operator=(const SmallObjectLists&) = delete;
  ~SmallObjectLists();

  void* allocate(size_t size) {
    List& list = lists_[(size - 1) / kSmallObjectStep];
    Block* const block = list.first;
    if (block == nullptr) {
      return allocate_fresh(size);
    }
    list.first = block->next;
    list.length--;
    return block;
  }
  void free(void* object, size_t size) noexcept {
    List& list = lists_[(size - 1) / kSmallObjectStep];
    if (list.length == kSmallObjectsKept) {
      ::operator delete(object);
      return;
    }
    list.first = new (object) Block{list.first};
    list.length++;
  }

 private:
  struct Block {
    Block* next;
  };
  struct List {
    Block* first = nullptr;
    size_t length = 0;
  };
  List lists_[kSmallObjectMax / kSmallObjectStep];
};

// The lists of this thread. Null until the thread first asks for them, and null again while the thread ends.
inline thread_local SmallObjectLists* small_object_lists = nullptr;
// Returns the lists of this thread, which the first call makes. Returns null while the thread ends.
C10_API SmallObjectLists* get_small_object_lists();

} // namespace impl

#ifdef NDEBUG
inline void* allocate_small_object(size_t size) {
  if (size > impl::kSmallObjectMax) {
    return ::operator new(size);
  }
  impl::SmallObjectLists* lists = impl::small_object_lists;
  if (lists == nullptr) {
    lists = impl::get_small_object_lists();
  }
  return lists != nullptr ? lists->allocate(size) : impl::allocate_fresh(size);
}
inline void free_small_object(void* object, size_t size) noexcept {
  impl::SmallObjectLists* const lists = impl::small_object_lists;
  if (size > impl::kSmallObjectMax || lists == nullptr) {
    ::operator delete(object);
  } else {
    lists->free(object, size);
  }
}
#else
inline void* allocate_small_object(size_t size) {
  return ::operator new(size);
}
inline void free_small_object(void* object, size_t) noexcept {
  ::operator delete(object);
}
#endif

// The base class of objects that are made and freed with every op.
struct SmallObject {
  static void* operator new(size_t size) {
    return allocate_small_object(size);
  }
  static void* operator new(size_t, void* place) noexcept {
    return place;
  }
  static void operator delete(void* object, size_t size) noexcept {
    free_small_object(object, size);
  }
};

// The allocator for small objects that a std::shared_ptr owns: std::allocate_shared<T>(SmallObjectAllocator<T>(), ...).
template <typename T>
struct SmallObjectAllocator {
  using value_type = T;
  SmallObjectAllocator() = default;
  template <typename U>
  SmallObjectAllocator(const SmallObjectAllocator<U>&) noexcept {}
  T* allocate(size_t n) {
    return static_cast<T*>(allocate_small_object(n * sizeof(T)));
  }
  void deallocate(T* object, size_t n) noexcept {
    free_small_object(object, n * sizeof(T));
  }
  template <typename U>
  bool operator==(const SmallObjectAllocator<U>&) const noexcept {
    return true;
  }
  template <typename U>
  bool operator!=(const SmallObjectAllocator<U>&) const noexcept {
    return false;
  }
};

// std::make_shared with SmallObjectAllocator.
template <typename T, typename... Args>
std::shared_ptr<T> make_shared_small(Args&&... args) {
  return std::allocate_shared<T>(SmallObjectAllocator<T>(), std::forward<Args>(args)...);
}

} // namespace reftorch::c10
