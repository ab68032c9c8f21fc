// Mirrors: nothing in PyTorch: it calls getrf of LAPACK
// Gaussian elimination with row swaps, to read: the same factors, pivots and info as LAPACK's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace reftorch::at::native {

// a (m, n), column-major: element (i, j) lies at a[i + j * lda]. It becomes L below the diagonal (whose own diagonal is
// 1) and U on and above it; step k swapped row k with row pivots[k] - 1. Returns 0, or the first k + 1 where U[k, k] is
// 0: the matrix is singular.
template <typename scalar_t>
int getrf_naive(int64_t m, int64_t n, scalar_t* a, int64_t lda, int* pivots) {
  int info = 0;
  for (int64_t k = 0; k < std::min(m, n); k++) {
    scalar_t* column = a + k * lda;
    int64_t pivot = k; // the largest element: dividing by it makes no number grow
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
      column[i] /= column[k]; // how much of row k is in row i
    }
    for (int64_t j = k + 1; j < n; j++) { // take it out, to the right of the column
      for (int64_t i = k + 1; i < m; i++) {
        a[i + j * lda] -= column[i] * a[k + j * lda];
      }
    }
  }
  return info;
}

} // namespace reftorch::at::native
