// Mirrors: nothing in PyTorch: it tests SavedVariable through Python
#include <csrc/autograd/input_buffer.h>
#include <csrc/autograd/saved_variable.h>

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <csrc/autograd/functions/basic_ops.h>
#include <csrc/autograd/functions/utils.h>

#include <doctest/doctest.h>

using namespace reftorch;
using namespace reftorch::torch::autograd;

TEST_CASE("an input is saved as it is") {
  at::Tensor x = at::zeros({2}, at::kFloat);
  SavedVariable saved(x, false);
  CHECK(saved.unpack().is_same(x));
}

TEST_CASE("an output is saved without its node, and gets it back") {
  at::Tensor y = at::zeros({2}, at::kFloat);
  std::weak_ptr<Node> alive;
  {
    auto node = std::make_shared<NotImplemented>("aten::test");
    set_history(y, node);
    SavedVariable saved(y, true);
    CHECK(node.use_count() == 2); // ours and y's
    at::Tensor unpacked = saved.unpack(node);
    CHECK(impl::grad_fn(unpacked) == node);
    CHECK(unpacked.is_alias_of(y));
    alive = node;
  }
  y.reset();
  CHECK(alive.expired());
}

TEST_CASE("a change in place is noticed, through a detached tensor too") {
  at::Tensor x = at::zeros({2}, at::kFloat);
  SavedVariable saved(x, false);
  at::Tensor other = impl::tensor_data(x);
  impl::bump_version(other);
  CHECK_THROWS_AS(saved.unpack(), c10::Error);
}

TEST_CASE("a released variable says so, an empty one is undefined") {
  SavedVariable saved(at::zeros({2}, at::kFloat), false);
  saved.release();
  CHECK_THROWS_WITH_AS(saved.unpack(), ERR_BACKWARD_TWICE, const c10::Error&);
  CHECK_FALSE(SavedVariable().unpack().defined());
}

TEST_CASE("InputBuffer adds in place only what nobody else holds") {
  const c10::NoGradGuard no_grad;
  at::Tensor one = at::zeros({2}, at::kFloat);
  at::fill_(one, 1);
  InputBuffer buffer(2);
  buffer.add(0, one); // shared with us
  buffer.add(0, at::clone(one));
  CHECK(one.data_ptr<float>()[0] == 1);
  CHECK(buffer.buffer[0].data_ptr<float>()[0] == 2);

  const c10::TensorImpl* sum = buffer.buffer[0].unsafeGetTensorImpl();
  buffer.add(0, one);
  CHECK(buffer.buffer[0].unsafeGetTensorImpl() == sum);
  CHECK(buffer.buffer[0].data_ptr<float>()[0] == 3);

  buffer.add(1, at::Tensor());
  CHECK_FALSE(buffer.buffer[1].defined());
}
