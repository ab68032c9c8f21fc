// Mirrors: torch/csrc/cuda/Module.cpp, torch/csrc/cuda/memory_snapshot.cpp
//
// The functions that reftorch/cuda/memory.py calls.
#include <csrc/cuda/python_memory.h>

#include <csrc/cuda/CUDAPluggableAllocator.h>
#include <csrc/profiler/python_frames.h>
#include <csrc/python_dtype.h>

#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDADevice.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CachingHostAllocator.h>
#include <c10/util/Exception.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace py = pybind11;

namespace reftorch::torch {
namespace {

using namespace c10::CachingDeviceAllocator;
using c10::CachingAllocator::AcceleratorAllocatorConfig;
using c10::cuda::CUDACachingAllocator::CUDAAllocator;

CUDAAllocator& allocator() {
  return *c10::cuda::CUDACachingAllocator::get();
}

// ---- counters ----

py::dict to_dict(const Stat& stat) {
  py::dict result;
  result["current"] = stat.current;
  result["peak"] = stat.peak;
  result["allocated"] = stat.allocated;
  result["freed"] = stat.freed;
  return result;
}

py::dict to_dict(const StatArray& stats) {
  py::dict result;
  result["all"] = to_dict(stats[static_cast<size_t>(StatType::AGGREGATE)]);
  result["small_pool"] = to_dict(stats[static_cast<size_t>(StatType::SMALL_POOL)]);
  result["large_pool"] = to_dict(stats[static_cast<size_t>(StatType::LARGE_POOL)]);
  return result;
}

py::dict memory_stats(int64_t device) {
  const DeviceStats stats = allocator().getDeviceStats(checked_device_index(device));
  py::dict result;
  result["allocation"] = to_dict(stats.allocation);
  result["segment"] = to_dict(stats.segment);
  result["active"] = to_dict(stats.active);
  result["inactive_split"] = to_dict(stats.inactive_split);
  result["allocated_bytes"] = to_dict(stats.allocated_bytes);
  result["reserved_bytes"] = to_dict(stats.reserved_bytes);
  result["reserved_bytes_by_private_pools"] = py::dict();
  result["active_bytes"] = to_dict(stats.active_bytes);
  result["inactive_split_bytes"] = to_dict(stats.inactive_split_bytes);
  result["requested_bytes"] = to_dict(stats.requested_bytes);
  result["oversize_allocations"] = to_dict(stats.oversize_allocations);
  result["oversize_segments"] = to_dict(stats.oversize_segments);
  result["num_alloc_retries"] = stats.num_alloc_retries;
  result["num_ooms"] = stats.num_ooms;
  result["num_sync_all_streams"] = stats.num_sync_all_streams;
  result["num_device_alloc"] = stats.num_device_alloc;
  result["num_device_free"] = stats.num_device_free;
  result["num_oom_rejections"] = stats.num_oom_rejections;
  result["max_split_size"] = stats.max_split_size;
  return result;
}

py::tuple memory_info(int64_t device) {
  const c10::cuda::CUDAGuard guard(checked_device_index(device));
  size_t free_bytes = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  return py::make_tuple(free_bytes, total);
}

py::dict to_dict(const c10::cuda::DurationStat& stat) {
  py::dict result;
  result["total"] = stat.total;
  result["max"] = stat.max;
  result["min"] = stat.min;
  result["count"] = stat.count;
  result["avg"] = stat.count == 0 ? 0 : stat.total / stat.count;
  return result;
}

py::dict host_memory_stats() {
  const c10::cuda::HostStats stats = c10::cuda::CachingHostAllocator_getStats();
  py::dict result;
  result["num_host_alloc"] = stats.num_host_alloc;
  result["num_host_free"] = stats.num_host_free;
  result["allocations"] = to_dict(stats.allocations);
  result["active_requests"] = to_dict(stats.active_requests);
  result["allocated_bytes"] = to_dict(stats.allocated_bytes);
  result["active_bytes"] = to_dict(stats.active_bytes);
  result["host_alloc_time"] = to_dict(stats.host_alloc_time);
  result["host_free_time"] = to_dict(stats.host_free_time);
  return result;
}

// ---- snapshot and history ----

// Returns the frames of the calling Python code; null in a thread that runs no Python, such as one of the engine's.
Context gather_python_frames() {
  if (PyGILState_GetThisThreadState() == nullptr) {
    return nullptr;
  }
  const py::gil_scoped_acquire gil; // a function such as empty_cache has released the lock
  auto frames = profiler::python_frames();
  return frames ? std::make_shared<const GatheredContext>(*std::move(frames)) : nullptr;
}

py::list to_list(const Context& context) {
  py::list result;
  if (context != nullptr) {
    for (const Frame& frame : *context) {
      py::dict entry;
      entry["filename"] = py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(frame.filename.c_str()));
      entry["line"] = frame.line;
      entry["name"] = frame.name;
      result.append(entry);
    }
  }
  return result;
}

py::dict to_dict(const SegmentInfo& segment) {
  py::dict result;
  result["device"] = int(segment.device);
  result["address"] = segment.address;
  result["total_size"] = segment.total_size;
  result["allocated_size"] = segment.allocated_size;
  result["active_size"] = segment.active_size;
  result["requested_size"] = segment.requested_size;
  result["stream"] = segment.stream;
  result["segment_type"] = segment.is_large ? "large" : "small";
  result["segment_pool_id"] = segment.owner_private_pool_id;
  result["is_expandable"] = false;
  result["frames"] = to_list(segment.context_when_allocated);
  py::list blocks;
  for (const BlockInfo& block : segment.blocks) {
    py::dict entry;
    entry["address"] = block.address;
    entry["size"] = block.size;
    entry["requested_size"] = block.requested_size;
    entry["state"] = block.allocated ? "active_allocated" : block.active ? "active_pending_free" : "inactive";
    entry["frames"] = to_list(block.context_when_allocated);
    blocks.append(entry);
  }
  result["blocks"] = blocks;
  return result;
}

constexpr const char* kActions[] = {
    "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "snapshot", "oom"};

py::dict to_dict(const TraceEntry& entry) {
  py::dict result;
  result["action"] = kActions[static_cast<size_t>(entry.action)];
  result[entry.action == TraceEntry::Action::OOM ? "device_free" : "addr"] = entry.address;
  result["size"] = entry.size;
  result["stream"] = entry.stream;
  result["time_us"] = entry.time_us;
  result["pool_id"] = py::make_tuple(entry.pool_id.first, entry.pool_id.second);
  result["user_metadata"] = entry.user_metadata;
  result["compile_context"] = "N/A"; // there is no compiler
  result["frames"] = to_list(entry.context);
  return result;
}

py::dict memory_snapshot(std::optional<c10::MempoolId_t> mempool_id) {
  const SnapshotInfo snapshot = allocator().snapshot(mempool_id.value_or(c10::MempoolId_t{0, 0}));
  py::list segments, device_traces;
  for (const SegmentInfo& segment : snapshot.segments) {
    segments.append(to_dict(segment));
  }
  for (const auto& trace : snapshot.device_traces) {
    py::list entries;
    for (const TraceEntry& entry : trace) {
      entries.append(to_dict(entry));
    }
    device_traces.append(entries);
  }
  py::dict settings;
  const size_t max_split_size = AcceleratorAllocatorConfig::max_split_size();
  settings["PYTORCH_CUDA_ALLOC_CONF"] = AcceleratorAllocatorConfig::instance().last_allocator_settings();
  settings["max_split_size"] =
      max_split_size == std::numeric_limits<size_t>::max() ? -1 : static_cast<int64_t>(max_split_size);
  settings["garbage_collection_threshold"] = AcceleratorAllocatorConfig::garbage_collection_threshold();
  settings["expandable_segments"] = false;
  py::dict result;
  result["segments"] = segments;
  result["device_traces"] = device_traces;
  result["allocator_settings"] = settings;
  result["external_annotations"] = py::list();
  return result;
}

// Returns the place of a word in a list of words. Raises RuntimeError if the word is not in the list.
size_t place_of(const std::string& word, const char* const* first, const char* const* last, const char* what) {
  const auto found = std::find(first, last, word);
  TORCH_CHECK(found != last, "expected ", what, ", but got '", word, "'");
  return static_cast<size_t>(found - first);
}

void record_memory_history(const std::optional<std::string>& enabled, const std::optional<std::string>& context,
                           const std::string& stacks, size_t max_entries, bool clear_history,
                           const std::vector<std::string>& skip_actions) {
  constexpr const char* kEnabled[] = {"state", "all"};
  constexpr const char* kContext[] = {"state", "alloc", "all"};
  constexpr const char* kStacks[] = {"python", "all"};
  HistoryOptions options;
  if (enabled) {
    place_of(*enabled, kEnabled, std::end(kEnabled), "state or all"); // both record the same, as in PyTorch
    options.enabled = true;
    options.max_entries = max_entries;
  }
  if (enabled && context) {
    options.when =
        static_cast<RecordContext>(1 + place_of(*context, kContext, std::end(kContext), "state, alloc or all"));
  }
  place_of(stacks, kStacks, std::end(kStacks), "python or all"); // C++ frames are left out
  options.recorder = gather_python_frames;
  options.clear = clear_history;
  for (const std::string& action : skip_actions) {
    options.skip_actions.push_back(static_cast<TraceEntry::Action>(
        place_of(action, kActions, std::end(kActions), "the name of an action of the allocator")));
  }
  allocator().recordHistory(options);
}

} // namespace

void initCudaMemory(py::module_& m) {
  using no_gil = py::call_guard<py::gil_scoped_release>;
  m.def("_cuda_memoryStats", &memory_stats);
  m.def("_cuda_resetPeakMemoryStats", [](int64_t device) { allocator().resetPeakStats(checked_device_index(device)); });
  m.def("_cuda_resetAccumulatedMemoryStats",
        [](int64_t device) { allocator().resetAccumulatedStats(checked_device_index(device)); });
  m.def("_cuda_memGetInfo", &memory_info);
  m.def("_cuda_memorySnapshot", &memory_snapshot, py::arg("mempool_id") = py::none());
  m.def("_cuda_record_memory_history", &record_memory_history);
  m.def("_cuda_setMemoryFraction",
        [](double fraction, int64_t device) { allocator().setMemoryFraction(fraction, checked_device_index(device)); });
  m.def("_cuda_getMemoryFraction",
        [](int64_t device) { return allocator().getMemoryFraction(checked_device_index(device)); });
  m.def("_cuda_getAllocatorBackend", [] { return allocator().name(); });
  m.def(
      "_cuda_cudaCachingAllocator_raw_alloc",
      [](size_t size, int64_t stream_id, std::optional<int64_t> device) {
        // Without a device, the second argument is CUDA's handle of a stream of the current device.
        const c10::Device place(c10::DeviceType::CUDA,
                                device ? checked_device_index(*device) : c10::cuda::current_device());
        const c10::StreamId id =
            device ? stream_id
                   : c10::cuda::CUDADevice::get(place.index()).adopt_stream(reinterpret_cast<cudaStream_t>(stream_id));
        const c10::Stream stream(c10::Stream::UNSAFE, place, id);
        return reinterpret_cast<uintptr_t>(allocator().raw_alloc_with_stream(size, stream));
      },
      py::arg("size"), py::arg("stream"), py::arg("device") = py::none(), no_gil());
  m.def("_cuda_setMemoryMetadata", [](const std::string& metadata) { allocator().setUserMetadata(metadata); });
  m.def("_cuda_getMemoryMetadata", [] { return allocator().getUserMetadata(); });
  // The function gets the device, the bytes that were asked for, all bytes of the device, and its free bytes.
  m.def("_cuda_attach_out_of_memory_observer", [](const py::object& observer) {
    auto* const owned = new py::object(observer); // never released: the allocator outlives the interpreter
    allocator().attachOutOfMemoryObserver([owned](int64_t device, size_t asked, size_t total, size_t free_bytes) {
      const py::gil_scoped_acquire gil;
      (*owned)(device, asked, total, free_bytes);
    });
  });
  m.def("_cuda_hostMemoryStats", &host_memory_stats);
  m.def("_cuda_resetAccumulatedHostMemoryStats", [] { c10::cuda::CachingHostAllocator_resetAccumulatedStats(); });
  m.def("_cuda_resetPeakHostMemoryStats", [] { c10::cuda::CachingHostAllocator_resetPeakStats(); });
  m.def("_host_emptyCache", [] { c10::cuda::CachingHostAllocator_emptyCache(); }, no_gil());
  m.def(
      "_cuda_cudaCachingAllocator_raw_delete",
      [](uintptr_t ptr) { allocator().raw_delete(reinterpret_cast<void*>(ptr)); }, no_gil());
  m.def("_cuda_cudaCachingAllocator_enable", [](bool value) { allocator().enable(value); });
  m.def("_cuda_cudaCachingAllocator_is_enabled", [] { return allocator().isEnabled(); });

  py::class_<CUDAAllocator, std::unique_ptr<CUDAAllocator, py::nodelete>>(m, "_cuda_CUDAAllocator");
  m.def(
      "_cuda_customAllocator",
      [](uintptr_t alloc_fn, uintptr_t free_fn) {
        return cuda::createCustomAllocator(reinterpret_cast<cuda::AllocFn>(alloc_fn),
                                           reinterpret_cast<cuda::FreeFn>(free_fn));
      },
      py::return_value_policy::reference);
  m.def("_cuda_changeCurrentAllocator", [](CUDAAllocator* chosen) { c10::cuda::CUDACachingAllocator::change(chosen); });
  m.def(
      "_cuda_getAllocator", [] { return c10::cuda::CUDACachingAllocator::get(); }, py::return_value_policy::reference);
}

} // namespace reftorch::torch
