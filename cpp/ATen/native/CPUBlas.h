// Mirrors: aten/src/ATen/native/CPUBlas.h
//
// Matrix products on raw memory. float and double go to the BLAS or to the tiles of cpu/BlasTiles.h; other dtypes go to
// the kernels of cpu/BlasKernel.cpp, which are also the ones to read. Matrices are row-major here (column-major in
// PyTorch): element (i, j) of C lies at c[i * ldc + j]. Left out: mkldnn, bfloat16 instructions, packed weights.
#pragma once

#include <ATen/Dispatch.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native::cpublas {

// Transpose: the memory holds the transposed matrix, so element (i, j) lies at a[j * lda + i].
enum class TransposeType { NoTranspose, Transpose };

// c (m, n) = alpha * a (m, k) @ b (k, n) + beta * c. If beta is 0, c is not read, so c may hold NaN. A large product
// runs on several threads. `c` must not overlap with a or b.
template <typename scalar_t>
TORCH_API void gemm(TransposeType transa, TransposeType transb, int64_t m, int64_t n, int64_t k,
                    opmath_type<scalar_t> alpha, const scalar_t* a, int64_t lda, const scalar_t* b, int64_t ldb,
                    opmath_type<scalar_t> beta, scalar_t* c, int64_t ldc);

// y (m) = alpha * a (m, n) @ x (n) + beta * y
template <typename scalar_t>
TORCH_API void gemv(TransposeType trans, int64_t m, int64_t n, opmath_type<scalar_t> alpha, const scalar_t* a,
                    int64_t lda, const scalar_t* x, int64_t incx, opmath_type<scalar_t> beta, scalar_t* y,
                    int64_t incy);

// sum of x[i] * y[i]
template <typename scalar_t>
TORCH_API scalar_t dot(int64_t n, const scalar_t* x, int64_t incx, const scalar_t* y, int64_t incy);

// Makes OpenBLAS run on the thread of the caller only. The threads are those of at::parallel_for, so that
// set_num_threads governs every op and no second pool competes for the cores. Call this function before any routine of
// OpenBLAS.
TORCH_API void one_blas_thread();

// The functions below are defined in cpu/BlasKernel.cpp.

// gemm on one thread, for any dtype of numbers.
void gemm_kernel(c10::ScalarType type, TransposeType transa, TransposeType transb, int64_t m, int64_t n, int64_t k,
                 const c10::Scalar& alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                 const c10::Scalar& beta, void* c, int64_t ldc);

// gemm on one thread by the tiles of cpu/BlasTiles.h, for float and double. Returns false, with nothing computed, where
// the BLAS is quicker.
template <typename scalar_t>
bool gemm_tiles_kernel(TransposeType transa, TransposeType transb, int64_t m, int64_t n, int64_t k, scalar_t alpha,
                       const scalar_t* a, int64_t lda, const scalar_t* b, int64_t ldb, scalar_t beta, scalar_t* c,
                       int64_t ldc);

// The dot product, one product after the other.
template <typename scalar_t>
scalar_t dot_naive(int64_t n, const scalar_t* x, int64_t incx, const scalar_t* y, int64_t incy);

// The dot product of 16-bit floats, summed in a wider type.
float reduced_dot_kernel(c10::ScalarType type, int64_t n, const void* x, int64_t incx, const void* y, int64_t incy);

} // namespace reftorch::at::native::cpublas
