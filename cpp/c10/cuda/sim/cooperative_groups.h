// Mirrors: nothing in PyTorch: stands in for CUDA's <cooperative_groups.h>
//
// Groups of threads as objects: the block, tiles of a warp, and the grid without its barrier. Left out: grid.sync(),
// because the simulator runs the blocks of a grid one after the other; clusters; coalesced groups, because the
// simulator does not know which lanes run together; and memcpy_async.
#pragma once

#include <cuda_runtime.h>

namespace cooperative_groups {

class thread_block {
 public:
  static void sync() {
    __syncthreads();
  }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static unsigned size() {
    return blockDim.x * blockDim.y * blockDim.z;
  }
  static unsigned num_threads() {
    return size();
  }
  static dim3 group_index() {
    return blockIdx;
  }
  static dim3 thread_index() {
    return threadIdx;
  }
  static dim3 group_dim() {
    return blockDim;
  }
  static dim3 dim_threads() {
    return blockDim;
  }
};
inline thread_block this_thread_block() {
  return {};
}

class grid_group {
 public:
  static unsigned long long block_rank() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  static unsigned long long num_blocks() {
    return 1ull * gridDim.x * gridDim.y * gridDim.z;
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned long long size() {
    return num_blocks() * thread_block::size();
  }
  static unsigned long long num_threads() {
    return size();
  }
  static dim3 group_dim() {
    return gridDim;
  }
  static dim3 dim_blocks() {
    return gridDim;
  }
};
inline grid_group this_grid() {
  return {};
}

// A tile of `Size` lanes of a warp; Size is a power of two, at most 32.
template <unsigned Size, typename Parent = thread_block>
class thread_block_tile {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0, "the size of a tile is 1, 2, 4, 8, 16 or 32");
  static unsigned mask() {
    return (Size == 32 ? ~0u : (1u << Size) - 1) << (cudasim::lane_id() & ~(Size - 1));
  }

 public:
  static void sync() {
    __syncwarp(mask());
  }
  static unsigned thread_rank() {
    return thread_block::thread_rank() % Size;
  }
  static constexpr unsigned size() {
    return Size;
  }
  static constexpr unsigned num_threads() {
    return Size;
  }
  static unsigned meta_group_rank() {
    return thread_block::thread_rank() / Size;
  }
  static unsigned meta_group_size() {
    return (thread_block::size() + Size - 1) / Size;
  }
  template <typename T>
  static T shfl(T value, int from) {
    return __shfl_sync(mask(), value, from, Size);
  }
  template <typename T>
  static T shfl_down(T value, unsigned delta) {
    return __shfl_down_sync(mask(), value, delta, Size);
  }
  template <typename T>
  static T shfl_up(T value, unsigned delta) {
    return __shfl_up_sync(mask(), value, delta, Size);
  }
  template <typename T>
  static T shfl_xor(T value, unsigned lane_mask) {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), Size);
  }
  static int any(int predicate) {
    return __any_sync(mask(), predicate);
  }
  static int all(int predicate) {
    return __all_sync(mask(), predicate);
  }
  static unsigned ballot(int predicate) { // bit 0 is the first lane of the tile
    return __ballot_sync(mask(), predicate) >> (cudasim::lane_id() & ~(Size - 1)) &
           (Size == 32 ? ~0u : (1u << Size) - 1);
  }
};
template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}
template <typename Group>
void sync(const Group& group) {
  group.sync();
}

} // namespace cooperative_groups
