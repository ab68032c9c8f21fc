// Mirrors: nothing in PyTorch: graphs of the simulator of the CUDA runtime, by CUDA's own names
#include <c10/cuda/CUDALaunch.h>
#include <c10/cuda/sim/runtime.h>

#include <doctest/doctest.h>

#include <thread>

using reftorch::c10::cuda::launch;

namespace {

__global__ void append_kernel(int* x, int digit) {
  *x = *x * 10 + digit;
}

cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}
cudaEvent_t new_event() {
  cudaEvent_t event = nullptr;
  C10_CUDA_CHECK(cudaEventCreate(&event));
  return event;
}
int value_of(const int* device) {
  int host = 0;
  C10_CUDA_CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
  return host;
}
void end_invalid_capture(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);
  (void)cudaGetLastError();
}

} // namespace

TEST_CASE("cuda sim: a graph repeats the work of forked streams in its order") {
  int* x = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  const cudaStream_t stream = new_stream(), side = new_stream();
  const cudaEvent_t fork = new_event(), join = new_event();
  C10_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  C10_CUDA_CHECK(cudaMemsetAsync(x, 0, sizeof(int), stream));
  launch(append_kernel, 1, 1, 0, stream, x, 1);
  C10_CUDA_CHECK(cudaEventRecord(fork, stream));
  C10_CUDA_CHECK(cudaStreamWaitEvent(side, fork));
  launch(append_kernel, 1, 1, 0, side, x, 2);
  C10_CUDA_CHECK(cudaEventRecord(join, side));
  cudaStreamCaptureStatus status{};
  C10_CUDA_CHECK(cudaStreamIsCapturing(side, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  C10_CUDA_CHECK(cudaStreamWaitEvent(stream, join));
  launch(append_kernel, 1, 1, 0, stream, x, 3);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(side, &graph) == cudaErrorStreamCaptureUnmatched);
  end_invalid_capture(stream);
  C10_CUDA_CHECK(cudaStreamIsCapturing(side, &status));
  CHECK(status == cudaStreamCaptureStatusNone);

  C10_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch(append_kernel, 1, 1, 0, stream, x, 1);
  C10_CUDA_CHECK(cudaEventRecord(fork, stream));
  C10_CUDA_CHECK(cudaStreamWaitEvent(side, fork));
  launch(append_kernel, 1, 1, 0, side, x, 2);
  C10_CUDA_CHECK(cudaEventRecord(join, side));
  C10_CUDA_CHECK(cudaStreamWaitEvent(stream, join));
  launch(append_kernel, 1, 1, 0, stream, x, 3);
  C10_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  C10_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 3);
  cudaGraphExec_t exec = nullptr;
  C10_CUDA_CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  C10_CUDA_CHECK(cudaGraphDestroy(graph));
  C10_CUDA_CHECK(cudaMemsetAsync(x, 0, sizeof(int), stream));
  for (int i = 0; i < 3; i++) {
    C10_CUDA_CHECK(cudaGraphLaunch(exec, stream));
  }
  C10_CUDA_CHECK(cudaGraphExecDestroy(exec)); // the work in the queues goes on
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(value_of(x) == 123123123);
  CHECK(cudaStreamWaitEvent(stream, fork) == cudaErrorCapturedEvent);
  (void)cudaGetLastError();
}

TEST_CASE("cuda sim: what makes a capture invalid, and what it refuses") {
  int* x = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  const cudaStream_t stream = new_stream(), other = new_stream(), blocking = new_stream(cudaStreamDefault);
  const cudaEvent_t event = new_event();
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);

  C10_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
  CHECK(cudaMalloc(&x, sizeof(int)) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaMemsetAsync(x, 0, sizeof(int), stream) == cudaErrorStreamCaptureInvalidated);
  end_invalid_capture(stream);

  C10_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  C10_CUDA_CHECK(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
  C10_CUDA_CHECK(cudaEventRecord(event, stream));
  CHECK(cudaStreamWaitEvent(other, event) == cudaErrorStreamCaptureMerge);
  end_invalid_capture(stream);
  end_invalid_capture(other);

  C10_CUDA_CHECK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(x, 0, sizeof(int), nullptr) == cudaErrorStreamCaptureImplicit);
  end_invalid_capture(blocking);

  C10_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  std::thread([&] {
    C10_CUDA_CHECK(cudaMalloc(&x, sizeof(int))); // the capture forbids nothing to other threads
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureWrongThread);
  }).join();
  C10_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  C10_CUDA_CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  C10_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaGraphLaunch(exec, stream) == cudaErrorStreamCaptureUnsupported);
  end_invalid_capture(stream);
  C10_CUDA_CHECK(cudaGraphExecDestroy(exec));
  C10_CUDA_CHECK(cudaGraphDestroy(graph));
}
