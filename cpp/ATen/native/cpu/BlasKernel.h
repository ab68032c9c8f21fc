// Mirrors: aten/src/ATen/native/cpu/BlasKernel.cpp
// The matrix product to read, in two rungs. Arguments as in native/CPUBlas.h: c (m, n) = alpha * a (m, k) @ b (k, n) +
// beta * c.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/cpu/Loops.h>

#include <algorithm>
#include <vector>

namespace reftorch::at::native::cpublas {

// c, as it enters the result; not read when beta is 0, since NaN * 0 is NaN.
template <typename scalar_t, typename acc_t>
inline acc_t scaled(acc_t beta, const scalar_t* c) {
  return beta == acc_t(0) ? acc_t(0) : beta * acc_t(*c);
}

// First rung: the definition. Each element of c is a dot product of a row of a and a column of b.
template <typename scalar_t, typename acc_t = opmath_type<scalar_t>>
void gemm_naive(bool transa, bool transb, int64_t m, int64_t n, int64_t k, acc_t alpha, const scalar_t* a, int64_t lda,
                const scalar_t* b, int64_t ldb, acc_t beta, scalar_t* c, int64_t ldc) {
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      acc_t sum = 0;
      for (int64_t l = 0; l < k; l++) {
        const scalar_t a_il = transa ? a[l * lda + i] : a[i * lda + l];
        const scalar_t b_lj = transb ? b[j * ldb + l] : b[l * ldb + j];
        sum += acc_t(a_il) * acc_t(b_lj);
      }
      c[i * ldc + j] = static_cast<scalar_t>(alpha * sum + scaled(beta, &c[i * ldc + j]));
    }
  }
}

// row += a * b, both of length n
template <typename scalar_t, typename acc_t>
TARGET_CLONES static void axpy(acc_t* row, acc_t a, const scalar_t* b, int64_t n) {
  for (int64_t j = 0; j < n; j++) {
    row[j] += a * acc_t(b[j]);
  }
}

// Second rung: the same sums in another order. The inner loop now walks along rows of b and of the result, so that it
// reads memory in order and the compiler makes vector instructions of it.
template <typename scalar_t, typename acc_t = opmath_type<scalar_t>>
void gemm_ikj(bool transa, bool transb, int64_t m, int64_t n, int64_t k, acc_t alpha, const scalar_t* a, int64_t lda,
              const scalar_t* b, int64_t ldb, acc_t beta, scalar_t* c, int64_t ldc) {
  std::vector<scalar_t> b_rows; // b (k, n), if it lies transposed in memory
  if (transb) {
    b_rows.resize(k * n);
    for (int64_t l = 0; l < k; l++) {
      for (int64_t j = 0; j < n; j++) {
        b_rows[l * n + j] = b[j * ldb + l];
      }
    }
    b = b_rows.data();
    ldb = n;
  }
  std::vector<acc_t> row(n);
  for (int64_t i = 0; i < m; i++) {
    std::fill(row.begin(), row.end(), acc_t(0));
    for (int64_t l = 0; l < k; l++) {
      axpy(row.data(), acc_t(transa ? a[l * lda + i] : a[i * lda + l]), b + l * ldb, n);
    }
    for (int64_t j = 0; j < n; j++) {
      c[i * ldc + j] = static_cast<scalar_t>(alpha * row[j] + scaled(beta, &c[i * ldc + j]));
    }
  }
}

} // namespace reftorch::at::native::cpublas
