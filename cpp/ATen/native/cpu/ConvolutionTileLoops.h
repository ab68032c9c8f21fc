// Mirrors: nothing in PyTorch's own files: oneDNN's direct convolution does this work there
//
// The innermost loops of ConvolutionTiles.h, for one instruction set. ConvolutionTiles.h includes this file once for
// each instruction set, so there is no include guard. Before each inclusion it defines three macros, which this file
// undefines at its end:
//   TILE_ISA     the namespace of the loops
//   TILE_BYTES   the size of a vector register
//   TILE_TARGET  the attribute by which a function may use the instruction set
//
// Note [Vectors as wide as a register]
// Problem: which sums stay in registers decides how fast these loops are, and the compiler does not find that out by
// itself, so the loops name their vectors. A vector that is wider than a register of the processor is kept in memory: a
// convolution with vectors of 64 bytes took 26 ms on AVX2, whose registers have 32 bytes, and 5 ms with vectors of 32
// bytes. So TARGET_CLONES (Loops.h), which compiles one source for every instruction set, does not serve here. Trick:
// this file is compiled once for each instruction set, as PyTorch compiles all files of native/cpu, where the macro
// CPU_CAPABILITY names the instruction set.

namespace reftorch::at::native::conv::TILE_ISA {

template <typename T>
using LanesOf = VectorOf<T, TILE_BYTES>;

// A lower tile is wider, because a register whose sum is not finished cannot take the next product: many sums have to
// be under way at once. Twelve sums leave room for their factors in the sixteen registers of AVX2.
constexpr int width_of_tile(int height) {
  return 12 / height < kWidestTile ? 12 / height : kWidestTile;
}
// The vectors of one stripe of output channels.
constexpr int kStripe = TILE_BYTES == 64 ? 1 : 2;

// The Debug build optimizes the three loops that follow, because learners train networks there. The BLAS is optimized
// in every build.
#ifndef NDEBUG
#pragma GCC push_options
#pragma GCC optimize("O3")
#endif

// y (H, pitch): bias + the sum over channels and taps of weight * frame, for `count` pixels of H channels.
// The weights are (channels * taps, H).
template <typename T, int H>
TILE_TARGET void sum_tiles(T* y, int64_t pitch, const T* bias, const T* frame, int64_t channel_size, int64_t channels,
                           const int64_t* taps, int64_t kernel_size, const T* weights, int64_t count) {
  using Lanes = typename LanesOf<T>::type;
  constexpr int W = width_of_tile(H);
  constexpr int64_t L = LanesOf<T>::count;
  for (int64_t i = 0; i < count; i += W * L) {
    Lanes sums[H][W];
    for (int h = 0; h < H; h++) {
      for (int w = 0; w < W; w++) {
        sums[h][w] = Lanes{} + bias[h];
      }
    }
    const T* factors = weights;
    for (int64_t c = 0; c < channels; c++) {
      for (int64_t k = 0; k < kernel_size; k++, factors += H) {
        const T* from = frame + c * channel_size + taps[k] + i;
        for (int h = 0; h < H; h++) {
          for (int w = 0; w < W; w++) {
            sums[h][w] += factors[h] * vector_at<TILE_BYTES>(from + w * L);
          }
        }
      }
    }
    for (int h = 0; h < H; h++) {
      for (int w = 0; w < W; w++) {
        vector_at<TILE_BYTES>(y + h * pitch + i + w * L) = sums[h][w];
      }
    }
  }
}

// sums (H, W, L): adds the products of H rows of dy with W shifted copies of the frame; `count` is a multiple of L.
template <typename T, int H, int W>
TILE_TARGET void dot_tiles(T* sums, int64_t sums_pitch, const T* dy, int64_t dy_pitch, const T* frame,
                           const int64_t* taps, int64_t count) {
  using Lanes = typename LanesOf<T>::type;
  constexpr int64_t L = LanesOf<T>::count;
  Lanes parts[H][W] = {};
  for (int64_t i = 0; i < count; i += L) {
    Lanes grads[H];
    for (int h = 0; h < H; h++) {
      grads[h] = vector_at<TILE_BYTES>(dy + h * dy_pitch + i);
    }
    for (int w = 0; w < W; w++) {
      const Lanes pixels = vector_at<TILE_BYTES>(frame + taps[w] + i);
      for (int h = 0; h < H; h++) {
        parts[h][w] += grads[h] * pixels;
      }
    }
  }
  for (int h = 0; h < H; h++) {
    for (int w = 0; w < W; w++) {
      vector_at<TILE_BYTES>(sums + h * sums_pitch + w * L) += parts[h][w];
    }
  }
}

// sums (H, stripe): adds the products of H shifted copies of the frame with dy (rows, width, stripe). A row begins in
// the frame at its element of `starts`.
template <typename T, int H>
TILE_TARGET void outer_tiles(T* sums, const T* dy, const T* frame, const int64_t* shifts, const int64_t* starts,
                             int64_t rows, int64_t width) {
  using Lanes = typename LanesOf<T>::type;
  constexpr int64_t L = LanesOf<T>::count;
  Lanes parts[H][kStripe];
  for (int h = 0; h < H; h++) {
    for (int s = 0; s < kStripe; s++) {
      parts[h][s] = vector_at<TILE_BYTES>(sums + (h * kStripe + s) * L);
    }
  }
  for (int64_t row = 0; row < rows; row++) {
    const T* pixel = frame + starts[row];
    for (int64_t w = 0; w < width; w++, pixel++, dy += kStripe * L) {
      for (int h = 0; h < H; h++) {
        for (int s = 0; s < kStripe; s++) {
          parts[h][s] += pixel[shifts[h]] * vector_at<TILE_BYTES>(dy + s * L);
        }
      }
    }
  }
  for (int h = 0; h < H; h++) {
    for (int s = 0; s < kStripe; s++) {
      vector_at<TILE_BYTES>(sums + (h * kStripe + s) * L) = parts[h][s];
    }
  }
}

#ifndef NDEBUG
#pragma GCC pop_options
#endif

template <typename T>
TileLoops<T> tile_loops() {
  return {LanesOf<T>::count,
          kStripe * LanesOf<T>::count,
          {sum_tiles<T, 1>, sum_tiles<T, 2>, sum_tiles<T, 3>, sum_tiles<T, 4>, sum_tiles<T, 5>, sum_tiles<T, 6>},
          {{dot_tiles<T, 1, 1>, dot_tiles<T, 1, 2>, dot_tiles<T, 1, 3>},
           {dot_tiles<T, 2, 1>, dot_tiles<T, 2, 2>, dot_tiles<T, 2, 3>}},
          {outer_tiles<T, 1>, outer_tiles<T, 2>, outer_tiles<T, 3>, outer_tiles<T, 4>, outer_tiles<T, 5>,
           outer_tiles<T, 6>}};
}

} // namespace reftorch::at::native::conv::TILE_ISA

#undef TILE_ISA
#undef TILE_BYTES
#undef TILE_TARGET
