// Mirrors: nothing in PyTorch: handles of a simulated device's memory. tests/cuda/device_ipc.py opens them in another
// process.
#include <c10/cuda/CUDALaunch.h>
#include <c10/cuda/sim/runtime.h>

#include <doctest/doctest.h>

#include <cstring>
#include <thread>
#include <vector>

using reftorch::c10::cuda::launch;

namespace {

constexpr int kThreads = 4, kRounds = 40;

__global__ void add_kernel(int* x, int value) {
  *x += value;
}

int* new_zero() {
  int* x = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  C10_CUDA_CHECK(cudaMemset(x, 0, sizeof(int)));
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  return x;
}

cudaIpcMemHandle_t handle_of(void* pointer) {
  cudaIpcMemHandle_t handle = {};
  C10_CUDA_CHECK(cudaIpcGetMemHandle(&handle, pointer));
  return handle;
}

bool are_equal(const cudaIpcMemHandle_t& a, const cudaIpcMemHandle_t& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

} // namespace

TEST_CASE("cuda sim: the memory moves into a file while kernels run, and loses nothing") {
  std::vector<int> values(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&values, i] {
      C10_CUDA_CHECK(cudaSetDevice(i % 2));
      int* const x = new_zero();
      cudaStream_t stream = nullptr;
      C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (int round = 0; round < kRounds; round++) {
        launch(add_kernel, 1, 1, 0, stream, x, 1);
        if (round == 10 + i) {
          (void)handle_of(x);
        }
      }
      C10_CUDA_CHECK(cudaStreamSynchronize(stream));
      int& value = values[static_cast<size_t>(i)];
      C10_CUDA_CHECK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
      C10_CUDA_CHECK(cudaFree(x));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const int value : values) {
    CHECK(value == kRounds);
  }
}

TEST_CASE("cuda sim: a handle belongs to a whole allocation, and to other processes") {
  C10_CUDA_CHECK(cudaSetDevice(0));
  int* x = new_zero();
  const cudaIpcMemHandle_t handle = handle_of(x);
  CHECK(are_equal(handle, handle_of(x)));
  cudaIpcMemHandle_t other = {};
  int host = 0;
  void* opened = nullptr;
  CHECK(cudaIpcGetMemHandle(&other, x + 1) == cudaErrorInvalidValue);
  CHECK(cudaIpcGetMemHandle(&other, &host) == cudaErrorInvalidValue);
  CHECK(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess) == cudaErrorDeviceUninitialized);
  CHECK(cudaIpcOpenMemHandle(&opened, handle, 0) == cudaErrorInvalidValue);
  CHECK(cudaIpcOpenMemHandle(&opened, other, cudaIpcMemLazyEnablePeerAccess) == cudaErrorInvalidResourceHandle);
  CHECK(cudaIpcCloseMemHandle(x) == cudaErrorInvalidValue);
  const int another_process = 1;
  const uint64_t hidden_device = 15;
  other = handle;
  std::memcpy(other.reserved + 8, &another_process, sizeof another_process); // see MemoryHandle
  CHECK(cudaIpcOpenMemHandle(&opened, other, cudaIpcMemLazyEnablePeerAccess) == cudaErrorMapBufferObjectFailed);
  std::memcpy(other.reserved + 24, &hidden_device, sizeof hidden_device);
  CHECK(cudaIpcOpenMemHandle(&opened, other, cudaIpcMemLazyEnablePeerAccess) == cudaErrorInvalidDevice);
  C10_CUDA_CHECK(cudaFree(x));
  int* const again = new_zero(); // at the same address
  CHECK(again == x);
  CHECK_FALSE(are_equal(handle, handle_of(again)));
  C10_CUDA_CHECK(cudaFree(again));
  (void)cudaGetLastError();
}
