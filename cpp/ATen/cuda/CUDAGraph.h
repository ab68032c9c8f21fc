// Mirrors: aten/src/ATen/cuda/CUDAGraph.h, aten/src/ATen/cuda/CUDAGraphsUtils.cuh
//
// Work of a stream that is recorded once and replayed as often as the program wants. A replay runs the same kernels on
// the same addresses. So the program writes new inputs into the tensors that the kernels read, and finds the results in
// the tensors that were made during the capture. See Note [Private pools] for the memory of these tensors, and Note
// [Random numbers in graphs]. The class makes plain calls of the CUDA runtime, which the simulator offers, too; on a
// GPU they have not been run yet. Left out: conditional nodes, and the inputs' liveness.
#pragma once

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/macros/Export.h>

#include <string>
#include <utility>
#include <vector>

namespace reftorch::at::cuda {

using c10::CaptureId_t;
using c10::MempoolId_t;

// Returns an id that no private pool has.
TORCH_API MempoolId_t graph_pool_handle(bool is_user_created = true);

// The functions are called by one thread at a time, as those of a tensor.
class TORCH_API CUDAGraph final {
 public:
  // With keep_graph, `instantiate` is called by the program or by the first replay, and raw_cuda_graph() works.
  explicit CUDAGraph(bool keep_graph = false);
  ~CUDAGraph();
  CUDAGraph(const CUDAGraph&) = delete;
  CUDAGraph& operator=(const CUDAGraph&) = delete;

  // Lets the graph's ops draw from a generator that is not the default one of the device.
  void register_generator_state(const Generator& generator);
  // Begins to record the work of the current stream, which must not be a default stream. The graph gets a pool of
  // memory of its own unless the program passes the id of one.
  void capture_begin(MempoolId_t pool = {0, 0}, cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal);
  // Ends the recording, also if it raises the error because of which the capture is invalid.
  void capture_end();
  void instantiate();
  // Starts the recorded work on the current stream.
  void replay();
  // Destroys the recorded work and releases the memory.
  void reset();
  MempoolId_t pool() const;

  void enable_debug_mode();
  // Writes the graph for the program dot.
  void debug_dump(const std::string& debug_path);
  cudaGraph_t raw_cuda_graph() const;
  cudaGraphExec_t raw_cuda_graph_exec() const;

 private:
  cudaError_t end_capture(); // leaves the graph as before the capture if it returns an error

  const bool keep_graph_;
  bool debug_ = false;
  bool capturing_ = false;
  bool capture_ended_ = false; // the capture succeeded
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t graph_exec_ = nullptr;
  c10::cuda::CUDAStream capture_stream_;
  MempoolId_t mempool_id_{0, 0};
  // The generators whose numbers the graph draws, each with how many numbers it draws.
  std::vector<std::pair<Generator, uint64_t>> generators_;
};

} // namespace reftorch::at::cuda
