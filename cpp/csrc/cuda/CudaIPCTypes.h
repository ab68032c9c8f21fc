// Mirrors: torch/csrc/CudaIPCTypes.h, torch/csrc/StorageSharing.cpp
//
// The memory of a CUDA tensor, for another process.
//
// Note [CUDA IPC refcounting]
// Problem: the receiver maps memory that the caching allocator of the sender owns. If the sender drops its tensor, the
// allocator must not give the memory to another tensor while the receiver reads it. Trick: each message has a counter
// in memory that both processes map: 1 when the message is made, 0 when the receiver has dropped what it received. The
// storage of the sender keeps its memory behind the counters of its messages. If the storage ends before the receivers
// have finished, the memory goes into a list, the limbo. The sender looks through the limbo when a sent storage ends,
// when its allocator needs memory, and when the program calls torch.cuda.ipc_collect().
//
// A message also has an event that the sender records on its current stream. The receiver's current stream waits for
// it, so the receiver reads what the sender had queued before the message. Nothing orders later work of the two
// processes: they wait for each other by a queue, or by an event of their own.
//
// Limits: a message that nobody reads, and a receiver that is killed, keep the memory until the sender ends. If the
// sender ends first, the counters are gone, and on a GPU so is the memory. The counters are in a file without a name,
// which the receiver opens by /proc, so the processes must see each other there.
#pragma once

#include <c10/core/StorageImpl.h>

#include <cstddef>
#include <string>

namespace reftorch::torch {

constexpr size_t CUDA_IPC_REF_COUNTER_FILE_SIZE = 10000;       // counters
constexpr size_t CUDA_IPC_MAXIMUM_EVENTS_TO_USE = 1000;        // further messages wait for the stream instead
constexpr size_t CUDA_IPC_WARN_AFTER_X_BLOCKS_IN_LIMBO = 1000; // storages

// What a message says of a storage. An empty storage has no handles.
struct SharedCudaStorage {
  c10::DeviceIndex device = -1;
  std::string handle;
  size_t size_bytes = 0;
  ptrdiff_t offset_bytes = 0; // in the memory that the handle opens
  std::string ref_counter_handle;
  size_t ref_counter_offset = 0;
  std::string event_handle;
  bool event_sync_required = false;
};

// Makes a message. Raises RuntimeError if the storage itself came from another process, or if the allocator of the
// library does not own the memory.
TORCH_API SharedCudaStorage shareCudaStorage(const c10::Storage& storage);
// Returns the storage of a message. Raises RuntimeError if the sender has ended or if this process is the sender.
TORCH_API c10::Storage newSharedCudaStorage(const SharedCudaStorage& message);
// Returns the storage that this process has received before for the same memory; an undefined one if there is none.
TORCH_API c10::Storage receivedCudaStorage(const std::string& handle, ptrdiff_t offset_bytes);
// Tells the sender that this process does not need the memory of one message any more. Does nothing if the sender has
// ended.
TORCH_API void releaseCudaIPCCounter(const std::string& handle, size_t offset);
// Frees the memory in the limbo that no process needs any more. Returns whether there was some.
TORCH_API bool CudaIPCCollect();

} // namespace reftorch::torch
