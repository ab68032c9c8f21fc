// Mirrors: nothing in PyTorch: several host threads that call the simulator of the CUDA runtime at once, as CUDA allows.
// `make tsan` runs this file under the thread sanitizer.
#include <c10/cuda/CUDALaunch.h>
#include <c10/cuda/sim/runtime.h>

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using reftorch::c10::cuda::launch;

namespace {

constexpr int kThreads = 4, kRounds = 30;

__global__ void add_kernel(int* x, int value) {
  *x += value;
}

__global__ void block_sum_kernel(int* out) { // the threads of the block wait for each other
  CUDA_DYNAMIC_SHARED(int, tile);
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  for (unsigned n = blockDim.x / 2; n > 0; n /= 2) {
    __syncthreads();
    if (threadIdx.x < n) {
      tile[threadIdx.x] += tile[threadIdx.x + n];
    }
  }
  if (threadIdx.x == 0) {
    *out += tile[0];
  }
}

template <typename F>
void on_threads(const F& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&work, i] { work(i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

int* new_zero() {
  int* x = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  C10_CUDA_CHECK(cudaMemset(x, 0, sizeof(int)));
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  return x;
}
int value_of(const int* device) {
  int host = 0;
  C10_CUDA_CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
  return host;
}
cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

} // namespace

TEST_CASE("cuda sim: host threads use one stream, and streams of their own") {
  int* const shared = new_zero();
  const cudaStream_t stream = new_stream();
  std::vector<int> sums(kThreads);
  on_threads([&](int i) {
    C10_CUDA_CHECK(cudaSetDevice(i % 2));
    int* const own = new_zero();
    const cudaStream_t own_stream = new_stream();
    for (int round = 0; round < kRounds; round++) {
      launch(block_sum_kernel, 2, 64, 64 * sizeof(int), own_stream, own);
      C10_CUDA_CHECK(cudaSetDevice(0));
      launch(add_kernel, 1, 1, 0, stream, shared, i + 1);
      C10_CUDA_CHECK(cudaSetDevice(i % 2));
    }
    C10_CUDA_CHECK(cudaStreamSynchronize(own_stream));
    sums[static_cast<size_t>(i)] = value_of(own);
    C10_CUDA_CHECK(cudaStreamDestroy(own_stream));
    C10_CUDA_CHECK(cudaFree(own));
  });
  for (const int sum : sums) {
    CHECK(sum == kRounds * 2 * (63 * 64 / 2));
  }
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(value_of(shared) == kRounds * (1 + 2 + 3 + 4));
}

TEST_CASE("cuda sim: host threads record one event, wait for it and ask for it") {
  cudaEvent_t event = nullptr, begin = nullptr;
  C10_CUDA_CHECK(cudaEventCreate(&event));
  C10_CUDA_CHECK(cudaEventCreate(&begin));
  C10_CUDA_CHECK(cudaEventRecord(begin, nullptr));
  C10_CUDA_CHECK(cudaEventRecord(event, nullptr));
  std::vector<int> negative(kThreads);
  on_threads([&](int i) {
    const cudaStream_t stream = new_stream();
    for (int round = 0; round < kRounds; round++) {
      C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event));
      C10_CUDA_CHECK(cudaEventRecord(event, stream));
      const cudaError_t answer = cudaEventQuery(event);
      CHECK((answer == cudaSuccess || answer == cudaErrorNotReady));
      (void)cudaGetLastError();
      C10_CUDA_CHECK(cudaEventSynchronize(event));
      float milliseconds = -1;
      const cudaError_t timed = cudaEventElapsedTime(&milliseconds, begin, event);
      negative[static_cast<size_t>(i)] += timed == cudaSuccess && milliseconds < 0;
      (void)cudaGetLastError();
    }
    C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  });
  for (const int count : negative) {
    CHECK(count == 0);
  }
}

TEST_CASE("cuda sim: host threads enable peers while kernels run, and capture graphs at the same time") {
  std::vector<int> values(kThreads);
  on_threads([&](int i) {
    C10_CUDA_CHECK(cudaSetDevice(i % 2));
    int* const x = new_zero();
    const cudaStream_t stream = new_stream();
    launch(add_kernel, 1, 1, 0, stream, x, 1);
    (void)cudaDeviceEnablePeerAccess(1 - i % 2, 0);
    (void)cudaGetLastError();
    C10_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch(add_kernel, 1, 1, 0, stream, x, 1);
    launch(block_sum_kernel, 1, 4, 4 * sizeof(int), stream, x);
    cudaGraph_t graph = nullptr;
    C10_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = nullptr;
    C10_CUDA_CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int round = 0; round < kRounds; round++) {
      C10_CUDA_CHECK(cudaGraphLaunch(exec, stream));
    }
    C10_CUDA_CHECK(cudaStreamSynchronize(stream));
    values[static_cast<size_t>(i)] = value_of(x);
    C10_CUDA_CHECK(cudaGraphExecDestroy(exec));
    C10_CUDA_CHECK(cudaGraphDestroy(graph));
  });
  for (const int value : values) {
    CHECK(value == 1 + kRounds * 7);
  }
}
