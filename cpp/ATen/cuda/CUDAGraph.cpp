// Mirrors: aten/src/ATen/cuda/CUDAGraph.cpp
#include <ATen/cuda/CUDAGraph.h>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace reftorch::at::cuda {

static c10::cuda::CUDACachingAllocator::CUDAAllocator& allocator() {
  return *c10::cuda::CUDACachingAllocator::get();
}

// Calls `f` with the generator while its state is locked.
template <typename F>
static void with_locked(const Generator& generator, const F& f) {
  auto& impl = *check_generator<CUDAGeneratorImpl>(generator);
  std::lock_guard<c10::Mutex> lock(impl.mutex_);
  f(impl);
}

MempoolId_t graph_pool_handle(bool is_user_created) {
  static std::atomic<CaptureId_t> users{0}, graphs{0};
  return is_user_created ? MempoolId_t{0, ++users} : MempoolId_t{++graphs, 0};
}

CUDAGraph::CUDAGraph(bool keep_graph) : keep_graph_(keep_graph), capture_stream_(c10::cuda::getCurrentCUDAStream()) {}

CUDAGraph::~CUDAGraph() {
  if (capturing_) {
    C10_CUDA_IGNORE_ERROR(end_capture());
  }
  for (const auto& [generator, increment] : generators_) {
    with_locked(generator, [](CUDAGeneratorImpl& it) { it.unregister_graph(); });
  }
  reset();
}

void CUDAGraph::register_generator_state(const Generator& generator) {
  const auto& impl = *check_generator<CUDAGeneratorImpl>(generator);
  const bool is_known = std::any_of(generators_.begin(), generators_.end(), [&](const auto& each) {
    return impl.has_state_of(*check_generator<CUDAGeneratorImpl>(each.first));
  });
  if (!is_known) {
    with_locked(generator, [](CUDAGeneratorImpl& it) { it.register_graph(); });
    // The program may give its generator another state, but the graph draws from the state that is registered.
    generators_.emplace_back(Generator{impl.graphsafe_get_state()}, 0);
  }
}

void CUDAGraph::capture_begin(MempoolId_t pool, cudaStreamCaptureMode capture_mode) {
  TORCH_CHECK(graph_exec_ == nullptr && !capture_ended_,
              "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance.");
  TORCH_CHECK(!capturing_, "This CUDAGraph instance is capturing already.");
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  TORCH_CHECK(stream != c10::cuda::getDefaultCUDAStream(),
              "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them "
              "on the default stream.)");
  register_generator_state(detail::getDefaultCUDAGenerator());
  TORCH_CHECK(pool.first == 0 || pool.second == 0, "CUDAGraph::capture_begin: (", pool.first, ", ", pool.second,
              ") is not the id of a memory pool");
  capture_stream_ = stream;
  mempool_id_ = pool != MempoolId_t{0, 0} ? pool : graph_pool_handle(/*is_user_created=*/false);

  // The requests go to the pool before the capture begins, so that a thread that frees a tensor in between asks no
  // event. Memory is served from the pool for each stream that takes part in the capture.
  allocator().beginAllocateToPool(stream.device_index(), mempool_id_, [stream](c10::Stream asked) {
    cudaStreamCaptureStatus ours{}, theirs{};
    unsigned long long our_id = 0, their_id = 1;
    return cudaStreamGetCaptureInfo(stream, &ours, &our_id) == cudaSuccess &&
           cudaStreamGetCaptureInfo(c10::cuda::CUDAStream(asked), &theirs, &their_id) == cudaSuccess &&
           ours == cudaStreamCaptureStatusActive && theirs == ours && our_id == their_id;
  });
  const cudaError_t error = cudaStreamBeginCapture(stream, capture_mode);
  if (error != cudaSuccess) {
    allocator().endAllocateToPool(stream.device_index(), mempool_id_);
    allocator().releasePool(stream.device_index(), mempool_id_);
    C10_CUDA_CHECK(error);
  }
  for (const auto& [generator, increment] : generators_) {
    with_locked(generator, [](CUDAGeneratorImpl& it) { it.capture_prologue(); });
  }
  capturing_ = true;
}

cudaError_t CUDAGraph::end_capture() {
  const c10::DeviceIndex device = capture_stream_.device_index();
  const cudaError_t error = cudaStreamEndCapture(capture_stream_, &graph_);
  if (error == cudaErrorStreamCaptureWrongThread) {
    return error; // the capture goes on
  }
  capturing_ = false;
  for (auto& [generator, increment] : generators_) {
    with_locked(generator, [&count = increment](CUDAGeneratorImpl& it) { count = it.capture_epilogue(); });
  }
  allocator().endAllocateToPool(device, mempool_id_);
  if (error != cudaSuccess) {
    allocator().releasePool(device, mempool_id_);
  }
  return error;
}

void CUDAGraph::capture_end() {
  TORCH_CHECK(capturing_, "Called CUDAGraph::capture_end without a preceding capture_begin.");
  TORCH_CHECK(c10::cuda::getCurrentCUDAStream() == capture_stream_, "Capture must end on the same stream it began on.");
  C10_CUDA_CHECK(end_capture());
  capture_ended_ = true;
  size_t nodes = 0;
  C10_CUDA_CHECK(cudaGraphGetNodes(graph_, nullptr, &nodes));
  if (nodes == 0) {
    TORCH_WARN(
        "The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong "
        "device or stream.");
  }
  if (!keep_graph_) {
    instantiate();
    if (!debug_) {
      C10_CUDA_CHECK(cudaGraphDestroy(graph_));
      graph_ = nullptr;
    }
  }
}

void CUDAGraph::instantiate() {
  TORCH_CHECK(capture_ended_, "capture_end() must have been called before calling instantiate");
  if (graph_exec_ != nullptr) {
    TORCH_CHECK(keep_graph_, "instantiate() is intended to be called by the user only when keep_graph=true");
    C10_CUDA_CHECK(cudaGraphExecDestroy(graph_exec_));
    graph_exec_ = nullptr;
  }
  C10_CUDA_CHECK(cudaGraphInstantiateWithFlags(&graph_exec_, graph_, 0));
}

void CUDAGraph::replay() {
  TORCH_CHECK(capture_ended_, "Called CUDAGraph::replay without a preceding successful capture.");
  if (graph_exec_ == nullptr) {
    instantiate();
  }
  const c10::cuda::CUDAGuard guard(capture_stream_.device_index());
  for (const auto& [generator, increment] : generators_) {
    with_locked(generator, [count = increment](CUDAGeneratorImpl& it) { it.replay_prologue(count); });
  }
  C10_CUDA_CHECK(cudaGraphLaunch(graph_exec_, c10::cuda::getCurrentCUDAStream()));
}

// A destructor calls this function, so it must not throw.
void CUDAGraph::reset() {
  if (capture_ended_) {
    allocator().releasePool(capture_stream_.device_index(), mempool_id_);
    capture_ended_ = false;
  }
  if (graph_ != nullptr) {
    C10_CUDA_IGNORE_ERROR(cudaGraphDestroy(std::exchange(graph_, nullptr)));
  }
  if (graph_exec_ != nullptr) {
    C10_CUDA_IGNORE_ERROR(cudaGraphExecDestroy(std::exchange(graph_exec_, nullptr)));
  }
}

MempoolId_t CUDAGraph::pool() const {
  TORCH_CHECK(capture_ended_, "Called CUDAGraph::pool() without a preceding successful capture.");
  return mempool_id_;
}

void CUDAGraph::enable_debug_mode() {
  debug_ = true;
}

void CUDAGraph::debug_dump(const std::string& debug_path) {
  if (!debug_ && !keep_graph_) {
    TORCH_WARN("CUDA Graphs debug not enabled, set with [graph].enable_debug_mode()");
  } else if (graph_ != nullptr) {
    C10_CUDA_CHECK(cudaGraphDebugDotPrint(graph_, debug_path.c_str(), cudaGraphDebugDotFlagsVerbose));
    if (!keep_graph_) {
      C10_CUDA_CHECK(cudaGraphDestroy(std::exchange(graph_, nullptr)));
    }
  }
}

cudaGraph_t CUDAGraph::raw_cuda_graph() const {
  TORCH_CHECK(keep_graph_,
              "You cannot access the raw cudaGraph_t instance unless CUDAGraph was initialized with keep_graph=true");
  TORCH_CHECK(graph_ != nullptr, "You cannot access the raw cudaGraph_t instance until capture_end() has been called");
  return graph_;
}

cudaGraphExec_t CUDAGraph::raw_cuda_graph_exec() const {
  TORCH_CHECK(graph_exec_ != nullptr,
              "You cannot access the raw cudaGraphExec_t instance until instantiate() has been called");
  return graph_exec_;
}

} // namespace reftorch::at::cuda
