// Mirrors: aten/src/ATen/native/BatchLinearAlgebra.h
// The seam between the ops of torch.linalg and LAPACK. Every matrix here is a batch (*batch, rows, cols) of one shape
// whose matrices lie column by column, one after another (see empty_column_major); `infos` (*batch), int32, is 0 where
// all went well. Left out: eig, Householder products with a matrix.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

#include <string>

namespace reftorch::at::native {

// LU becomes the factors of itself; pivots (*batch, min(rows, cols)): row i was swapped with row pivots[i], from 1 on.
using lu_factor_fn = void (*)(const Tensor& LU, const Tensor& pivots, const Tensor& infos);
DECLARE_DISPATCH(lu_factor_fn, lu_factor_stub)
// P (*batch, m, m), contiguous and zero, becomes the matrix whose column i has its 1 in the row that the swaps brought
// to place i. RuntimeError for a pivot that is not in 1 to m. pivots is contiguous.
using permutation_matrix_fn = void (*)(const Tensor& P, const Tensor& pivots);
DECLARE_DISPATCH(permutation_matrix_fn, permutation_matrix_stub)
// The determinant of each matrix A = P L U (value), its sign, and the logarithm of its absolute value (*batch).
using det_fn = void (*)(const Tensor& LU, const Tensor& pivots, const Tensor& sign, const Tensor& log_abs,
                        const Tensor& value);
DECLARE_DISPATCH(det_fn, det_stub)
// B becomes X with A X = B, or transpose(A) X = B.
using lu_solve_fn = void (*)(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool transpose);
DECLARE_DISPATCH(lu_solve_fn, lu_solve_stub)

// A becomes L below and D on the diagonal of A = L D L^T, its lower triangle being read; pivots (*batch, n).
using ldl_factor_fn = void (*)(const Tensor& A, const Tensor& pivots, const Tensor& infos);
DECLARE_DISPATCH(ldl_factor_fn, ldl_factor_stub)
// B becomes X with A X = B. RuntimeError for pivots that no factorization gives.
using ldl_solve_fn = void (*)(const Tensor& LD, const Tensor& pivots, const Tensor& B);
DECLARE_DISPATCH(ldl_solve_fn, ldl_solve_stub)

// A becomes its Cholesky factor; the other triangle keeps what it had.
using cholesky_fn = void (*)(const Tensor& A, const Tensor& infos, bool upper);
DECLARE_DISPATCH(cholesky_fn, cholesky_stub)
// B becomes X with A X = B, where L is the factor of A.
using cholesky_solve_fn = void (*)(const Tensor& B, const Tensor& L, bool upper);
DECLARE_DISPATCH(cholesky_solve_fn, cholesky_solve_stub)

// B becomes X with A X = B, or X A = B.
using triangular_solve_fn = void (*)(const Tensor& A, const Tensor& B, bool left, bool upper, bool transpose,
                                     bool unitriangular);
DECLARE_DISPATCH(triangular_solve_fn, triangular_solve_stub)

// A becomes R in its upper triangle, and below it the reflectors whose product is Q; tau (*batch, min(rows, cols)).
using geqrf_fn = void (*)(const Tensor& A, const Tensor& tau);
DECLARE_DISPATCH(geqrf_fn, geqrf_stub)
// The reflectors in A become the first columns of Q.
using orgqr_fn = void (*)(const Tensor& A, const Tensor& tau);
DECLARE_DISPATCH(orgqr_fn, orgqr_stub)

// A is lost. U and Vh are written only if compute_uv, in the shapes they have.
using svd_fn = void (*)(const Tensor& A, const Tensor& U, const Tensor& S, const Tensor& Vh, const Tensor& infos,
                        bool full_matrices, bool compute_uv);
DECLARE_DISPATCH(svd_fn, svd_stub)

// A becomes its eigenvectors if compute_v, else it is lost; one triangle is read.
using eigh_fn = void (*)(const Tensor& A, const Tensor& eigenvalues, const Tensor& infos, bool upper, bool compute_v);
DECLARE_DISPATCH(eigh_fn, eigh_stub)

// B (max(rows, cols), k) becomes the solution in its first rows. rank (*batch), int64, and singular_values are written
// by the drivers that find them. A is lost.
using lstsq_fn = void (*)(const Tensor& A, const Tensor& B, const Tensor& rank, const Tensor& singular_values,
                          const Tensor& infos, double rcond, const std::string& driver);
DECLARE_DISPATCH(lstsq_fn, lstsq_stub)

} // namespace reftorch::at::native
