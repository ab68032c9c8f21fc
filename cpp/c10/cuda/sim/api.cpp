// Mirrors: nothing in PyTorch: the functions of the simulated CUDA runtime
//
// Errors behave as in CUDA: a call reports an error that happened inside an earlier kernel, and from then on every call
// that uses the device fails.
#include <c10/cuda/sim/activities.h>
#include <c10/cuda/sim/observer.h>
#include <c10/cuda/sim/runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cudasim {

cudaError_t done(cudaError_t error) {
  if (error != cudaSuccess) {
    last_error = error;
  }
  return error;
}
cudaError_t status() {
  Runtime& r = runtime();
  if (r.forked) {
    return cudaErrorInitializationError;
  }
  return r.devices.empty() ? cudaErrorNoDevice : r.devices[current_device].error.load();
}
cudaError_t with_stream(cudaStream_t handle, const std::function<cudaError_t(const StreamPtr&)>& f) {
  RETURN_IF_ERROR(status());
  StreamPtr stream;
  {
    std::lock_guard<std::mutex> lock(runtime().mutex);
    stream = find_stream(handle);
    RETURN_IF_ERROR(stream == nullptr ? cudaErrorInvalidResourceHandle : capture_error(*stream));
  }
  return done(f(stream));
}

void with_open_peers(Device& device, const std::function<void()>& f) {
  const unsigned peers = device.peers; // another host thread may enable one more meanwhile
  for (Device& peer : runtime().devices) {
    if (peers >> peer.index & 1) {
      open_memory(peer, true);
    }
  }
  f();
  for (Device& peer : runtime().devices) {
    if (peers >> peer.index & 1) {
      open_memory(peer, false);
    }
  }
}

cudaError_t synchronize(const Mark& mark) {
  wait_for(mark);
  return done(status());
}

// The name of a copy in a profile, as NVIDIA's tools write it.
static const char* name_of_copy(const Device* to, const Device* from, bool pinned) {
  if (to != nullptr && from != nullptr) {
    return to == from ? "Memcpy DtoD (Device -> Device)" : "Memcpy PtoP (Device -> Device)";
  }
  if (to != nullptr) {
    return pinned ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy HtoD (Pageable -> Device)";
  }
  return pinned ? "Memcpy DtoH (Device -> Pinned)" : "Memcpy DtoH (Device -> Pageable)";
}

static cudaError_t copy(void* to, const void* from, size_t bytes, cudaStream_t handle, bool wait) {
  return with_stream(handle, [&](const StreamPtr& stream) {
    Runtime& r = runtime();
    Device *to_device = device_of(to), *from_device = device_of(from);
    std::shared_ptr<std::vector<char>> staged;
    const void* pinned = nullptr; // the side of the copy that is pinned memory
    {
      std::lock_guard<std::mutex> lock(r.mutex);
      if ((to_device != nullptr && find_allocation(*to_device, to, bytes).first == nullptr) ||
          (from_device != nullptr && find_allocation(*from_device, from, bytes).first == nullptr)) {
        return cudaErrorInvalidValue;
      }
      // Only a copy to or from pinned memory is asynchronous. A copy from pageable memory first takes the bytes into a
      // buffer, and a copy into pageable memory is waited for.
      if (to_device == nullptr && find_allocation(r.pinned, to, bytes).first == nullptr) {
        wait = true;
      }
      for (const void* side : {static_cast<const void*>(to), from}) {
        if (device_of(side) == nullptr && find_allocation(r.pinned, side, bytes).first != nullptr) {
          pinned = side;
        }
      }
      if (!wait && from_device == nullptr && find_allocation(r.pinned, from, bytes).first == nullptr) {
        const char* begin = static_cast<const char*>(from);
        staged = std::make_shared<std::vector<char>>(begin, begin + bytes);
        from = staged->data();
      }
      if (stream->capture != nullptr && (wait || staged != nullptr)) {
        stream->capture->valid = false; // a launch of the graph could neither wait nor take the bytes again
        return cudaErrorStreamCaptureUnsupported;
      }
    }
    char *to_view = nullptr, *from_view = nullptr;
    {
      std::lock_guard<std::mutex> lock(r.mutex);
      to_view = device_view(to, bytes);
      from_view = device_view(from, bytes);
    }
    const auto announce = [=](Observer& it, unsigned long number) {
      if (pinned != nullptr) {
        it.pinned_copy(pinned, bytes, pinned == to, number);
      }
    };
    const auto run = [=](unsigned long number) {
      for (Device* device : {to_device, from_device}) {
        if (device != nullptr) {
          open_memory(*device, true);
        }
      }
      if_watching([&](Observer& it) {
        if (from_device != nullptr) {
          it.range(from, bytes, /*writes=*/false, number);
        }
        if (to_device != nullptr) {
          it.range(to, bytes, /*writes=*/true, number);
        }
      });
      std::memmove(to_view, from_view, bytes);
      for (Device* device : {to_device, from_device}) {
        if (device != nullptr) {
          open_memory(*device, false);
        }
      }
      (void)staged;
    };
    About about;
    about.name = name_of_copy(to_device, from_device, pinned != nullptr);
    about.bytes = bytes;
    const Mark mark = enqueue(stream, {"copy", run, announce, about});
    if (!wait) {
      return cudaSuccess;
    }
    if_watching([&](Observer& it) { it.host_waits_for_stream(stream.get()); });
    return synchronize(mark);
  });
}

cudaError_t launch(const cudaLaunchConfig_t& config, std::unique_ptr<Kernel> kernel) {
  const ApiCall call("cudaLaunchKernel");
  return with_stream(config.stream, [&](const StreamPtr& stream) {
    const dim3 g = config.gridDim, b = config.blockDim;
    if (stream->device->index != current_device) {
      return cudaErrorInvalidResourceHandle;
    }
    if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0 || g.y > 65535 || g.z > 65535 ||
        b.z > 64 || uint64_t(b.x) * b.y * b.z > kMaxThreads || config.dynamicSmemBytes > kMaxShared) {
      return cudaErrorInvalidConfiguration;
    }
    const void* const function = kernel->function;
    const auto run = [config, kernel = std::shared_ptr<Kernel>(std::move(kernel)),
                      device = stream->device](unsigned long number) {
      with_open_peers(*device, [&] { run_grid(config, *kernel, *device, number); });
    };
    enqueue(stream, {"kernel", run, nullptr, {function, g, b, config.dynamicSmemBytes}});
    // With CUDA_LAUNCH_BLOCKING=1 the kernel has run, so its own launch reports the error, as on a GPU.
    return runtime().blocking ? stream->device->error.load() : cudaSuccess;
  });
}

static bool is_device(int device) {
  return device >= 0 && device < static_cast<int>(runtime().devices.size());
}

cudaError_t synchronize_device(Device& device) {
  if_watching([&](Observer& it) { it.host_waits_for_device(device.index); });
  std::unique_lock<std::mutex> lock(runtime().mutex);
  std::vector<Mark> marks;
  for (const auto& [stream, owner] : runtime().streams) {
    if (stream->device == &device) {
      marks.push_back({owner, stream->submitted, nullptr});
    }
  }
  for (const Mark& mark : marks) { // after the loop over the map, which may change during the wait
    runtime().progress.wait(lock, [&] { return passed(mark); });
  }
  return done(device.error);
}

static cudaError_t check_kind(const void* to, const void* from, cudaMemcpyKind kind) {
  const bool to_device = device_of(to) != nullptr, from_device = device_of(from) != nullptr;
  return kind == cudaMemcpyDefault || kind == from_device * 2 + to_device ? cudaSuccess : cudaErrorInvalidValue;
}

} // namespace cudasim

using namespace cudasim;

// ---- Errors ----
cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() {
  return status() != cudaSuccess ? status() : last_error;
}

// ---- Devices ----
cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(visible_devices().size()); // does not construct Runtime: see Note [The simulator sleeps]
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) {
    return done(cudaErrorInvalidDevice);
  }
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) {
    return done(cudaErrorInvalidDevice);
  }
  *properties = {"CUDA simulator", runtime().memory_bytes, kMaxShared,         warpSize, int(kMaxThreads),
                 kMultiProcessors, int(kMaxThreads),       /*major, minor=*/0, 0};
  // The digits of the number of the device, after a fixed beginning.
  std::snprintf(properties->uuid.bytes, sizeof properties->uuid.bytes, "simulated-%05d",
                runtime().devices[device].number);
  properties->sharedMemPerBlockOptin = properties->sharedMemPerMultiprocessor = kMaxShared;
  properties->pciDeviceID = runtime().devices[device].number;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  const ApiCall call("cudaDeviceSynchronize");
  RETURN_IF_ERROR(status());
  RETURN_IF_ERROR(forbid_wait(runtime().devices[current_device]));
  return synchronize_device(runtime().devices[current_device]);
}
cudaError_t cudaDeviceReset() {
  Device& device = runtime().devices[current_device];
  synchronize_device(device);
  device.error = last_error = cudaSuccess;
  return cudaSuccess;
}
// Makes the devices usable again that an error in a kernel has made unusable; returns how many there were. For
// notebooks, whose kernels often fail, and which would have to start again.
extern "C" __attribute__((visibility("default"))) int cudasim_reset_failed_devices() {
  int count = 0;
  if (setting("REFTORCH_CUDA_SIM", "0") != "0" && !runtime().forked) {
    for (Device& device : runtime().devices) {
      if (device.error != cudaSuccess) {
        synchronize_device(device);
        device.error = cudaSuccess;
        count++;
      }
    }
    last_error = cudaSuccess;
  }
  return count;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer && is_device(device) && is_device(peer);
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  if (!is_device(peer) || peer == current_device) {
    return done(cudaErrorInvalidDevice);
  }
  const unsigned peers = runtime().devices[current_device].peers.fetch_or(1u << peer);
  const bool already = peers >> peer & 1;
  return done(already ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}

// ---- Memory ----
cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  const ApiCall call("cudaMalloc");
  RETURN_IF_ERROR(status());
  RETURN_IF_ERROR(forbid_unsafe());
  *pointer = nullptr;
  Device& device = runtime().devices[current_device];
  const size_t asked = bytes;
  bytes = (bytes + 511) / 512 * 512;
  std::unique_lock<std::mutex> lock(runtime().mutex);
  char* at = device.base; // moves to the first gap that is large enough
  for (const auto& [begin, size] : device.live) {
    if (static_cast<size_t>(begin - at) >= bytes) {
      break;
    }
    at = begin + size;
  }
  if (static_cast<size_t>(device.base + runtime().memory_bytes - kContextBytes - at) < bytes) {
    return done(cudaErrorMemoryAllocation);
  }
  if (bytes > 0) {
    device.live[at] = bytes;
    *pointer = at;
    lock.unlock();
    if_watching([&](Observer& it) { it.allocated(at, asked); });
  }
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  const ApiCall call("cudaFree");
  RETURN_IF_ERROR(status());
  if (pointer == nullptr) {
    return cudaSuccess;
  }
  Device* device = device_of(pointer);
  if (device == nullptr) {
    return done(cudaErrorInvalidValue);
  }
  RETURN_IF_ERROR(forbid_unsafe());
  const cudaError_t error = synchronize_device(*device); // CUDA's cudaFree waits, too
  char* const begin = static_cast<char*>(pointer);
  {
    std::lock_guard<std::mutex> lock(runtime().mutex);
    if (device->live.count(begin) == 0) {
      return done(cudaErrorInvalidValue);
    }
  }
  if_watching([&](Observer& it) { it.freed(pointer); });
  std::lock_guard<std::mutex> lock(runtime().mutex);
  end_export(*device, begin);
  return done(device->live.erase(begin) == 1 ? error : cudaErrorInvalidValue);
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  RETURN_IF_ERROR(status());
  std::lock_guard<std::mutex> lock(runtime().mutex);
  *total_bytes = runtime().memory_bytes;
  *free_bytes = *total_bytes - kContextBytes;
  for (const auto& [begin, bytes] : runtime().devices[current_device].live) {
    *free_bytes -= bytes;
  }
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  void* p = const_cast<void*>(pointer);
  std::lock_guard<std::mutex> lock(runtime().mutex);
  if (Device* device = device_of(p)) {
    *attributes = {cudaMemoryTypeDevice, device->index, p, nullptr};
  } else {
    const bool is_pinned = find_allocation(runtime().pinned, p, 1).first != nullptr;
    *attributes = {is_pinned ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered, -1, is_pinned ? p : nullptr, p};
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const ApiCall call("cudaMemcpy");
  RETURN_IF_ERROR(status());
  RETURN_IF_ERROR(check_kind(to, from, kind));
  return copy(to, from, bytes, nullptr, true);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const ApiCall call("cudaMemcpyAsync");
  RETURN_IF_ERROR(status());
  RETURN_IF_ERROR(check_kind(to, from, kind));
  return copy(to, from, bytes, stream, false);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  const ApiCall call("cudaMemcpyPeerAsync");
  return copy(to, from, bytes, stream, false);
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  const ApiCall call("cudaMemsetAsync");
  return with_stream(stream, [&](const StreamPtr& s) {
    if (device_of(pointer) != s->device) {
      return cudaErrorInvalidValue;
    }
    const auto run = [=](unsigned long number) {
      if_watching([&](Observer& it) { it.range(pointer, bytes, /*writes=*/true, number); });
      std::memset(pointer, value, bytes);
    };
    About about;
    about.name = "Memset (Device)";
    about.bytes = bytes;
    enqueue(s, {"memset", run, nullptr, about});
    return cudaSuccess;
  });
}
cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  return cudaMemsetAsync(pointer, value, bytes, nullptr);
}

// ---- Streams ----
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags) {
  RETURN_IF_ERROR(status());
  auto stream = std::make_shared<CUstream_st>();
  stream->device = &runtime().devices[current_device];
  stream->blocking = flags != cudaStreamNonBlocking;
  stream->is_default = false;
  std::lock_guard<std::mutex> lock(runtime().mutex);
  runtime().streams[stream.get()] = stream;
  *handle = stream.get();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t handle) { // the stream first finishes the work in its queue
  return with_stream(handle, [&](const StreamPtr& stream) {
    std::lock_guard<std::mutex> lock(runtime().mutex);
    stream->destroyed = true;
    stream->work.notify_one();
    runtime().streams.erase(handle);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const ApiCall call("cudaStreamSynchronize");
  return with_stream(handle, [](const StreamPtr& stream) {
    RETURN_IF_ERROR(forbid_wait(*stream));
    if_watching([&](Observer& it) { it.host_waits_for_stream(stream.get()); });
    if (stream->is_default) { // an empty operation, which waits for the blocking streams
      return synchronize(enqueue(stream, {nullptr, [](unsigned long) {}}));
    }
    std::unique_lock<std::mutex> lock(runtime().mutex);
    const Mark mark{stream, stream->submitted, nullptr};
    lock.unlock();
    return synchronize(mark);
  });
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return with_stream(handle, [](const StreamPtr& stream) {
    RETURN_IF_ERROR(forbid_wait(*stream));
    {
      std::lock_guard<std::mutex> lock(runtime().mutex);
      if (stream->finished < stream->submitted) {
        return cudaErrorNotReady;
      }
    }
    if_watching([&](Observer& it) { it.host_waits_for_stream(stream.get()); });
    return cudaSuccess;
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t handle, void (*function)(void*), void* data) {
  return with_stream(handle, [&](const StreamPtr& stream) {
    enqueue(stream, {nullptr, [=](unsigned long) { function(data); }});
    return cudaSuccess;
  });
}
