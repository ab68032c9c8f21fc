// Mirrors: c10/core/AllocatorConfig.h
//
// The settings of the allocators of devices: PYTORCH_CUDA_ALLOC_CONF, PYTORCH_ALLOC_CONF, and
// torch.cuda.memory._set_allocator_settings. The text is a list like
// "max_split_size_mb:64,garbage_collection_threshold:0.8". Left out: settings of pinned memory, which are read and have
// no effect.
#pragma once

#include <c10/macros/Export.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>

namespace reftorch::c10::CachingAllocator {

constexpr size_t kSmallBuffer = size_t(2) << 20;    // the size of a segment of small blocks
constexpr size_t kMinBlockSize = 512;               // all sizes are rounded up to a multiple of this size
constexpr size_t kSmallSize = size_t(1) << 20;      // the size of the largest small block
constexpr size_t kMinLargeAlloc = size_t(10) << 20; // a request of this size or more gets a segment of its own
constexpr size_t kRoundLarge = size_t(2) << 20;     // and this segment's size is a multiple of kRoundLarge

class C10_API AcceleratorAllocatorConfig {
 public:
  // Returns the settings of this process. The first call reads the environment, and raises ValueError if the text
  // there is not a list of settings.
  static AcceleratorAllocatorConfig& instance();

  // Sets each setting that `env` names, and gives all others their defaults, as in PyTorch. Raises ValueError and
  // changes nothing if `env` is not a list of settings.
  void parseArgs(const std::string& env);
  std::string last_allocator_settings();

  // Blocks of this size or more are not split, so that their segments can always be returned to the device.
  static size_t max_split_size() {
    return instance().values_.max_split_size;
  }
  // A block that is not split serves a request if the block is at most this much larger than the request.
  static size_t max_non_split_rounding_size() {
    return instance().values_.max_non_split_rounding_size;
  }
  // The part of the allowed memory above which unused segments are returned before a new one is asked for; 0: never.
  static double garbage_collection_threshold() {
    return instance().values_.garbage_collection_threshold;
  }
  // The part of a device's memory that this process may take unless torch.cuda.set_per_process_memory_fraction says
  // otherwise.
  static double per_process_memory_fraction() {
    return instance().values_.per_process_memory_fraction;
  }
  // The size of a segment for requests between kSmallSize and kMinLargeAlloc.
  static size_t large_segment_size() {
    return instance().values_.large_segment_size;
  }
  // Into how many parts the sizes between two powers of two are divided for rounding up; 0 or 1: sizes are rounded up
  // to kMinBlockSize only.
  static size_t roundup_power2_divisions(size_t size);

 private:
  AcceleratorAllocatorConfig();

  // The divisions of 1 MiB and less, 2 MiB, 4 MiB, ..., 32 GiB and more.
  using Divisions = std::array<size_t, 16>;
  struct Values {
    size_t max_split_size = std::numeric_limits<size_t>::max();
    size_t max_non_split_rounding_size = size_t(20) << 20;
    size_t large_segment_size = size_t(20) << 20;
    double garbage_collection_threshold = 0;
    double per_process_memory_fraction = 1;
    Divisions roundup_power2_divisions{};
  };
  class Parser;

  // Settings change while no other thread allocates, as in PyTorch: they are read without a lock.
  Values values_;
  std::mutex mutex_; // of the text
  std::string last_settings_;
};

} // namespace reftorch::c10::CachingAllocator
