// Mirrors: c10/test/util/SmallVectorTest.cpp
#include <c10/util/SmallVector.h>

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <stdexcept>

using reftorch::c10::SmallVector;

TEST_CASE("SmallVector keeps its elements when it moves from its own memory to the heap") {
  SmallVector<int64_t, 2> v{1, 2};
  v.push_back(3);
  v.push_back(4);
  REQUIRE(v.size() == 4);
  for (int64_t i = 0; i < 4; ++i) {
    CHECK(v[i] == i + 1);
  }
}

TEST_CASE("SmallVector destroys each element exactly once") {
  auto counted = std::make_shared<int>(0);
  {
    SmallVector<std::shared_ptr<int>, 2> v;
    for (int i = 0; i < 5; ++i) {
      v.push_back(counted);
    }
    CHECK(counted.use_count() == 6);
    SmallVector<std::shared_ptr<int>, 2> moved(std::move(v));
    CHECK(counted.use_count() == 6);
    SmallVector<std::shared_ptr<int>, 2> copied(moved);
    CHECK(counted.use_count() == 11);
  }
  CHECK(counted.use_count() == 1);
}

TEST_CASE("SmallVector refuses a size whose bytes nobody can count, and stays what it was") {
  SmallVector<int64_t, 2> v{1, 2, 3};
  const size_t most = std::numeric_limits<size_t>::max();
  const size_t wraps_to_one = most / sizeof(int64_t) + 2; // times eight: eight bytes
  for (size_t count : {most, wraps_to_one}) {
    CHECK_THROWS_WITH_AS(v.reserve(count), doctest::Contains("SmallVector unable to grow. Requested capacity ("),
                         std::length_error);
    CHECK_THROWS_AS(v.resize(count), std::length_error);
    CHECK_THROWS_AS((SmallVector<int64_t, 2>(count)), std::length_error);
  }
  CHECK(v == SmallVector<int64_t, 2>{1, 2, 3});
}
