// Mirrors: nothing in PyTorch; see small_objects.h
#include <c10/util/small_objects.h>

namespace reftorch::c10::impl {

SmallObjectLists::~SmallObjectLists() {
  for (List& list : lists_) {
    while (list.first != nullptr) {
      ::operator delete(std::exchange(list.first, list.first->next));
    }
  }
}

namespace {

thread_local bool has_ended = false;

struct Owner {
  Owner() {
    small_object_lists = new SmallObjectLists;
  }
  ~Owner() {
    has_ended = true;
    delete std::exchange(small_object_lists, nullptr);
  }
};

} // namespace

SmallObjectLists* get_small_object_lists() {
  if (!has_ended) {
    thread_local const Owner owner;
  }
  return small_object_lists;
}

} // namespace reftorch::c10::impl
