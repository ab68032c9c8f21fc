// Mirrors: aten/src/ATen/test/tensor_iterator_test.cpp, test/test_cuda.py (the tests of mixed devices)
// On which device an op runs, and which tensors it refuses there.
#include "../c10/core/impl/FakeGuardImpl.h"
#include "FakeTensor.h"

#include <ATen/Functions.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/Copy.h>

#include <doctest/doctest.h>

using namespace reftorch;
using namespace reftorch::at;
using c10::impl::FakeGuardImpl;

namespace {

Tensor cpu_number(float value) {
  return detail::scalar_tensor(c10::Scalar(value), kFloat);
}

} // namespace

TEST_CASE("an op runs on the device of the first tensor that is not on the CPU") {
  const FakeGuardImpl::Scope fake;
  const Tensor x = on_device(1, 2), n = cpu_number(3), y = zeros({2}, kFloat);
  for (const auto& [a, b] : {std::pair{x, x}, std::pair{x, n}, std::pair{n, x}}) {
    Tensor out = on_device(1, 0);
    CHECK(TensorIterator::binary_op(out, a, b).device_type() == c10::kCUDA);
  }
  Tensor out;
  CHECK(TensorIterator::binary_op(out, y, n).device_type() == c10::kCPU);
}

TEST_CASE("an op refuses tensors of two devices, but for numbers on the CPU") {
  const FakeGuardImpl::Scope fake;
  const Tensor x = on_device(1, 2), other = on_device(0, 2), y = zeros({2}, kFloat);
  const auto refused = [](Tensor out, const Tensor& a, const Tensor& b, const std::string& devices) {
    const std::string message =
        "Expected all tensors to be on the same device, but found at least two devices, " + devices + "!";
    CHECK_THROWS_WITH_AS(TensorIterator::binary_op(out, a, b), message.c_str(), const c10::Error&);
  };
  refused(Tensor(), x, y, "cuda:1 and cpu");
  refused(Tensor(), y, x, "cuda:1 and cpu");
  refused(Tensor(), x, other, "cuda:1 and cuda:0");
  refused(y, x, x, "cuda:1 and cpu");
  refused(cpu_number(1), x, x, "cuda:1 and cpu"); // an output is no number
}

TEST_CASE("a copy goes between any two devices, by the kernel of the one that is not the CPU") {
  const FakeGuardImpl::Scope fake;
  static const native::RegisterDispatch<native::copy_fn> registration(
      native::copy_stub, c10::kCUDA,
      [](TensorIterator& iter, bool non_blocking) {
        FakeGuardImpl::note(non_blocking ? "enqueued" : "waited for");
        *static_cast<float*>(iter.data_ptr(0)) = *static_cast<const float*>(iter.data_ptr(1));
      },
      {"fake_copy_kernel", __FILE__, __LINE__});
  Tensor x = on_device(1, 2), other = on_device(0, 3), y = zeros({2}, kFloat);
  copy_(y, x);
  CHECK(y.data_ptr<float>()[0] == 2);
  copy_(x, other, /*non_blocking=*/true);
  CHECK(x.data_ptr<float>()[0] == 3);
  copy_(other, cpu_number(5)); // broadcast
  CHECK(other.data_ptr<float>()[0] == 5);
  CHECK(FakeGuardImpl::take_log() == std::vector<std::string>{"waited for", "enqueued", "waited for"});
}

TEST_CASE("the value of a tensor is read by a kernel of its device") {
  const FakeGuardImpl::Scope fake;
  CHECK(cpu_number(7).item().toDouble() == 7);
  Tensor x = on_device(0, 2);
  x.unsafeGetTensorImpl()->set_sizes_contiguous({1});
  CHECK_THROWS(x.item()); // this device has no such kernel
}
