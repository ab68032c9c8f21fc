// Mirrors: aten/src/ATen/native/cpu/BlasKernel.cpp
//
// The matrix product, written to be read: two rungs of the same sums, and a third rung for the 16-bit floats. The
// arguments are those of native/CPUBlas.h: c (m, n) = alpha * a (m, k) @ b (k, n) + beta * c.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/Scratch.h>

#include <algorithm>
#include <vector>

namespace reftorch::at::native::cpublas {

// The share of the old c in the result. The old c is not read when beta is 0, because NaN * 0 is NaN.
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

// row += a * b, where row and b have length n.
template <typename scalar_t, typename acc_t>
TARGET_CLONES static void axpy(acc_t* row, acc_t a, const scalar_t* b, int64_t n) {
  for (int64_t j = 0; j < n; j++) {
    row[j] += a * acc_t(b[j]);
  }
}

// Second rung: the same sums in another order. The inner loop walks along a row of b and a row of the result, so it
// reads memory in order, and the compiler turns it into vector instructions.
template <typename scalar_t, typename acc_t = opmath_type<scalar_t>>
void gemm_ikj(bool transa, bool transb, int64_t m, int64_t n, int64_t k, acc_t alpha, const scalar_t* a, int64_t lda,
              const scalar_t* b, int64_t ldb, acc_t beta, scalar_t* c, int64_t ldc) {
  std::vector<scalar_t> b_rows; // a copy of b (k, n), used where b lies transposed in memory
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

// Copies a matrix of shape (rows, columns), whose rows lie `ld` elements apart, into a dense matrix of floats.
template <typename scalar_t>
void to_floats(const scalar_t* matrix, int64_t ld, int64_t rows, int64_t columns, float* floats) {
  if (ld == columns) {
    return convert(matrix, floats, rows * columns);
  }
  for (int64_t i = 0; i < rows; i++) {
    convert(matrix + i * ld, floats + i * columns, columns);
  }
}

// Third rung, for the 16-bit floats: the BLAS multiplies copies in float. The matrix a may be large while b is a
// vector, so only as many rows of a are copied at once as stay in the cache.
template <typename scalar_t>
void gemm_in_float(bool transa, bool transb, int64_t m, int64_t n, int64_t k, float alpha, const scalar_t* a,
                   int64_t lda, const scalar_t* b, int64_t ldb, float beta, scalar_t* c, int64_t ldc) {
  constexpr int64_t kCopied = 1 << 16, kFewest = 16;
  const int64_t panel = std::min(m, std::max(kCopied / std::max<int64_t>(k, 1), kFewest));
  Scratch<float> a_floats(panel * k), b_floats(k * n), products(panel * n);
  const int64_t ldb_floats = transb ? k : n;
  to_floats(b, ldb, transb ? n : k, ldb_floats, b_floats.begin());
  const auto ta = transa ? TransposeType::Transpose : TransposeType::NoTranspose;
  const auto tb = transb ? TransposeType::Transpose : TransposeType::NoTranspose;
  for (int64_t begin = 0; begin < m; begin += panel) {
    const int64_t rows = std::min(panel, m - begin), lda_floats = transa ? rows : k;
    to_floats(transa ? a + begin : a + begin * lda, lda, transa ? k : rows, lda_floats, a_floats.begin());
    if (n == 1) {
      gemv<float>(ta, rows, k, alpha, a_floats.begin(), lda_floats, b_floats.begin(), 1, 0, products.begin(), 1);
    } else {
      gemm<float>(ta, tb, rows, n, k, alpha, a_floats.begin(), lda_floats, b_floats.begin(), ldb_floats, 0,
                  products.begin(), n);
    }
    for (int64_t i = 0; i < rows; i++) {
      scalar_t* out = c + (begin + i) * ldc;
      float* product = &products[i * n];
      for (int64_t j = 0; beta != 0 && j < n; j++) {
        product[j] += beta * float(out[j]);
      }
      convert(product, out, n);
    }
  }
}

} // namespace reftorch::at::native::cpublas
