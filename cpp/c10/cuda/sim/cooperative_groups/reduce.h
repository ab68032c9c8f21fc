// Mirrors: nothing in PyTorch: stands in for CUDA's <cooperative_groups/reduce.h>
#pragma once

#include <cooperative_groups.h>

namespace cooperative_groups {

template <typename T>
struct plus {
  T operator()(T a, T b) const {
    return a + b;
  }
};
template <typename T>
struct less {
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
template <typename T>
struct greater {
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

// Combines the values of all lanes of a tile, and returns the result to each of them.
template <unsigned Size, typename Parent, typename T, typename F>
T reduce(const thread_block_tile<Size, Parent>& tile, T value, F combine) {
  for (unsigned distance = Size / 2; distance > 0; distance /= 2) {
    value = combine(value, tile.shfl_xor(value, distance));
  }
  return value;
}

} // namespace cooperative_groups
