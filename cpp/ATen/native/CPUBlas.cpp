// Mirrors: aten/src/ATen/native/CPUBlas.cpp
#include <ATen/native/CPUBlas.h>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <c10/util/LongWork.h>

#include <cblas.h>

#include <algorithm>
#include <limits>

// The OpenBLAS of the wheel has a prefix before every name; the build defines the prefix.
#define BLAS_CONCAT_(a, b) a##b
#define BLAS_CONCAT(a, b) BLAS_CONCAT_(a, b)
#define BLAS(name) BLAS_CONCAT(BLAS_SYMBOL_PREFIX, name)

namespace reftorch::at::native::cpublas {

void one_blas_thread() {
  static const bool done = (BLAS(openblas_set_num_threads)(1), true);
  (void)done;
}

namespace {

bool is_transposed(TransposeType t) {
  return t == TransposeType::Transpose;
}

CBLAS_TRANSPOSE to_blas(TransposeType t) {
  return is_transposed(t) ? CblasTrans : CblasNoTrans;
}

// Whether all sizes fit into the 32-bit integers of the BLAS.
template <typename... Ints>
bool fits_blas(Ints... values) {
  return ((values <= std::numeric_limits<blasint>::max()) && ...);
}

void blas_gemm(TransposeType ta, TransposeType tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
               int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  BLAS(cblas_sgemm)(CblasRowMajor, to_blas(ta), to_blas(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void blas_gemm(TransposeType ta, TransposeType tb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
               int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  BLAS(cblas_dgemm)(CblasRowMajor, to_blas(ta), to_blas(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void blas_gemv(TransposeType t, int64_t rows, int64_t cols, float alpha, const float* a, int64_t lda, const float* x,
               int64_t incx, float beta, float* y, int64_t incy) {
  BLAS(cblas_sgemv)(CblasRowMajor, to_blas(t), rows, cols, alpha, a, lda, x, incx, beta, y, incy);
}
void blas_gemv(TransposeType t, int64_t rows, int64_t cols, double alpha, const double* a, int64_t lda, const double* x,
               int64_t incx, double beta, double* y, int64_t incy) {
  BLAS(cblas_dgemv)(CblasRowMajor, to_blas(t), rows, cols, alpha, a, lda, x, incx, beta, y, incy);
}
float blas_dot(int64_t n, const float* x, int64_t incx, const float* y, int64_t incy) {
  return BLAS(cblas_sdot)(n, x, incx, y, incy);
}
double blas_dot(int64_t n, const double* x, int64_t incx, const double* y, int64_t incy) {
  return BLAS(cblas_ddot)(n, x, incx, y, incy);
}

template <typename scalar_t>
constexpr bool has_blas = std::is_same_v<scalar_t, float> || std::is_same_v<scalar_t, double>;

// Computes the share of one thread.
template <typename scalar_t, typename acc_t>
void gemm_serial(TransposeType ta, TransposeType tb, int64_t m, int64_t n, int64_t k, acc_t alpha, const scalar_t* a,
                 int64_t lda, const scalar_t* b, int64_t ldb, acc_t beta, scalar_t* c, int64_t ldc) {
  if constexpr (has_blas<scalar_t>) {
    if (fits_blas(m, n, k, lda, ldb, ldc)) {
      one_blas_thread();
      if (m * n >= c10::LongWork::kFlops / std::max<int64_t>(k, 1)) {
        c10::LongWork::begin();
      }
      if (!gemm_tiles_kernel(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)) {
        blas_gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
      }
      return;
    }
  }
  gemm_kernel(c10::CppTypeToScalarType<scalar_t>::value, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// The number of multiply-adds that is worth the cost of waking another thread.
constexpr int64_t kParallelWork = int64_t(1) << 20;

} // namespace

template <typename scalar_t>
void gemm(TransposeType transa, TransposeType transb, int64_t m, int64_t n, int64_t k, opmath_type<scalar_t> alpha,
          const scalar_t* a, int64_t lda, const scalar_t* b, int64_t ldb, opmath_type<scalar_t> beta, scalar_t* c,
          int64_t ldc) {
  if (m == 0 || n == 0) {
    return;
  }
  const int64_t work = m * n * std::max<int64_t>(k, 1);
  if (work < 2 * kParallelWork || get_num_threads() == 1) {
    gemm_serial(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else if (m >= n) { // each thread computes a share of the rows
    parallel_for(0, m, std::max<int64_t>(kParallelWork * m / work, 1), [&](int64_t lo, int64_t hi) {
      gemm_serial(transa, transb, hi - lo, n, k, alpha, a + (is_transposed(transa) ? lo : lo * lda), lda, b, ldb, beta,
                  c + lo * ldc, ldc);
    });
  } else { // each thread computes a share of the columns
    parallel_for(0, n, std::max<int64_t>(kParallelWork * n / work, 1), [&](int64_t lo, int64_t hi) {
      gemm_serial(transa, transb, m, hi - lo, k, alpha, a, lda, b + (is_transposed(transb) ? lo * ldb : lo), ldb, beta,
                  c + lo, ldc);
    });
  }
}

template <typename scalar_t>
void gemv(TransposeType trans, int64_t m, int64_t n, opmath_type<scalar_t> alpha, const scalar_t* a, int64_t lda,
          const scalar_t* x, int64_t incx, opmath_type<scalar_t> beta, scalar_t* y, int64_t incy) {
  if constexpr (has_blas<scalar_t>) {
    if (m > 0 && n > 0 && incx > 0 && fits_blas(m, n, lda, incx, incy)) {
      one_blas_thread();
      const bool t = is_transposed(trans); // the BLAS expects the shape as stored in memory
      blas_gemv(trans, t ? n : m, t ? m : n, alpha, a, lda, x, incx, beta, y, incy);
      return;
    }
  }
  gemm_kernel(c10::CppTypeToScalarType<scalar_t>::value, trans, TransposeType::NoTranspose, m, 1, n, alpha, a, lda, x,
              incx, beta, y, incy);
}

template <typename scalar_t>
scalar_t dot(int64_t n, const scalar_t* x, int64_t incx, const scalar_t* y, int64_t incy) {
  if constexpr (has_blas<scalar_t>) {
    if (fits_blas(n, incx, incy)) {
      one_blas_thread();
      return blas_dot(n, x, incx, y, incy);
    }
  }
  if constexpr (!std::is_same_v<scalar_t, opmath_type<scalar_t>>) {
    return reduced_dot_kernel(c10::CppTypeToScalarType<scalar_t>::value, n, x, incx, y, incy);
  }
  return dot_naive(n, x, incx, y, incy);
}

#define INSTANTIATE(scalar_t)                                                                                         \
  template void gemm(TransposeType, TransposeType, int64_t, int64_t, int64_t, opmath_type<scalar_t>, const scalar_t*, \
                     int64_t, const scalar_t*, int64_t, opmath_type<scalar_t>, scalar_t*, int64_t);                   \
  template void gemv(TransposeType, int64_t, int64_t, opmath_type<scalar_t>, const scalar_t*, int64_t,                \
                     const scalar_t*, int64_t, opmath_type<scalar_t>, scalar_t*, int64_t);                            \
  template scalar_t dot(int64_t, const scalar_t*, int64_t, const scalar_t*, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(c10::Half)
INSTANTIATE(c10::BFloat16)
INSTANTIATE(uint8_t)
INSTANTIATE(int8_t)
INSTANTIATE(int16_t)
INSTANTIATE(int32_t)
INSTANTIATE(int64_t)
#undef INSTANTIATE

} // namespace reftorch::at::native::cpublas
