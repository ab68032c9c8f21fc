// Mirrors: nothing in PyTorch: the places in the code of watched kernels
//
// A site is an address in the code together with the calls that led to it, so that a function which two lines of a
// kernel call has two sites for each of its loads. Not thread-safe; one grid runs at a time.
#pragma once

#include <c10/cuda/sim/watch/warps.h>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace cudasim::watch {

constexpr size_t kSamples = 4; // how many instructions of a site are kept for pictures

struct Site {
  uint32_t path = 0;
  uintptr_t place = 0; // the address to which the compiler's call returns
  Space space = Space::Other;
  uint8_t bytes = 0;
  uint64_t accesses = 0; // of single threads
  Totals totals;
  struct Sample {
    uint32_t operation, block, warp;
    Instruction in;
  };
  std::vector<Sample> samples;
};

class Sites {
 public:
  Sites() {
    clear();
  }
  // Returns the path of a function that is called from `parent` and returns to `place`. The path 0 is the simulator.
  uint32_t path_of(uint32_t parent, uintptr_t place);
  uint32_t parent_of(uint32_t path) const {
    return paths_[path].parent;
  }
  uint32_t depth_of(uint32_t path) const {
    return paths_[path].depth;
  }
  // Returns the number of a site. 0 is no site.
  uint32_t site_of(uint32_t path, uintptr_t place, Kind kind);
  Site& operator[](uint32_t site) {
    return sites_[site];
  }
  size_t size() const {
    return sites_.size();
  }
  const std::vector<Kind>& kinds() const {
    return kinds_;
  }
  // For each site, its position if all sites are sorted by place, calls counting as inlined.
  const std::vector<uint32_t>& ranks();
  // The place of the site, then those of the calls that led to it, the innermost first.
  std::vector<uintptr_t> places_of(uint32_t site) const;
  void clear();

 private:
  struct Path {
    uint32_t parent;
    uintptr_t place;
    uint32_t depth;
  };
  struct Cached {
    uintptr_t place = 0;
    uint32_t path = 0, site = 0;
  };
  std::vector<Site> sites_;
  std::vector<Kind> kinds_;
  std::vector<uint32_t> ranks_;
  std::vector<Path> paths_;
  std::unordered_map<uint64_t, uint32_t> site_ids_, path_ids_;
  std::array<Cached, 4096> cache_; // a part of site_ids_
};

} // namespace cudasim::watch
