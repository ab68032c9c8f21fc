// Mirrors: test/cpp/api/autograd.cpp, test/test_cuda.py (the tests of streams in backward)
// The engine on a device that notes what it is told: which thread, device and stream a node runs on, and who waits for
// whom. The tensors say that they lie on that device; their memory and their kernel are the CPU's.
#include "../../ATen/FakeTensor.h"
#include "../../c10/core/impl/FakeGuardImpl.h"

#include <csrc/autograd/engine.h>

#include <ATen/Functions.h>
#include <ATen/native/BinaryOps.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <csrc/autograd/functions/utils.h>

#include <doctest/doctest.h>

#include <functional>
#include <thread>

using namespace reftorch;
using namespace reftorch::torch::autograd;
using at::on_device;
using c10::impl::FakeGuardImpl;
using Log = std::vector<std::string>;

namespace {

// The kernel of add for the device: the CPU's, which notes the stream it was called on.
struct FakeDevice {
  FakeDevice() {
    static const at::native::RegisterDispatch<at::native::structured_binary_fn_alpha> registration(
        at::native::add_stub, c10::kCUDA,
        [](at::TensorIterator& iter, const c10::Scalar& alpha) {
          FakeGuardImpl::note("add on " + here());
          at::native::add_stub.fns[static_cast<int>(c10::kCPU)](iter, alpha);
        },
        {"fake_add_kernel", __FILE__, __LINE__});
  }
  static std::string here() {
    return FakeGuardImpl::name(FakeGuardImpl().getStream(c10::Device(c10::kCUDA)));
  }
  const FakeGuardImpl::Scope scope;
};

at::Tensor leaf(c10::DeviceIndex index) {
  at::Tensor x = on_device(index, 1);
  impl::materialize_autograd_meta(x)->set_requires_grad(true, x);
  return x;
}

// Its gradient is `factor` times what comes, on the device of its input.
struct Work final : public Node {
  std::string name() const override {
    return "WorkBackward";
  }
  variable_list apply(variable_list&& grads) override {
    thread = std::this_thread::get_id();
    device = FakeGuardImpl::current_device;
    FakeGuardImpl::note("node on " + FakeDevice::here());
    if (inside) {
      inside();
    }
    variable_list results;
    for (size_t i = 0; i < num_outputs(); i++) {
      const c10::Device to = next_edge(i).function->input_metadata(next_edge(i).input_nr).device();
      const float value = factor * grads[0].data_ptr<float>()[0];
      at::Tensor result = to.is_cpu() ? at::zeros({2}, at::kFloat) : on_device(to.index(), value);
      result.data_ptr<float>()[0] = result.data_ptr<float>()[1] = value;
      results.push_back(result);
    }
    return results;
  }
  float factor = 2;
  std::function<void()> inside;
  std::thread::id thread;
  int device = -1;
};

// An op on the current stream of that device, from `xs`.
at::Tensor work(c10::DeviceIndex index, std::initializer_list<at::Tensor> xs, std::function<void()> inside = nullptr) {
  auto node = std::make_shared<Work>();
  node->inside = std::move(inside);
  for (const at::Tensor& x : xs) {
    node->add_next_edge(impl::gradient_edge(x));
  }
  at::Tensor y = on_device(index, 1);
  set_history(y, node);
  return y;
}
at::Tensor work_on(c10::DeviceIndex index, c10::StreamId stream, std::initializer_list<at::Tensor> xs) {
  const c10::StreamGuard guard(FakeGuardImpl::stream(index, stream));
  return work(index, xs);
}
Work& node_of(const at::Tensor& y) {
  return *static_cast<Work*>(impl::grad_fn(y).get());
}

variable_list backward(const at::Tensor& y, const edge_list& outputs = {}) {
  return Engine::get_default_engine().execute({impl::gradient_edge(y)}, {on_device(y.device().index(), 1)}, false,
                                              false, outputs.empty(), outputs);
}
float grad_of(const at::Tensor& x) {
  return impl::get_autograd_meta(x)->grad().data_ptr<float>()[0];
}

} // namespace

TEST_CASE("a node runs on the thread, device and stream of its forward") {
  const FakeDevice fake;
  at::Tensor x = leaf(1), y = work_on(1, 5, {x}), z = work_on(0, 3, {y});
  backward(z);
  CHECK(grad_of(x) == 4);
  CHECK(node_of(y).device == 1);
  CHECK(node_of(z).device == 0);
  CHECK(node_of(y).thread != std::this_thread::get_id());
  CHECK(node_of(y).thread != node_of(z).thread);
  const std::thread::id first = node_of(y).thread;
  at::Tensor again = work_on(1, 6, {x});
  backward(again);
  CHECK(node_of(again).thread == first); // one thread a device, for all passes
}

TEST_CASE("the nodes of the CPU run on the caller's thread") {
  const FakeDevice fake;
  at::Tensor x = at::zeros({2}, at::kFloat);
  impl::materialize_autograd_meta(x)->set_requires_grad(true, x);
  auto to_device = std::make_shared<Work>();
  to_device->add_next_edge(impl::gradient_edge(x));
  at::Tensor inner = at::zeros({2}, at::kFloat);
  set_history(inner, to_device);
  backward(work(0, {inner}));
  CHECK(to_device->thread == std::this_thread::get_id());
  CHECK(grad_of(x) == 4);
}

TEST_CASE("a gradient that goes to another stream takes an event along") {
  const FakeDevice fake;
  at::Tensor x = leaf(0);
  const Edge accumulator = impl::gradient_edge(x); // made here, so that its stream is 0/0
  at::Tensor y = work_on(0, 3, {x});
  FakeGuardImpl::take_log();
  backward(y);
  CHECK(FakeGuardImpl::take_log() == Log{"record 0/0", "0/3 waits for 0/0", "memory is used on 0/3", "node on 0/3",
                                         "record 0/3", "0/0 waits for 0/3", "memory is used on 0/0"});
}

TEST_CASE("on one stream nobody waits") {
  const FakeDevice fake;
  at::Tensor x = leaf(0), y = work(0, {work(0, {x})});
  FakeGuardImpl::take_log();
  backward(y);
  CHECK(FakeGuardImpl::take_log() == Log{"node on 0/0", "node on 0/0"});
}

TEST_CASE("gradients are summed on the stream of the node that gets them") {
  const FakeDevice fake;
  at::Tensor x = leaf(0), trunk = work_on(0, 7, {x}), left = work_on(0, 3, {trunk}), right = work_on(0, 4, {trunk});
  at::Tensor y = work_on(0, 7, {left, right});
  FakeGuardImpl::take_log();
  backward(y);
  CHECK(grad_of(x) == 16);
  const Log log = FakeGuardImpl::take_log();
  const auto at = [&log](const std::string& line) { return std::find(log.begin(), log.end(), line) - log.begin(); };
  CHECK(at("0/7 waits for 0/3") < at("add on 0/7"));
  CHECK(at("0/7 waits for 0/4") < at("add on 0/7"));
  CHECK(at("add on 0/7") < static_cast<long>(log.size()));
}

TEST_CASE("the caller's streams wait for the streams of the leaves") {
  const FakeDevice fake;
  at::Tensor x = leaf(0), other = leaf(1), y = work(0, {x, other});
  const c10::StreamGuard guard(FakeGuardImpl::stream(0, 9));
  FakeGuardImpl::take_log();
  backward(y);
  Log log = FakeGuardImpl::take_log();
  // The stream of `other`, 1/0, is the caller's current one on that device.
  CHECK(Log(log.end() - 2, log.end()) == Log{"record 0/0", "0/9 waits for 0/0"});
}

TEST_CASE("a gradient that is asked for is in order with the caller's stream") {
  const FakeDevice fake;
  at::Tensor x = leaf(0), y = work_on(0, 3, {x}), z = work_on(0, 4, {y});
  FakeGuardImpl::take_log();
  const variable_list grads = backward(z, {impl::gradient_edge(y)});
  CHECK(grads[0].data_ptr<float>()[0] == 2);
  Log log = FakeGuardImpl::take_log();
  CHECK(Log(log.end() - 2, log.end()) == Log{"record 0/3", "0/0 waits for 0/3"});
}

TEST_CASE("an error on a device's thread is thrown by the pass, which then is over") {
  const FakeDevice fake;
  at::Tensor x = leaf(0), bad = work(1, {x}, [] { TORCH_CHECK(false, "broken on purpose"); });
  at::Tensor y = work(0, {bad, work(1, {x}), work(0, {x})});
  CHECK_THROWS_WITH_AS(backward(y), "broken on purpose", const c10::Error&);
  backward(work(1, {x}));
  CHECK(GraphTask::current() == nullptr);
}

TEST_CASE("passes inside of passes, on both devices and deeper than one stack") {
  const FakeDevice fake;
  at::Tensor x = leaf(0);
  std::function<void(int)> descend = [&](int depth) {
    const auto device = static_cast<c10::DeviceIndex>(depth % 2);
    at::Tensor inner = work(device, {x}, [&, depth] {
      if (depth > 0) {
        descend(depth - 1);
      }
    });
    backward(inner);
  };
  descend(2 * kMaxReentrantDepth);
  CHECK(grad_of(x) == 2 * (2 * kMaxReentrantDepth + 1));
}

TEST_CASE("passes of several threads share the devices' threads") {
  const FakeDevice fake;
  at::Tensor x = leaf(0), y = leaf(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; i++) {
        backward(work(0, {work(1, {work_on(0, 3, {x}), y})}));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(grad_of(x) == 4 * 50 * 8);
  CHECK(grad_of(y) == 4 * 50 * 4);
}
