// Mirrors: nothing in PyTorch; see cpp/c10/util/bounds.h
#include <c10/util/SmallVector.h>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace reftorch::c10;

#ifndef NDEBUG
TEST_CASE("the builds with assertions find an index out of bounds") {
  const SmallVector<int64_t, 2> v{1, 2, 3};
  const ArrayRef<int64_t> ref(v);
  CHECK(v[2] == 3);
  CHECK(ref.slice(3, 0).empty());
  CHECK_THROWS_AS(v[3], std::logic_error);
  CHECK_THROWS_AS(ref[3], std::logic_error);
  CHECK_THROWS_AS(ref[size_t(-1)], std::logic_error);
  CHECK_THROWS_AS(ref.slice(2, 2), std::logic_error);
  SmallVector<int64_t, 2> empty;
  CHECK_THROWS_AS(empty.back(), std::logic_error);
  CHECK_THROWS_AS(empty.front(), std::logic_error);
  CHECK_THROWS_AS(empty.pop_back(), std::logic_error);
  CHECK_THROWS_AS(IntArrayRef().back(), std::logic_error);
}
#endif
