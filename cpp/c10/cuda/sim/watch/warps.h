// Mirrors: nothing in PyTorch: what the lanes of a warp did, put together to the instructions of the warp
//
// Note [Traces and warps]
// Problem: the costs of a kernel are those of warps: 32 lanes load together, and what counts is how many pieces of
// memory they touch. But the simulator runs one thread after the other. Trick: each thread leaves a trace, the places
// in the code that it passed. When the block is done, the traces of a warp are merged as a GPU on which lanes meet
// again after a branch would have run them: of all lanes that are not done, those go on whose place comes first in the
// code, where a call counts as inlined. Lanes at the same place form one instruction. Lanes at a barrier wait for the
// rest of the warp. Limits: an optimizing compiler moves code, and then lanes do not meet where the source says; so
// kernels are watched at -O0. Caches, registers and durations are not seen.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudasim::watch {

enum class Kind : uint8_t { Load, Store, Atomic, BasicBlock, Barrier };
enum class Space : uint8_t { Global, Shared, Other };

// One step of a thread. A basic block and a barrier have no address.
struct Record {
  uint64_t address;
  uint32_t site;
  uint8_t bytes;
};

// The counts of all instructions of one site.
struct Totals {
  uint64_t instructions = 0, lanes = 0;
  uint64_t sectors = 0, least_sectors = 0; // global memory: pieces of 32 bytes, and how few could hold as many bytes
  uint64_t passes = 0, least_passes = 0;   // shared memory: how often the banks are asked
  uint64_t same_address = 0;               // atomics: the lanes of the most popular address, summed
  uint32_t most_sectors = 0, most_passes = 0, fewest_lanes = 33, most_lanes = 0;
};

// What the lanes of a warp do together. `mask` has a bit for each lane that takes part.
struct Instruction {
  uint32_t site = 0, mask = 0;
  std::array<uint64_t, 32> address;
  uint8_t bytes = 0;

  bool has(int lane) const {
    return mask >> lane & 1;
  }
};

inline uint32_t count_distinct(uint64_t* values, size_t n) {
  std::sort(values, values + n);
  return static_cast<uint32_t>(std::unique(values, values + n) - values);
}

// Counts the sectors of 32 bytes that the lanes touch. Lanes that load the same address share its bytes.
inline void count_sectors(const Instruction& in, uint32_t& sectors, uint32_t& least) {
  uint64_t touched[64], addresses[32];
  size_t n = 0, lanes = 0;
  for (int l = 0; l < 32; l++) {
    if (in.has(l)) {
      const uint64_t first = in.address[l] / 32, last = (in.address[l] + in.bytes - 1) / 32;
      addresses[lanes++] = in.address[l];
      touched[n++] = first;
      if (last != first) {
        touched[n++] = last;
      }
    }
  }
  sectors = count_distinct(touched, n);
  least = (count_distinct(addresses, lanes) * in.bytes + 31) / 32;
}

// Counts how often the 32 banks of shared memory must be asked. A bank gives one word of 4 bytes at a time, to every
// lane that wants this word. Lanes that want 8 bytes are served by halves of the warp, lanes that want 16 by quarters.
inline void count_passes(const Instruction& in, uint32_t& passes, uint32_t& least) {
  const int group = in.bytes <= 4 ? 32 : in.bytes == 8 ? 16 : 8;
  passes = least = 0;
  for (int first = 0; first < 32; first += group) {
    uint64_t words[160];
    size_t n = 0;
    for (int l = first; l < first + group; l++) {
      for (uint64_t w = in.address[l] / 4; in.has(l) && w <= (in.address[l] + in.bytes - 1) / 4; w++) {
        words[n++] = w;
      }
    }
    if (n == 0) {
      continue;
    }
    const uint32_t distinct = count_distinct(words, n);
    uint32_t of_bank[32] = {}, most = 0;
    for (uint32_t i = 0; i < distinct; i++) {
      most = std::max(most, ++of_bank[words[i] % 32]);
    }
    passes += most;
    least += 1;
  }
}

// Returns how many lanes use the address that most lanes use.
inline uint32_t lanes_of_one_address(const Instruction& in) {
  uint32_t most = 0;
  for (int l = 0; l < 32; l++) {
    uint32_t lanes = 0;
    for (int k = 0; k < 32 && in.has(l); k++) {
      lanes += in.has(k) && in.address[k] == in.address[l];
    }
    most = std::max(most, lanes);
  }
  return most;
}

// Calls `visit` with each instruction of the warp whose lanes left these traces. `rank` orders the sites as they are in
// the code. See Note [Traces and warps].
template <typename Visit>
void merge(const std::vector<Record>* lanes, int n, const std::vector<uint32_t>& rank, const std::vector<Kind>& kind,
           const Visit& visit) {
  size_t at[32] = {};
  for (;;) {
    uint32_t first = ~0u;
    bool all_at_barrier = true, some_left = false;
    for (int l = 0; l < n; l++) {
      if (at[l] < lanes[l].size()) {
        some_left = true;
        const uint32_t site = lanes[l][at[l]].site;
        if (kind[site] != Kind::Barrier) {
          all_at_barrier = false;
          first = std::min(first, rank[site]);
        }
      }
    }
    if (!some_left) {
      return;
    }
    Instruction in;
    for (int l = 0; l < n; l++) {
      if (at[l] == lanes[l].size()) {
        continue;
      }
      const Record& record = lanes[l][at[l]];
      if (all_at_barrier || (kind[record.site] != Kind::Barrier && rank[record.site] == first)) {
        in.site = record.site;
        in.mask |= 1u << l;
        in.address[l] = record.address;
        in.bytes = record.bytes;
        at[l]++;
      }
    }
    visit(in);
  }
}

} // namespace cudasim::watch
