// Mirrors: nothing in PyTorch: it calls getrf of LAPACK
//
// Gaussian elimination with row swaps, written to be read. Factors, pivots and info are the same as LAPACK's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace reftorch::at::native {

// a (m, n) is column-major: element (i, j) lies at a[i + j * lda]. On return a holds L below the diagonal (the diagonal
// of L is 1) and U on and above the diagonal. Step k swapped row k with row pivots[k] - 1. Returns 0, or the first k +
// 1 for which U[k, k] is 0, which means that the matrix is singular.
template <typename scalar_t>
int getrf_naive(int64_t m, int64_t n, scalar_t* a, int64_t lda, int* pivots) {
  int info = 0;
  for (int64_t k = 0; k < std::min(m, n); k++) {
    scalar_t* column = a + k * lda;
    int64_t pivot = k; // the row of the largest element: dividing by that element makes no number grow
    for (int64_t i = k + 1; i < m; i++) {
      if (std::abs(column[i]) > std::abs(column[pivot])) {
        pivot = i;
      }
    }
    pivots[k] = static_cast<int>(pivot) + 1;
    if (column[pivot] == scalar_t(0)) {
      info = info == 0 ? static_cast<int>(k) + 1 : info;
      continue;
    }
    for (int64_t j = 0; j < n && pivot != k; j++) {
      std::swap(a[k + j * lda], a[pivot + j * lda]);
    }
    for (int64_t i = k + 1; i < m; i++) {
      column[i] /= column[k]; // the multiple of row k that row i contains
    }
    for (int64_t j = k + 1; j < n; j++) { // subtract that multiple, to the right of the column
      for (int64_t i = k + 1; i < m; i++) {
        a[i + j * lda] -= column[i] * a[k + j * lda];
      }
    }
  }
  return info;
}

} // namespace reftorch::at::native
