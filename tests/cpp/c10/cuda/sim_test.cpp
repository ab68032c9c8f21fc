// Mirrors: nothing in PyTorch: the simulator of the CUDA runtime, by CUDA's own names
#include <c10/cuda/CUDALaunch.h>
#include <c10/cuda/sim/runtime.h>

#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

using reftorch::c10::cuda::launch;

namespace {

// The simulator reads its settings at the first call.
const bool two_devices = setenv("REFTORCH_CUDA_SIM", "2", /*overwrite=*/1) == 0;

__global__ void reverse_kernel(float* x) { // within each block, through shared memory
  CUDA_DYNAMIC_SHARED(float, tile);
  tile[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  x[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void warp_sum_kernel(int* out) {
  int value = static_cast<int>(threadIdx.x);
  for (int delta = warpSize / 2; delta > 0; delta /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, delta);
  }
  if (threadIdx.x % warpSize == 0) {
    atomicAdd(out, value);
  }
}

__global__ void write_kernel(int* out, int value) {
  *out = value;
}

__global__ void assert_kernel(int n) {
  CUDA_KERNEL_ASSERT(static_cast<int>(threadIdx.x) < n);
}

__global__ void divergent_kernel(int* x) { // half of the warp at a barrier, half in a shuffle
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    x[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  }
}

} // namespace

TEST_CASE("cuda sim: threads of a block meet at barriers and share memory") {
  const int block = 64, blocks = 3;
  std::vector<float> host(block * blocks);
  for (size_t i = 0; i < host.size(); i++) {
    host[i] = static_cast<float>(i);
  }
  float* device;
  C10_CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(float)));
  C10_CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  launch(reverse_kernel, blocks, block, block * sizeof(float), nullptr, device);
  C10_CUDA_CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(host[0] == 63);
  CHECK(host[64] == 127);
  CHECK(host[191] == 128);
  C10_CUDA_CHECK(cudaFree(device));
}

TEST_CASE("cuda sim: lanes of a warp exchange values, atomics add up over blocks") {
  int *device, host = 0;
  C10_CUDA_CHECK(cudaMalloc(&device, sizeof(int)));
  C10_CUDA_CHECK(cudaMemset(device, 0, sizeof(int)));
  launch(warp_sum_kernel, 5, 128, 0, nullptr, device);
  C10_CUDA_CHECK(cudaMemcpy(&host, device, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(host == 5 * 127 * 128 / 2);
  C10_CUDA_CHECK(cudaFree(device));
}

TEST_CASE("cuda sim: errors are CUDA's") {
  int* device;
  C10_CUDA_CHECK(cudaMalloc(&device, sizeof(int)));
  CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
  CHECK(cudaMalloc(&device, size_t(1) << 45) == cudaErrorMemoryAllocation);
  (void)cudaGetLastError();
  cudaLaunchConfig_t empty{};
  empty.gridDim = dim3(0);
  CHECK(cudaLaunchKernelEx(&empty, assert_kernel, 1) == cudaErrorInvalidConfiguration);
  (void)cudaGetLastError();
  CHECK_THROWS_WITH(C10_CUDA_CHECK(cudaSetDevice(5)), doctest::Contains("CUDA error: invalid device ordinal"));
}

TEST_CASE("cuda sim: what goes wrong in a kernel is seen at the next call, and stays") {
  cudasim::install_fault_handlers(cudasim::runtime().previous); // doctest has put its own over the simulator's
  for (const cudaError_t expected : {cudaErrorAssert, cudaErrorLaunchFailure, cudaErrorIllegalAddress}) {
    int* device;
    C10_CUDA_CHECK(cudaMalloc(&device, 32 * sizeof(int)));
    if (expected == cudaErrorAssert) {
      launch(assert_kernel, 1, 32, 0, nullptr, 20);
    } else if (expected == cudaErrorLaunchFailure) {
      launch(divergent_kernel, 1, 32, 0, nullptr, device);
    } else {
      launch(write_kernel, 1, 1, 0, nullptr, device + (size_t(1) << 34), 1);
    }
    CHECK(cudaDeviceSynchronize() == expected);
    int* other;
    CHECK(cudaMalloc(&other, 4) == expected);
    cudaDeviceReset();
    C10_CUDA_CHECK(cudaFree(device));
  }
}

TEST_CASE("cuda sim: settings") {
  const std::map<const char*, std::vector<int>> cases = {
      {"1,0", {1, 0}}, {"1", {1}}, {" 1 ", {}},  {"", {}},    {"-1", {}},
      {"0,7,1", {0}},  {"x", {}},  {"0,x", {0}}, {"0,0", {}}, {"0,", {0}},
  };
  for (const auto& [list, expected] : cases) {
    setenv("CUDA_VISIBLE_DEVICES", list, 1);
    CHECK_MESSAGE(cudasim::visible_devices() == expected, list);
  }
  int count = -1;
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  unsetenv("CUDA_VISIBLE_DEVICES");
  CHECK(cudasim::visible_devices() == std::vector<int>{0, 1});
  for (const char* wrong : {"12MB", "-3", "1", "99999999999999999999"}) {
    setenv("SIM_TEST_NUMBER", wrong, 1);
    CHECK_MESSAGE(cudasim::number_setting("SIM_TEST_NUMBER", 7, 2, 9) == 7, wrong);
  }
  setenv("SIM_TEST_NUMBER", "9", 1);
  CHECK(cudasim::number_setting("SIM_TEST_NUMBER", 7, 2, 9) == 9);
}

TEST_CASE("cuda sim: a stream waits for an event of another device's stream") {
  cudaStream_t streams[2];
  cudaEvent_t made;
  int *device[2], host = 0;
  for (int d = 0; d < 2; d++) {
    C10_CUDA_CHECK(cudaSetDevice(d));
    C10_CUDA_CHECK(cudaMalloc(&device[d], sizeof(int)));
    C10_CUDA_CHECK(cudaStreamCreateWithFlags(&streams[d], cudaStreamNonBlocking));
  }
  C10_CUDA_CHECK(cudaSetDevice(0));
  C10_CUDA_CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  launch(write_kernel, 1, 1, 0, streams[0], device[0], 42);
  C10_CUDA_CHECK(cudaEventRecord(made, streams[0]));
  CHECK(cudaLaunchHostFunc(streams[0], [](void*) {}, nullptr) == cudaSuccess);
  C10_CUDA_CHECK(cudaSetDevice(1));
  C10_CUDA_CHECK(cudaStreamWaitEvent(streams[1], made));
  C10_CUDA_CHECK(cudaMemcpyPeerAsync(device[1], 1, device[0], 0, sizeof(int), streams[1]));
  C10_CUDA_CHECK(cudaMemcpyAsync(&host, device[1], sizeof(int), cudaMemcpyDeviceToHost, streams[1]));
  C10_CUDA_CHECK(cudaStreamSynchronize(streams[1]));
  CHECK(host == 42);
  cudaLaunchConfig_t config{};
  config.stream = streams[0];
  CHECK(cudaLaunchKernelEx(&config, write_kernel, device[0], 1) == cudaErrorInvalidResourceHandle);
  (void)cudaGetLastError();
  C10_CUDA_CHECK(cudaSetDevice(0));
}
