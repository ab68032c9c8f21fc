// Mirrors: nothing in PyTorch: the simulator's graphs
//
// Note [Graphs in the simulator]
// Problem: a program may want to describe work once and to start it many times with one call. Trick: while a stream
// captures, its operations become nodes of a graph and are not run. Each stream that captures knows its last node, and
// the next node of this stream depends on it. An event that is recorded meanwhile holds the last node of its stream. A
// stream that waits for such an event takes part in the capture from then on, and its next node depends on the node of
// the event, too. cudaGraphLaunch puts the nodes into queues: the nodes of the stream on which the capture began go to
// the stream of the launch, and those of each other stream, a lane of the graph, to a stream that the graph owns. Where
// a node depends on a node of another lane, its lane waits for an event, so the nodes run in each order that the graph
// allows. Limits: nothing becomes faster, because each node is an operation of a queue as before. A graph cannot be
// changed or become a part of another one, and there are no nodes that allocate memory.
#include <c10/cuda/sim/activities.h>
#include <c10/cuda/sim/observer.h>
#include <c10/cuda/sim/runtime.h>

#include <algorithm>
#include <fstream>
#include <utility>

struct CUgraph_st {
  std::vector<cudasim::Node> nodes;
  std::vector<cudasim::Device*> lanes; // the device of each lane
};

struct CUgraphExec_st {
  CUgraph_st graph;
  std::vector<cudasim::StreamPtr> lanes; // lane 0 is used if the stream of the launch belongs to another device
  std::vector<CUevent_st> done{};        // of the nodes for which other lanes wait
  std::vector<CUevent_st> lane_done{};
  CUevent_st begin{}, end{};
};

namespace cudasim {

// What the calling thread has set with cudaThreadExchangeStreamCaptureMode.
static thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// ---- what a capture forbids ----

cudaError_t capture_error(const CUstream_st& stream) {
  if (stream.capture != nullptr) {
    return stream.capture->valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
  }
  cudaError_t error = cudaSuccess;
  if (stream.is_default) {
    for (const auto& capture : runtime().captures) {
      const auto& streams = capture->streams;
      if (std::any_of(streams.begin(), streams.end(),
                      [&](const StreamPtr& s) { return s->blocking && s->device == stream.device; })) {
        capture->valid = false;
        error = cudaErrorStreamCaptureImplicit;
      }
    }
  }
  return error;
}

// The caller holds the mutex.
static cudaError_t forbid_unsafe_locked() {
  if (thread_mode == cudaStreamCaptureModeRelaxed) {
    return cudaSuccess;
  }
  cudaError_t error = cudaSuccess;
  for (const auto& capture : runtime().captures) {
    const bool is_ours = capture->thread == std::this_thread::get_id();
    if (is_ours ? capture->mode != cudaStreamCaptureModeRelaxed
                : capture->mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal) {
      capture->valid = false;
      error = cudaErrorStreamCaptureUnsupported;
    }
  }
  return error;
}
cudaError_t forbid_unsafe() {
  std::lock_guard<std::mutex> lock(runtime().mutex);
  return forbid_unsafe_locked();
}
cudaError_t forbid_wait(const CUstream_st& stream) {
  std::lock_guard<std::mutex> lock(runtime().mutex);
  if (stream.capture != nullptr) {
    stream.capture->valid = false;
    return cudaErrorStreamCaptureUnsupported;
  }
  return forbid_unsafe_locked();
}
cudaError_t forbid_wait(const Device& device) {
  std::lock_guard<std::mutex> lock(runtime().mutex);
  cudaError_t error = cudaSuccess;
  for (const auto& capture : runtime().captures) {
    const auto& streams = capture->streams;
    if (std::any_of(streams.begin(), streams.end(), [&](const StreamPtr& s) { return s->device == &device; })) {
      capture->valid = false;
      error = cudaErrorStreamCaptureUnsupported;
    }
  }
  return error != cudaSuccess ? error : forbid_unsafe_locked();
}
cudaError_t forbid_wait(const CUevent_st& event) {
  std::lock_guard<std::mutex> lock(runtime().mutex);
  if (event.capture != nullptr) {
    event.capture->valid = false;
    return cudaErrorCapturedEvent;
  }
  return forbid_unsafe_locked();
}

// ---- recording ----

void capture_operation(CUstream_st& stream, Operation operation) {
  Capture& capture = *stream.capture;
  const auto lane =
      std::find_if(capture.streams.begin(), capture.streams.end(), [&](const auto& s) { return s.get() == &stream; });
  const size_t place = static_cast<size_t>(lane - capture.streams.begin());
  for (const size_t dependency : stream.last_nodes) {
    capture.nodes[dependency].other_lanes_wait |= capture.nodes[dependency].lane != place;
  }
  capture.nodes.push_back({std::move(operation), place, std::move(stream.last_nodes)});
  stream.last_nodes = {capture.nodes.size() - 1};
}

cudaError_t capture_event(const CUevent_st& event, CUstream_st& stream, bool records) {
  std::lock_guard<std::mutex> lock(runtime().mutex);
  if (stream.capture == nullptr) {
    return cudaErrorInvalidValue;
  }
  capture_operation(stream, {records ? "event record" : "event wait", nullptr});
  Node& node = stream.capture->nodes.back();
  node.event = event.itself;
  node.records = records;
  return cudaSuccess;
}

bool capture_record(CUevent_st& event, CUstream_st& stream) {
  std::lock_guard<std::mutex> lock(runtime().mutex);
  event.capture = stream.capture;
  event.last_nodes = stream.last_nodes;
  if (stream.capture == nullptr) {
    event.last_nodes.clear();
    return false;
  }
  event.mark = {};
  return true;
}

bool capture_wait(const StreamPtr& stream, const CUevent_st& event, cudaError_t* error) {
  std::lock_guard<std::mutex> lock(runtime().mutex);
  const std::shared_ptr<Capture> theirs = event.capture, ours = stream->capture;
  if (theirs == nullptr && ours == nullptr) {
    return false;
  }
  if (theirs != nullptr && theirs->ended) {
    *error = cudaErrorCapturedEvent;
  } else if (theirs != nullptr && !theirs->valid) {
    *error = cudaErrorStreamCaptureInvalidated;
  } else if (theirs == nullptr && is_recorded(event)) {
    *error = cudaErrorStreamCaptureIsolation;
  } else if (theirs != nullptr && stream->is_default) {
    *error = cudaErrorStreamCaptureImplicit;
  } else if (theirs != nullptr && ours != nullptr && theirs != ours) {
    *error = cudaErrorStreamCaptureMerge;
    theirs->valid = false;
  }
  if (*error != cudaSuccess) {
    if (ours != nullptr) {
      ours->valid = false;
    }
    return true;
  }
  if (theirs != nullptr && ours == nullptr) {
    stream->capture = theirs;
    theirs->streams.push_back(stream);
  }
  for (const size_t node : event.last_nodes) {
    auto& last = stream->last_nodes;
    if (std::find(last.begin(), last.end(), node) == last.end()) {
      last.push_back(node);
    }
  }
  return true;
}

// Returns whether each node comes before the end of the stream on which the capture began.
static bool all_joined(const Capture& capture) {
  std::vector<bool> joined(capture.nodes.size());
  for (const size_t node : capture.streams[0]->last_nodes) {
    joined[node] = true;
  }
  for (size_t i = joined.size(); i-- > 0;) { // dependencies have lower numbers
    if (!joined[i]) {
      return false;
    }
    for (const size_t dependency : capture.nodes[i].dependencies) {
      joined[dependency] = true;
    }
  }
  return true;
}

// ---- launching ----

static void launch_graph(CUgraphExec_st& exec, const StreamPtr& stream) {
  std::vector<StreamPtr> lanes = exec.lanes;
  if (exec.graph.lanes[0] == stream->device) {
    lanes[0] = stream;
  }
  if (mark_of(exec.end).stream != nullptr) {
    wait_event(stream, exec.end); // launches of one graph run one after the other
  }
  record_event(exec.begin, stream);
  for (const StreamPtr& lane : lanes) {
    if (lane != stream) {
      wait_event(lane, exec.begin);
    }
  }
  for (size_t i = 0; i < exec.graph.nodes.size(); i++) {
    const Node& node = exec.graph.nodes[i];
    for (const size_t dependency : node.dependencies) {
      if (exec.graph.nodes[dependency].lane != node.lane) {
        wait_event(lanes[node.lane], exec.done[dependency]);
      }
    }
    if (node.event == nullptr) {
      enqueue(lanes[node.lane], node.operation);
    } else if (node.records) {
      record_event(*node.event, lanes[node.lane]);
    } else {
      wait_event(lanes[node.lane], *node.event);
    }
    if (node.other_lanes_wait) {
      record_event(exec.done[i], lanes[node.lane]);
    }
  }
  for (size_t i = 0; i < lanes.size(); i++) {
    if (lanes[i] != stream) {
      record_event(exec.lane_done[i], lanes[i]);
      wait_event(stream, exec.lane_done[i]);
    }
  }
  record_event(exec.end, stream);
}

} // namespace cudasim

using namespace cudasim;

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  RETURN_IF_ERROR(status());
  static unsigned long long captures = 0;
  std::lock_guard<std::mutex> lock(runtime().mutex);
  const StreamPtr stream = find_stream(handle);
  if (stream == nullptr || stream->is_default) {
    return done(stream == nullptr ? cudaErrorInvalidResourceHandle : cudaErrorStreamCaptureUnsupported);
  }
  if (stream->capture != nullptr) {
    return done(cudaErrorIllegalState);
  }
  stream->capture = std::shared_ptr<Capture>(new Capture{mode, std::this_thread::get_id(), ++captures});
  stream->capture->streams.push_back(stream);
  runtime().captures.push_back(stream->capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  RETURN_IF_ERROR(status());
  *graph = nullptr;
  Runtime& r = runtime();
  std::lock_guard<std::mutex> lock(r.mutex);
  const StreamPtr stream = find_stream(handle);
  if (stream == nullptr || stream->capture == nullptr) {
    return done(stream == nullptr ? cudaErrorInvalidResourceHandle : cudaErrorIllegalState);
  }
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->streams[0] != stream) {
    capture->valid = false;
    return done(cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id()) {
    return done(cudaErrorStreamCaptureWrongThread);
  }
  const cudaError_t error = !capture->valid         ? cudaErrorStreamCaptureInvalidated
                            : !all_joined(*capture) ? cudaErrorStreamCaptureUnjoined
                                                    : cudaSuccess;
  if (error == cudaSuccess) {
    *graph = new CUgraph_st{std::move(capture->nodes), {}};
    for (const StreamPtr& each : capture->streams) {
      (*graph)->lanes.push_back(each->device);
    }
  }
  capture->ended = true;
  for (const StreamPtr& each : capture->streams) {
    each->capture = nullptr;
    each->last_nodes.clear();
  }
  capture->streams.clear();
  r.captures.erase(std::find(r.captures.begin(), r.captures.end(), capture));
  return done(error);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* capture_status,
                                     unsigned long long* id) {
  RETURN_IF_ERROR(status());
  std::lock_guard<std::mutex> lock(runtime().mutex);
  const StreamPtr stream = find_stream(handle);
  if (stream == nullptr) {
    return done(cudaErrorInvalidResourceHandle);
  }
  const Capture* const capture = stream->capture.get();
  *capture_status = capture == nullptr ? cudaStreamCaptureStatusNone
                    : capture->valid   ? cudaStreamCaptureStatusActive
                                       : cudaStreamCaptureStatusInvalidated;
  if (capture != nullptr && id != nullptr) {
    *id = capture->id;
  }
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* capture_status) {
  return cudaStreamGetCaptureInfo(handle, capture_status, nullptr);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, thread_mode);
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  *count = graph->nodes.size();
  return done(nodes == nullptr ? cudaSuccess : cudaErrorInvalidValue);
}

// Writes the graph for the program dot. A node has its number, the kernel's name and its lane.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  std::ofstream file(path);
  file << "digraph graph_0 {\n";
  for (size_t i = 0; i < graph->nodes.size(); i++) {
    const Operation& operation = graph->nodes[i].operation;
    const std::string name = operation.about.function != nullptr ? function_name(operation.about.function)
                             : operation.what != nullptr         ? operation.what
                                                                 : "host function";
    file << "  n" << i << " [label=\"" << i << ": " << name << "\\nlane " << graph->nodes[i].lane << "\"];\n";
    for (const size_t dependency : graph->nodes[i].dependencies) {
      file << "  n" << dependency << " -> n" << i << ";\n";
    }
  }
  file << "}\n";
  return done(file.good() ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  RETURN_IF_ERROR(status());
  *exec = new CUgraphExec_st{*graph, {}};
  std::lock_guard<std::mutex> lock(runtime().mutex);
  for (Device* device : graph->lanes) {
    auto stream = std::make_shared<CUstream_st>();
    stream->device = device;
    stream->blocking = stream->is_default = false;
    runtime().streams[stream.get()] = stream;
    (*exec)->lanes.push_back(stream);
  }
  (*exec)->done.resize(graph->nodes.size());
  (*exec)->lane_done.resize(graph->lanes.size());
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  const ApiCall call("cudaGraphLaunch");
  return with_stream(handle, [&](const StreamPtr& stream) {
    {
      std::lock_guard<std::mutex> lock(runtime().mutex);
      if (stream->capture != nullptr) {
        stream->capture->valid = false;
        return cudaErrorStreamCaptureUnsupported;
      }
    }
    launch_graph(*exec, stream);
    return runtime().blocking ? stream->device->error.load() : cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { // the streams first finish the work in their queues
  {
    std::lock_guard<std::mutex> lock(runtime().mutex);
    for (const StreamPtr& lane : exec->lanes) {
      lane->destroyed = true;
      lane->work.notify_one();
      runtime().streams.erase(lane.get());
    }
  }
  delete exec;
  return cudaSuccess;
}
