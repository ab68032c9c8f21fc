// Mirrors: test/cpp/api/autograd.cpp
// The engine on nodes written here: without Python there are no formulas.
#include <csrc/autograd/engine.h>

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <csrc/autograd/functions/utils.h>

#include <doctest/doctest.h>

#include <thread>

using namespace reftorch;
using namespace reftorch::torch::autograd;

namespace {

// y = factor * x
struct Scale final : public Node {
  Scale(double factor_, std::vector<std::string>* log_ = nullptr) : factor(factor_), log(log_) {}
  std::string name() const override {
    return "ScaleBackward";
  }
  void release_variables() override {
    released = true;
  }
  variable_list apply(variable_list&& grads) override {
    if (log != nullptr) {
      log->push_back("scale " + std::to_string(static_cast<int>(factor)));
    }
    const c10::NoGradGuard no_grad;
    at::Tensor scaled = at::clone(grads[0]);
    at::add_(scaled, grads[0], factor - 1);
    variable_list results;
    for (size_t i = 0; i < num_outputs(); i++) {
      results.push_back(scaled);
    }
    return results;
  }
  double factor;
  std::vector<std::string>* log;
  bool released = false;
};

at::Tensor leaf(double value) {
  at::Tensor x = at::zeros({2}, at::kFloat);
  at::fill_(x, value);
  impl::materialize_autograd_meta(x)->set_requires_grad(true, x);
  return x;
}

at::Tensor scale(const at::Tensor& x, double factor, std::vector<std::string>* log = nullptr) {
  auto node = std::make_shared<Scale>(factor, log);
  node->add_next_edge(impl::gradient_edge(x));
  at::Tensor y = impl::variable_data(x);
  set_history(y, node);
  return y;
}

double grad_of(const at::Tensor& x) {
  return impl::get_autograd_meta(x)->grad().data_ptr<float>()[0];
}

void backward(const at::Tensor& y, bool keep_graph = false) {
  Engine::get_default_engine().execute({impl::gradient_edge(y)}, {at::ones_like(impl::tensor_data(y))}, keep_graph,
                                       false, true);
}

} // namespace

TEST_CASE("a gradient reaches the leaf and accumulates") {
  at::Tensor x = leaf(1);
  backward(scale(scale(x, 2), 3));
  CHECK(grad_of(x) == 6);
  backward(scale(x, 4));
  CHECK(grad_of(x) == 10);
}

TEST_CASE("a node runs when all its gradients are there, the latest node first") {
  std::vector<std::string> log;
  at::Tensor x = leaf(1);
  at::Tensor trunk = scale(x, 2, &log);
  at::Tensor left = scale(trunk, 3, &log), right = scale(trunk, 5, &log);
  Engine::get_default_engine().execute({impl::gradient_edge(left), impl::gradient_edge(right)},
                                       {at::ones_like(impl::tensor_data(x)), at::ones_like(impl::tensor_data(x))},
                                       false, false, true);
  CHECK(log == std::vector<std::string>{"scale 5", "scale 3", "scale 2"});
  CHECK(grad_of(x) == 16);
}

TEST_CASE("only what leads to the wanted inputs runs") {
  std::vector<std::string> log;
  at::Tensor x = leaf(1), unused = leaf(1);
  at::Tensor inner = scale(x, 2, &log);
  auto join = std::make_shared<Scale>(7);
  join->add_next_edge(impl::gradient_edge(inner));
  join->add_next_edge(impl::gradient_edge(scale(unused, 3, &log)));
  at::Tensor y = impl::variable_data(x);
  set_history(y, join);
  variable_list grads =
      Engine::get_default_engine().execute({impl::gradient_edge(y)}, {at::ones_like(impl::tensor_data(y))}, false,
                                           false, false, {impl::gradient_edge(inner)});
  CHECK(grads.size() == 1);
  CHECK(grads[0].data_ptr<float>()[0] == 7);
  CHECK(log.empty());
  CHECK_FALSE(impl::get_autograd_meta(x)->grad().defined());
}

TEST_CASE("variables are released unless the graph is kept") {
  at::Tensor x = leaf(1), y = scale(x, 2);
  auto* node = static_cast<Scale*>(impl::grad_fn(y).get());
  backward(y, true);
  CHECK_FALSE(node->released);
  backward(y);
  CHECK(node->released);
}

TEST_CASE("a gradient that fits no way is refused by name") {
  at::Tensor y = scale(leaf(1), 2);
  CHECK_THROWS_WITH_AS(
      Engine::get_default_engine().execute({impl::gradient_edge(y)}, {at::zeros({3, 5}, at::kFloat)}, false, false,
                                           true),
      "backward() returned an invalid gradient at index 0 - got [3, 5] but expected shape compatible with [2]",
      const c10::Error&);
}

TEST_CASE("a chain of 200000 nodes is freed without recursion") {
  at::Tensor y = leaf(1);
  for (int i = 0; i < 200000; i++) {
    y = scale(y, 1);
  }
  CHECK(impl::grad_fn(y)->topological_nr() == 200000);
  y.reset();
}

TEST_CASE("threads accumulate into one leaf") {
  at::Tensor x = leaf(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&x] {
      for (int i = 0; i < 250; i++) {
        backward(scale(x, 1));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(grad_of(x) == 1000);
}
