// Mirrors: nothing in PyTorch, as the header it tests.
#include <c10/util/small_objects.h>

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using reftorch::c10::impl::kSmallObjectsKept;
using reftorch::c10::impl::SmallObjectLists;

TEST_CASE("A freed block is handed out again to an object that fits into it, the last one first") {
  SmallObjectLists lists;
  void* const a = lists.allocate(100);
  void* const b = lists.allocate(128);
  CHECK(a != b);
  lists.free(a, 100);
  lists.free(b, 128);
  CHECK(lists.allocate(65) == b);
  CHECK(lists.allocate(128) == a);
  lists.free(a, 128);
  void* const other = lists.allocate(129); // of the next size: a block of its own
  CHECK(other != a);
  lists.free(other, 129);
  lists.free(b, 65);
}

TEST_CASE("A list keeps no more blocks than it may") {
  SmallObjectLists lists;
  std::vector<void*> blocks(kSmallObjectsKept + 1);
  for (void*& block : blocks) {
    block = lists.allocate(64);
  }
  for (void* block : blocks) {
    lists.free(block, 64); // the last one goes back to malloc
  }
  for (size_t i = kSmallObjectsKept; i-- > 0;) {
    CHECK(lists.allocate(64) == blocks[i]);
  }
  for (size_t i = 0; i < kSmallObjectsKept; i++) {
    lists.free(blocks[i], 64);
  }
}

TEST_CASE("Each thread has lists of its own, and gives them back when it ends") {
  SmallObjectLists* const mine = reftorch::c10::impl::get_small_object_lists();
  REQUIRE(mine != nullptr);
  CHECK(reftorch::c10::impl::get_small_object_lists() == mine);
  void* block = nullptr;
  std::thread([&] {
    SmallObjectLists* const theirs = reftorch::c10::impl::get_small_object_lists();
    CHECK(theirs != mine);
    block = theirs->allocate(64);
  }).join();
  mine->free(block, 64); // made by a thread that is gone
  CHECK(mine->allocate(64) == block);
  mine->free(block, 64);
}
