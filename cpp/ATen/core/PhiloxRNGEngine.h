// Mirrors: aten/src/ATen/core/PhiloxRNGEngine.h
//
// Philox4x32-10 (Salmon and others, 2011) computes random numbers as a function of a counter. Each thread of a kernel
// computes the numbers of its own counters, so threads share no state.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace reftorch::at {

struct PhiloxNumbers {
  uint32_t x[4];
};

C10_HOST_DEVICE inline uint32_t mulhilo32(uint32_t a, uint32_t b, uint32_t* high) {
  const uint64_t product = static_cast<uint64_t>(a) * b;
  *high = static_cast<uint32_t>(product >> 32);
  return static_cast<uint32_t>(product);
}

// Returns the four numbers at position `offset` of the sequence `subsequence`.
C10_HOST_DEVICE inline PhiloxNumbers philox(uint64_t seed, uint64_t subsequence, uint64_t offset) {
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  uint32_t c[4] = {static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32),
                   static_cast<uint32_t>(subsequence), static_cast<uint32_t>(subsequence >> 32)};
  for (int round = 0; round < 10; round++) {
    uint32_t high0, high1;
    const uint32_t low0 = mulhilo32(0xD2511F53, c[0], &high0), low1 = mulhilo32(0xCD9E8D57, c[2], &high1);
    c[0] = high1 ^ c[1] ^ key[0];
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ key[1];
    c[3] = low0;
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

} // namespace reftorch::at
