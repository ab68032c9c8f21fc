// Mirrors: aten/src/ATen/test/ivalue_test.cpp
//
// Who counts a tensor: an IValue that was made of a Tensor does, one that was made of a Borrowed tensor does not. See
// Note [Borrowed arguments].
#include <ATen/EmptyTensor.h>
#include <ATen/core/ivalue.h>

#include <doctest/doctest.h>

using namespace reftorch::at;

TEST_SUITE("IValue") {
  TEST_CASE("a borrowed tensor is not counted, and stays whole when the value is dropped") {
    const Tensor t = detail::empty_generic({2}, kFloat);
    {
      const IValue borrowed{Borrowed{t}};
      CHECK(t.use_count() == 1);
      CHECK(borrowed.isTensor());
      CHECK(borrowed.toTensor().is_same(t));
    }
    CHECK(t.use_count() == 1);
    CHECK(t.numel() == 2);
  }

  TEST_CASE("an undefined borrowed tensor is None") {
    const Tensor none;
    CHECK(IValue(Borrowed{none}).isNone());
  }

  TEST_CASE("a copy counts the tensor") {
    const Tensor t = detail::empty_generic({2}, kFloat);
    const IValue borrowed{Borrowed{t}};
    const IValue copy(borrowed);
    CHECK(t.use_count() == 2);
    const IValue second(copy);
    CHECK(t.use_count() == 3);
    IValue assigned;
    assigned = borrowed;
    CHECK(t.use_count() == 4);
    assigned = IValue(1.5);
    CHECK(t.use_count() == 3);
  }

  TEST_CASE("a value that was moved from a borrowed one counts the tensor, and outlives the lender") {
    Tensor t = detail::empty_generic({2}, kFloat);
    IValue borrowed{Borrowed{t}};
    const IValue moved(std::move(borrowed));
    CHECK(t.use_count() == 2);
    t.reset();
    CHECK(moved.toTensor().use_count() == 1);
    CHECK(moved.toTensor().numel() == 2);
  }

  TEST_CASE("a tensor that is moved out is counted") {
    Tensor t = detail::empty_generic({2}, kFloat);
    IValue borrowed{Borrowed{t}};
    const Tensor out = std::move(borrowed).toTensor();
    CHECK(t.use_count() == 2);
    IValue owner(t);
    CHECK(t.use_count() == 3);
    const Tensor again = std::move(owner).toTensor();
    CHECK(t.use_count() == 3);
    CHECK(again.is_same(t));
  }

  TEST_CASE("a borrowed value that is overwritten drops nothing") {
    const Tensor t = detail::empty_generic({2}, kFloat);
    IValue value{Borrowed{t}};
    value = IValue(std::vector<Tensor>{t});
    CHECK(t.use_count() == 2);
    value = IValue("text");
    CHECK(t.use_count() == 1);
  }

  TEST_CASE("a stack that moves to a larger place counts what it borrowed") {
    const Tensor t = detail::empty_generic({2}, kFloat);
    {
      Stack stack;
      for (int i = 0; i < 8; i++) {
        stack.emplace_back(Borrowed{t});
      }
      CHECK(t.use_count() == 1);
      stack.emplace_back(Borrowed{t});
      CHECK(t.use_count() == 10);
      drop(stack, 3);
      CHECK(t.use_count() == 7);
    }
    CHECK(t.use_count() == 1);
  }
}
