// Mirrors: aten/src/ATen/native/BatchLinearAlgebra.h
//
// The stubs between the ops of torch.linalg and LAPACK. Every matrix argument is a batch (*batch, rows, cols); each
// matrix is column-major, and the matrices lie one after another (see empty_column_major). `infos` (*batch), int32, is
// 0 for each matrix whose computation succeeded. Left out: eig, Householder products with a matrix.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

#include <string>

namespace reftorch::at::native {

// Overwrites LU with its factors. pivots (*batch, min(rows, cols)): row i was swapped with row pivots[i], counted from
// 1.
using lu_factor_fn = void (*)(const Tensor& LU, const Tensor& pivots, const Tensor& infos);
DECLARE_DISPATCH(lu_factor_fn, lu_factor_stub)
// P (*batch, m, m) is contiguous and zero at first. It becomes the permutation matrix whose column i has its 1 in the
// row that the swaps moved to position i. pivots is contiguous. Raises RuntimeError for a pivot that is not in 1 to m.
using permutation_matrix_fn = void (*)(const Tensor& P, const Tensor& pivots);
DECLARE_DISPATCH(permutation_matrix_fn, permutation_matrix_stub)
// Computes the determinant of each matrix A = P L U (value), its sign, and the logarithm of its absolute value
// (*batch).
using det_fn = void (*)(const Tensor& LU, const Tensor& pivots, const Tensor& sign, const Tensor& log_abs,
                        const Tensor& value);
DECLARE_DISPATCH(det_fn, det_stub)
// Overwrites B with X, where A X = B, or A^T X = B if `transpose`.
using lu_solve_fn = void (*)(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool transpose);
DECLARE_DISPATCH(lu_solve_fn, lu_solve_stub)

// Overwrites A with the factors of A = L D L^T: L below the diagonal, D on the diagonal. Only the lower triangle of A
// is read. pivots (*batch, n).
using ldl_factor_fn = void (*)(const Tensor& A, const Tensor& pivots, const Tensor& infos);
DECLARE_DISPATCH(ldl_factor_fn, ldl_factor_stub)
// Overwrites B with X, where A X = B. Raises RuntimeError for pivots that no factorization produces.
using ldl_solve_fn = void (*)(const Tensor& LD, const Tensor& pivots, const Tensor& B);
DECLARE_DISPATCH(ldl_solve_fn, ldl_solve_stub)

// Overwrites one triangle of A with the Cholesky factor; the other triangle is left unchanged.
using cholesky_fn = void (*)(const Tensor& A, const Tensor& infos, bool upper);
DECLARE_DISPATCH(cholesky_fn, cholesky_stub)
// Overwrites B with X, where A X = B and L is the Cholesky factor of A.
using cholesky_solve_fn = void (*)(const Tensor& B, const Tensor& L, bool upper);
DECLARE_DISPATCH(cholesky_solve_fn, cholesky_solve_stub)

// Overwrites B with X, where A X = B, or X A = B if not `left`.
using triangular_solve_fn = void (*)(const Tensor& A, const Tensor& B, bool left, bool upper, bool transpose,
                                     bool unitriangular);
DECLARE_DISPATCH(triangular_solve_fn, triangular_solve_stub)

// Overwrites A with R in its upper triangle and, below the diagonal, the reflectors whose product is Q. tau is (*batch,
// min(rows, cols)).
using geqrf_fn = void (*)(const Tensor& A, const Tensor& tau);
DECLARE_DISPATCH(geqrf_fn, geqrf_stub)
// Overwrites the reflectors in A with the first columns of Q.
using orgqr_fn = void (*)(const Tensor& A, const Tensor& tau);
DECLARE_DISPATCH(orgqr_fn, orgqr_stub)

// Overwrites A with undefined values. U and Vh are written only if compute_uv; their shapes say how many vectors to
// compute.
using svd_fn = void (*)(const Tensor& A, const Tensor& U, const Tensor& S, const Tensor& Vh, const Tensor& infos,
                        bool full_matrices, bool compute_uv);
DECLARE_DISPATCH(svd_fn, svd_stub)

// Overwrites A with its eigenvectors if compute_v, else with undefined values. Only one triangle of A is read.
using eigh_fn = void (*)(const Tensor& A, const Tensor& eigenvalues, const Tensor& infos, bool upper, bool compute_v);
DECLARE_DISPATCH(eigh_fn, eigh_stub)

// B is (max(rows, cols), k); its first rows become the solution. rank (*batch), int64, and singular_values are written
// by the drivers that compute them. A is overwritten with undefined values.
using lstsq_fn = void (*)(const Tensor& A, const Tensor& B, const Tensor& rank, const Tensor& singular_values,
                          const Tensor& infos, double rcond, const std::string& driver);
DECLARE_DISPATCH(lstsq_fn, lstsq_stub)

} // namespace reftorch::at::native
