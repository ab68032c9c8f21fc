// Mirrors: nothing in PyTorch's own files: MKL does this work there
//
// A rung of the matrix product for processors with AVX-512: the sums stay in registers, and the operands are read where
// they lie. The rungs before this one are in BlasKernel.h.
//
// Note [Tiles of a matrix product]
// Problem: a BLAS first copies both matrices into the order in which its innermost loop reads them. For a large product
// the copies are cheap beside the sums. But if a has few rows, each element of b is used for few sums, and OpenBLAS's
// copy of b takes up to half of the time. Trick: the innermost loop needs only that the rows of b are contiguous. A
// tile of the result, kTileRows by kTileWidth vectors, stays in registers. For each l, the tile reads a part of row l
// of b as vectors, and adds this part times a[i, l] to its row i. That element of a may lie anywhere.
//
//                   row l of b:   [ vector 0 ][ vector 1 ][ vector 2 ][ vector 3 ]
//                                      |           |           |           |
//     a[i + 0, l]  ------------->   sum 0 0     sum 0 1     sum 0 2     sum 0 3
//     a[i + 1, l]  ------------->   sum 1 0     sum 1 1     sum 1 2     sum 1 3
//       ...                           ...
//     a[i + 5, l]  ------------->   sum 5 0     sum 5 1     sum 5 2     sum 5 3
//
// If b is stored transposed (n, k), as the weight of a linear layer is, the rows of b are not contiguous. There are two
// ways then. The first way copies b. The second way computes c^T (n, m) = b^T (n, k) @ a^T (k, m), so that it reads b
// where b lies, and copies a and c. The second way copies less if a has few rows.
//
// Limits: the loops beat OpenBLAS in products of one to thirty million multiply-adds, on one processor with AVX-512.
// For smaller products, OpenBLAS has loops that copy nothing; for larger products, the copies pay off. AVX2 has sixteen
// registers only, and a tile that fits into them was slower than OpenBLAS, so there the BLAS does all products.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define GEMM_HAS_TILES 1

#include <ATen/native/cpu/Scratch.h>
#include <ATen/native/cpu/VectorRegister.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace reftorch::at::native::cpublas {

#define TILE_TARGET __attribute__((target("avx512f")))

constexpr int kTileRows = 6;  // 6 times 4 sums, 4 vectors of b and an element of a fit into the 32 registers
constexpr int kTileWidth = 4; // vectors
constexpr int kVectorBytes = 64;

template <typename T>
struct TileVector : VectorOf<T, kVectorBytes> {
  using index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using indices = typename VectorOf<index, kVectorBytes>::type;
};

// The Debug build optimizes the two loops that follow, because the BLAS, whose work they do, is optimized in every
// build.
#ifndef NDEBUG
#pragma GCC push_options
#pragma GCC optimize("O3")
#endif

// c (H, W vectors) = alpha * a (H, k) @ b (k, W vectors) + beta * c. Element (i, l) of a lies at
// a[i * a_row + l * a_column].
template <typename T, int H, int W>
TILE_TARGET void product_tile(int64_t k, T alpha, const T* a, int64_t a_row, int64_t a_column, const T* b, int64_t ldb,
                              T beta, T* c, int64_t ldc) {
  using Vector = typename TileVector<T>::type;
  constexpr int64_t L = TileVector<T>::count;
  Vector sums[H][W] = {};
  for (int64_t l = 0; l < k; l++, a += a_column, b += ldb) {
    for (int i = 0; i < H; i++) {
      for (int j = 0; j < W; j++) {
        sums[i][j] += a[i * a_row] * vector_at<kVectorBytes>(b + j * L);
      }
    }
  }
  for (int i = 0; i < H; i++) {
    for (int j = 0; j < W; j++) {
      auto& out = vector_at<kVectorBytes>(c + i * ldc + j * L);
      out = beta == 0 ? alpha * sums[i][j] : alpha * sums[i][j] + beta * out; // NaN * 0 is NaN
    }
  }
}

// to (L, L) = from (L, L) transposed, where L is the length of a vector. The step of 1 exchanges the two elements off
// the diagonal of each square of 2 by 2 elements, the step of 2 the two squares off the diagonal of each square of 4 by
// 4, and so on.
template <typename T>
TILE_TARGET void transpose_square(const T* from, int64_t from_pitch, T* to, int64_t to_pitch) {
  constexpr int L = TileVector<T>::count;
  typename TileVector<T>::type rows[L];
  for (int i = 0; i < L; i++) {
    rows[i] = vector_at<kVectorBytes>(from + i * from_pitch);
  }
#pragma GCC unroll 4
  for (int step = 1; step < L; step *= 2) {
    typename TileVector<T>::indices upper, lower; // an index from L on means an element of the second row
    for (int j = 0; j < L; j++) {
      upper[j] = (j & step) == 0 ? j : L + j - step;
      lower[j] = (j & step) == 0 ? j + step : L + j;
    }
    for (int i = 0; i < L; i++) {
      if ((i & step) == 0) {
        const auto first = rows[i], second = rows[i + step];
        rows[i] = __builtin_shuffle(first, second, upper);
        rows[i + step] = __builtin_shuffle(first, second, lower);
      }
    }
  }
  for (int i = 0; i < L; i++) {
    vector_at<kVectorBytes>(to + i * to_pitch) = rows[i];
  }
}

#ifndef NDEBUG
#pragma GCC pop_options
#endif

// to (columns, rows) = from (rows, columns) transposed
template <typename T>
void transpose_matrix(const T* from, int64_t from_pitch, int64_t rows, int64_t columns, T* to, int64_t to_pitch) {
  constexpr int64_t L = TileVector<T>::count;
  const int64_t whole_rows = rows / L * L, whole_columns = columns / L * L;
  for (int64_t i = 0; i < whole_rows; i += L) {
    for (int64_t j = 0; j < whole_columns; j += L) {
      transpose_square(from + i * from_pitch + j, from_pitch, to + j * to_pitch + i, to_pitch);
    }
  }
  for (int64_t i = 0; i < rows; i++) { // what is left of a square on the right and below
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; j++) {
      to[j * to_pitch + i] = from[i * from_pitch + j];
    }
  }
}

template <typename T>
using product_tile_fn = void (*)(int64_t k, T alpha, const T* a, int64_t a_row, int64_t a_column, const T* b,
                                 int64_t ldb, T beta, T* c, int64_t ldc);

// product_tile for `height` rows and `width` vectors
template <typename T>
product_tile_fn<T> product_tile_of(int64_t height, int64_t width) {
#define ROW(H)                                                                                 \
  {                                                                                            \
    product_tile<T, H, 1>, product_tile<T, H, 2>, product_tile<T, H, 3>, product_tile<T, H, 4> \
  }
  static constexpr product_tile_fn<T> tiles[kTileRows][kTileWidth] = {ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6)};
#undef ROW
  return tiles[height - 1][width - 1];
}

// c (m, n) = alpha * a (m, k) @ b (k, n) + beta * c, where the rows of b are contiguous. The result is computed in
// panels of as many columns as a tile has.
template <typename T>
void multiply_panels(int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t a_row, int64_t a_column, const T* b,
                     int64_t ldb, T beta, T* c, int64_t ldc) {
  constexpr int64_t L = TileVector<T>::count, kColumns = kTileWidth * L;
  constexpr int64_t kDepth = 128;   // so many rows of a panel of b, 32 KB, stay in the first-level cache
  constexpr int64_t kFewRows = 128; // with more rows of a, it pays to copy a panel of b to one place
  Scratch<T> panel(kDepth * kColumns);
  for (int64_t column = 0; column < n; column += kColumns) {
    const int64_t columns = std::min(kColumns, n - column), width = (columns + L - 1) / L;
    const bool partial = columns != width * L; // the last vector lacks elements
    for (int64_t first = 0; first < k; first += kDepth) {
      const int64_t depth = std::min(kDepth, k - first);
      const T *b_panel = b + first * ldb + column, old_share = first == 0 ? beta : T(1);
      int64_t b_pitch = ldb;
      if (partial || m > kFewRows) {
        b_pitch = width * L;
        for (int64_t l = 0; l < depth; l++) {
          std::copy_n(b_panel + l * ldb, columns, &panel[l * b_pitch]);
          std::fill_n(&panel[l * b_pitch + columns], b_pitch - columns, T(0));
        }
        b_panel = panel.begin();
      }
      for (int64_t i = 0; i < m; i += kTileRows) {
        const int64_t height = std::min<int64_t>(kTileRows, m - i);
        const auto tile = product_tile_of<T>(height, width);
        const T* a_rows = a + i * a_row + first * a_column;
        T* out = c + i * ldc + column;
        if (!partial) {
          tile(depth, alpha, a_rows, a_row, a_column, b_panel, b_pitch, old_share, out, ldc);
          continue;
        }
        T whole[kTileRows * kColumns] = {};
        for (int64_t row = 0; row < height; row++) {
          std::copy_n(out + row * ldc, columns, whole + row * kColumns);
        }
        tile(depth, alpha, a_rows, a_row, a_column, b_panel, b_pitch, old_share, whole, kColumns);
        for (int64_t row = 0; row < height; row++) {
          std::copy_n(whole + row * kColumns, columns, out + row * ldc);
        }
      }
    }
  }
}

// gemm on one thread, as in BlasKernel.h. Note [Tiles of a matrix product].
template <typename T>
void gemm_tiled(bool transa, bool transb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda, const T* b,
                int64_t ldb, T beta, T* c, int64_t ldc) {
  const int64_t a_row = transa ? 1 : lda, a_column = transa ? lda : 1;
  if (!transb) {
    multiply_panels(m, n, k, alpha, a, a_row, a_column, b, ldb, beta, c, ldc);
  } else if (n * k <= m * (k + n)) {
    Scratch<T> b_rows(k * n);
    transpose_matrix(b, ldb, n, k, b_rows.begin(), n);
    multiply_panels(m, n, k, alpha, a, a_row, a_column, b_rows.begin(), n, beta, c, ldc);
  } else {
    Scratch<T> a_rows(transa ? 0 : k * m), c_rows(n * m);
    if (!transa) {
      transpose_matrix(a, lda, m, k, a_rows.begin(), m);
      a = a_rows.begin();
      lda = m;
    }
    if (beta != 0) {
      transpose_matrix(c, ldc, m, n, c_rows.begin(), m);
    }
    multiply_panels(n, m, k, alpha, b, ldb, int64_t(1), a, lda, beta, c_rows.begin(), m);
    transpose_matrix(c_rows.begin(), m, n, m, c, ldc);
  }
}

// Whether the processor can run the loops of this file.
inline bool can_multiply_tiles() {
  static const bool can = __builtin_cpu_supports("avx512f");
  return can;
}

// Whether the loops of this file are quicker than OpenBLAS. The limits are measured. 100 cubed is also OpenBLAS's own
// limit, up to which its loops copy nothing.
inline bool tiles_suit_product(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kLeast = 100 * 100 * 100, kMost = int64_t(1) << 25;
  return k > 0 && m * n > kLeast / k && m * n <= kMost / k && can_multiply_tiles();
}

#undef TILE_TARGET

} // namespace reftorch::at::native::cpublas

#endif
