// Mirrors: nothing in PyTorch: which memory of the devices is allocated, and how to name an address in words
//
// An allocation is what cudaMalloc gave, or a block of the caching allocator, which a tensor owns. Not thread-safe.
#pragma once

#include <c10/cuda/sim/watch/order.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cudasim::watch {

constexpr uintptr_t kNear = 512; // an address at most so far away is said to be before or after an allocation

// A contiguous array that the program has named.
struct Array {
  std::string name;
  uintptr_t begin;
  size_t itemsize;
  std::vector<int64_t> shape;

  size_t bytes() const;
};

// Note [Lifetimes count in operations]
// Problem: the host allocates and frees memory while earlier operations are still in the queues, so "freed" says
// nothing about an operation that runs later. Trick: an operation may use an allocation if the operation was enqueued
// after the allocation began and before it ended, whenever the operation runs.
struct Allocation {
  uintptr_t begin = 0;
  size_t bytes = 0;
  // All of it counts as written: it is older than the watcher, or written by code or a process that is not seen.
  bool is_trusted = false;
  std::vector<Array> arrays;
  uint32_t born = 0, died = ~0u; // the last operation that was enqueued before
  // Of a block that the caching allocator took back: its stream, and what the stream had waited for then. The next
  // owner uses the block on this stream at once, unless the block waits for other streams, too.
  const CUstream_st* stream = nullptr;
  bool waits_for_others = false;
  Clock at_free;

  bool is_reused = false; // a later allocation has some of the memory

  bool contains(uintptr_t address, size_t n) const {
    return address >= begin && address + n <= begin + bytes;
  }
  bool is_for(uint32_t operation) const {
    return operation > born && operation <= died;
  }
};

class Allocations {
 public:
  void add(Allocation allocation);
  // Ends the allocation that begins at an address; does nothing if there is none.
  void end(uintptr_t begin, uint32_t latest_operation);
  // Returns the living allocation that contains the bytes, or null.
  Allocation* find(uintptr_t address, size_t bytes);
  Allocation* find_beginning(uintptr_t begin);
  // Returns an allocation that has ended but that the operation may use, or null.
  const Allocation* find_former(uintptr_t address, size_t bytes, uint32_t operation) const;
  // Describes an address: "out[3, 4]", "4 bytes after the end of x, a tensor of 400 bytes".
  std::string describe(uintptr_t address);
  const std::map<uintptr_t, Allocation>& living() const {
    return living_;
  }
  void clear();

 private:
  std::map<uintptr_t, Allocation> living_; // by beginning
  Allocation* recent_[8] = {};             // some of them, by page
  std::vector<Allocation> former_;         // in the order in which they ended
};

} // namespace cudasim::watch
