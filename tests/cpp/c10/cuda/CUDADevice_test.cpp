// Mirrors: nothing in PyTorch: the state of a CUDA device, on two simulated devices
#include <c10/cuda/CUDADevice.h>

#include <ATen/Functions.h>
#include <c10/util/Exception.h>

#include <doctest/doctest.h>

#include <chrono>
#include <future>

using namespace reftorch;
using c10::cuda::CUDADevice;

TEST_CASE("cuda sim: a thread that holds the lock of one device does not stop work on another") {
  const c10::Device other(c10::kCUDA, 1);
  const at::Tensor a = at::ones({8, 8}, c10::kFloat, other);
  std::unique_lock<std::mutex> lock(CUDADevice::get(0).mutex());
  auto product = std::async(std::launch::async, [&] { return at::sum(at::mm(a, a)).item().toDouble(); });
  auto stream = std::async(std::launch::async, [] { return CUDADevice::get(1).next_stream(); });
  CHECK(product.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
  CHECK(stream.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
  lock.unlock(); // where a check failed, the threads can end
  CHECK(product.get() == 8 * 64);
  CHECK(stream.get() == 1);
}

TEST_CASE("cuda sim: a device hands out its own 32 streams in turn") {
  CUDADevice& first = CUDADevice::get(0);
  CUDADevice& second = CUDADevice::get(1);
  for (c10::StreamId id = 1; id <= 32; id++) {
    CHECK(first.next_stream() == id);
  }
  const cudaStream_t handle = first.stream(1);
  CHECK(first.next_stream() == 1);
  CHECK(first.stream(1) == handle);
  CHECK(first.stream(0) == nullptr);
  const c10::StreamId next = second.next_stream(); // 1, unless another case has asked before
  CHECK(next < 32);
  CHECK(second.stream(next) != handle);
  CHECK_THROWS_AS(second.stream(next + 1), c10::Error); // not handed out yet
  CHECK_THROWS_AS(second.stream(33), c10::Error);
  CHECK_THROWS_AS(second.stream(-1), c10::Error);
  CHECK_THROWS_AS(CUDADevice::get(2), c10::Error);
  CHECK_THROWS_AS(CUDADevice::get(-1), c10::Error);
}

TEST_CASE("cuda sim: a device counts its own memory and has its own properties") {
  const at::Tensor a = at::ones({100}, c10::kFloat, c10::Device(c10::kCUDA, 1));
  CHECK(CUDADevice::get(0).memory().getStats().allocated_bytes[0].current == 0);
  CHECK(CUDADevice::get(1).memory().getStats().allocated_bytes[0].current == 512);
  CHECK(&CUDADevice::get(0).properties() != &CUDADevice::get(1).properties());
  CHECK(CUDADevice::get(0).properties().warpSize == 32);
}
