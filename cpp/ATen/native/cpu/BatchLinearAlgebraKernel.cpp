// Mirrors: aten/src/ATen/native/BatchLinearAlgebraKernel.cpp
//
// Calls LAPACK once for each matrix of a batch. The arguments are explained in native/BatchLinearAlgebra.h. A routine
// that needs scratch memory returns the required length when it is called with a length of -1.
#include <ATen/native/BatchLinearAlgebra.h>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/cpu/Lapack.h>
#include <c10/util/LongWork.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace reftorch::at::native {
namespace {

// A batch of matrices, with the sizes that LAPACK needs to work on one of them.
template <typename scalar_t>
struct Matrices {
  explicit Matrices(const Tensor& t)
      : data(t.numel() == 0 ? nullptr : t.data_ptr<scalar_t>()),
        rows(static_cast<int>(t.size(-2))),
        cols(static_cast<int>(t.size(-1))),
        ld(std::max(rows, 1)),
        numel(t.size(-2) * t.size(-1)) {}
  scalar_t* operator[](int64_t i) const {
    return data + i * numel;
  }
  scalar_t* data;
  int rows, cols, ld;
  int64_t numel;
};

// One vector for each matrix of a batch.
template <typename scalar_t>
struct Vectors {
  explicit Vectors(const Tensor& t)
      : data(t.numel() == 0 ? nullptr : t.data_ptr<scalar_t>()), length(t.dim() == 0 ? 1 : t.size(-1)) {}
  scalar_t* operator[](int64_t i) const {
    return data + i * length;
  }
  scalar_t* data;
  int64_t length;
};

// f(i) for each matrix of a batch like A; on several threads where each of them has enough to do. `infos` may be null.
template <typename F>
void for_each_matrix(const Tensor& A, const F& f) {
  cpublas::one_blas_thread();
  const int64_t m = A.size(-2), n = A.size(-1);
  if (batchCount(A) * m * n * std::min(m, n) >= c10::LongWork::kFlops) {
    c10::LongWork::begin();
  }
  at::parallel_for(0, batchCount(A), at::grain_of(m * n * std::min(m, n)),
                   [&](int64_t begin, int64_t end) { f(begin, end); });
}

// --- LU --------------------------------------------------------------------------------------------------------------

// After a pivot that is NaN, every later number of the factors depends on it. OpenBLAS does not divide by such a pivot,
// so its factors would hold numbers there, and a solution would hide the NaN of its matrix. a is column-major.
template <typename scalar_t>
void spread_nan(int64_t rows, int64_t cols, scalar_t* a, int64_t ld) {
  int64_t k = 0;
  while (k < std::min(rows, cols) && !std::isnan(a[k + k * ld])) {
    k++;
  }
  for (int64_t j = k; j < cols && k < rows; j++) {
    std::fill(a + std::min(k + 1, rows) + j * ld, a + rows + j * ld, std::numeric_limits<scalar_t>::quiet_NaN());
  }
}

void lu_factor_kernel(const Tensor& LU, const Tensor& pivots, const Tensor& infos) {
  dispatch<FloatingTypes>(LU.scalar_type(), "lu_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(LU);
    const Vectors<int> ipiv(pivots);
    int* info = infos.data_ptr<int>();
    for_each_matrix(LU, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        lapack<scalar_t>::getrf(&a.rows, &a.cols, a[i], &a.ld, ipiv[i], &info[i]);
        spread_nan(a.rows, a.cols, a[i], a.ld);
      }
    });
  });
}

// LAPACK swaps the rows that the pivots name without a check.
void check_lu_solve_pivots(const Tensor& pivots, int64_t rows) {
  const int* pivot = pivots.numel() == 0 ? nullptr : pivots.data_ptr<int>();
  for (int64_t i = 0; i < pivots.numel(); i++) {
    TORCH_CHECK(pivot[i] >= 1,
                "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of "
                "lu_factor?");
    TORCH_CHECK(pivot[i] <= rows,
                "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you properly pass the "
                "result of lu_factor?");
  }
}

void lu_solve_kernel(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool transpose) {
  check_lu_solve_pivots(pivots, LU.size(-2));
  dispatch<FloatingTypes>(LU.scalar_type(), "linalg.lu_solve_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(LU), b(B);
    const Vectors<int> ipiv(pivots);
    const char trans = transpose ? 'T' : 'N';
    for_each_matrix(B, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        int info = 0;
        lapack<scalar_t>::getrs(&trans, &a.cols, &b.cols, a[i], &a.ld, ipiv[i], b[i], &b.ld, &info, 1);
      }
    });
  });
}

// --- LDL -------------------------------------------------------------------------------------------------------------

void ldl_factor_kernel(const Tensor& A, const Tensor& pivots, const Tensor& infos) {
  dispatch<FloatingTypes>(A.scalar_type(), "ldl_factor_kernel_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(A);
    const Vectors<int> ipiv(pivots);
    int* info = infos.data_ptr<int>();
    const char uplo = 'L';
    const int query = -1;
    scalar_t length = 0;
    int ignored = 0;
    lapack<scalar_t>::sytrf(&uplo, &a.cols, a[0], &a.ld, ipiv[0], &length, &query, &ignored, 1);
    const int lwork = static_cast<int>(length);
    for_each_matrix(A, [&](int64_t begin, int64_t end) {
      std::vector<scalar_t> work(static_cast<size_t>(lwork));
      for (int64_t i = begin; i < end; i++) {
        lapack<scalar_t>::sytrf(&uplo, &a.cols, a[i], &a.ld, ipiv[i], work.data(), &lwork, &info[i], 1);
      }
    });
  });
}

// Checks the pivots, because LAPACK uses them without a check: a 1-by-1 block has one positive pivot, a 2-by-2 block
// has two negative ones.
void check_ldl_pivots(const Tensor& pivots) {
  const int n = static_cast<int>(pivots.size(-1));
  const int* pivot = pivots.numel() == 0 ? nullptr : pivots.data_ptr<int>();
  for (const int* end = pivot + pivots.numel(); pivot < end; pivot += n) {
    for (int i = 0; i < n; i++) {
      TORCH_CHECK(pivot[i] != 0,
                  "Pivots given to ldl_solve must all satisfy |pivot| >= 1. Did you properly pass the result of "
                  "ldl_factor?");
      TORCH_CHECK(pivot[i] >= -n && pivot[i] <= n,
                  "Pivots given to ldl_solve must all satisfy |pivot| <= LD.size(-2). Did you properly pass the result "
                  "of ldl_factor?");
      const bool pair = pivot[i] < 0;
      const bool fits = !pair || (i + 1 < n && pivot[i + 1] < 0 && pivot[i + 1] >= -n);
      TORCH_CHECK(fits, "torch.linalg.ldl_solve: expected two negative pivots for each 2 by 2 block, but the one at ",
                  i, " of ", n, ", which is ", pivot[i], ", stands alone");
      i += pair ? 1 : 0;
    }
  }
}

void ldl_solve_kernel(const Tensor& LD, const Tensor& pivots, const Tensor& B) {
  check_ldl_pivots(pivots);
  dispatch<FloatingTypes>(LD.scalar_type(), "ldl_solve_kernel_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(LD), b(B);
    const Vectors<int> ipiv(pivots);
    const char uplo = 'L';
    for_each_matrix(B, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        int info = 0;
        lapack<scalar_t>::sytrs(&uplo, &a.cols, &b.cols, a[i], &a.ld, ipiv[i], b[i], &b.ld, &info, 1);
      }
    });
  });
}

// --- Cholesky and triangular systems ---------------------------------------------------------------------------------

void cholesky_kernel(const Tensor& A, const Tensor& infos, bool upper) {
  dispatch<FloatingTypes>(A.scalar_type(), "cholesky_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(A);
    int* info = infos.data_ptr<int>();
    const char uplo = upper ? 'U' : 'L';
    for_each_matrix(A, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        lapack<scalar_t>::potrf(&uplo, &a.cols, a[i], &a.ld, &info[i], 1);
      }
    });
  });
}

void cholesky_solve_kernel(const Tensor& B, const Tensor& L, bool upper) {
  dispatch<FloatingTypes>(L.scalar_type(), "cholesky_solve_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(L), b(B);
    const char uplo = upper ? 'U' : 'L';
    for_each_matrix(B, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        int info = 0;
        lapack<scalar_t>::potrs(&uplo, &a.cols, &b.cols, a[i], &a.ld, b[i], &b.ld, &info, 1);
      }
    });
  });
}

void triangular_solve_kernel(const Tensor& A, const Tensor& B, bool left, bool upper, bool transpose,
                             bool unitriangular) {
  dispatch<FloatingTypes>(A.scalar_type(), "triangular_solve_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(A), b(B);
    const char side = left ? 'L' : 'R', uplo = upper ? 'U' : 'L', trans = transpose ? 'T' : 'N';
    const char diag = unitriangular ? 'U' : 'N';
    const scalar_t one = 1;
    for_each_matrix(B, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        lapack<scalar_t>::trsm(&side, &uplo, &trans, &diag, &b.rows, &b.cols, &one, a[i], &a.ld, b[i], &b.ld, 1, 1, 1,
                               1);
      }
    });
  });
}

// --- QR --------------------------------------------------------------------------------------------------------------

void geqrf_kernel(const Tensor& A, const Tensor& tau) {
  dispatch<FloatingTypes>(A.scalar_type(), "geqrf_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(A);
    const Vectors<scalar_t> t(tau);
    int info = 0, query = -1;
    scalar_t needed = 0;
    lapack<scalar_t>::geqrf(&a.rows, &a.cols, a.data, &a.ld, t.data, &needed, &query, &info);
    for_each_matrix(A, [&](int64_t begin, int64_t end) {
      const int lwork = std::max(static_cast<int>(needed), 1);
      std::vector<scalar_t> work(static_cast<size_t>(lwork));
      int ignored = 0;
      for (int64_t i = begin; i < end; i++) {
        lapack<scalar_t>::geqrf(&a.rows, &a.cols, a[i], &a.ld, t[i], work.data(), &lwork, &ignored);
      }
    });
  });
}

void orgqr_kernel(const Tensor& A, const Tensor& tau) {
  dispatch<FloatingTypes>(A.scalar_type(), "orgqr_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(A);
    const Vectors<scalar_t> t(tau);
    const int k = static_cast<int>(t.length);
    int info = 0, query = -1;
    scalar_t needed = 0;
    lapack<scalar_t>::orgqr(&a.rows, &a.cols, &k, a.data, &a.ld, t.data, &needed, &query, &info);
    for_each_matrix(A, [&](int64_t begin, int64_t end) {
      const int lwork = std::max(static_cast<int>(needed), 1);
      std::vector<scalar_t> work(static_cast<size_t>(lwork));
      int ignored = 0;
      for (int64_t i = begin; i < end; i++) {
        lapack<scalar_t>::orgqr(&a.rows, &a.cols, &k, a[i], &a.ld, t[i], work.data(), &lwork, &ignored);
      }
    });
  });
}

// --- singular values and eigenvalues ---------------------------------------------------------------------------------

// Whether all elements are finite. LAPACK's search for singular values may never end for a matrix with an infinity or a
// NaN, so it is not started for such a matrix.
template <typename scalar_t>
bool all_finite(const scalar_t* values, int64_t n) {
  return std::all_of(values, values + n, [](scalar_t value) { return std::isfinite(value); });
}

template <typename scalar_t>
bool any_nan(const scalar_t* values, int64_t n) {
  return std::any_of(values, values + n, [](scalar_t value) { return std::isnan(value); });
}

template <typename scalar_t>
void fill_nan(scalar_t* values, int64_t n) {
  std::fill(values, values + n, std::numeric_limits<scalar_t>::quiet_NaN());
}

void svd_kernel(const Tensor& A, const Tensor& U, const Tensor& S, const Tensor& Vh, const Tensor& infos,
                bool full_matrices, bool compute_uv) {
  dispatch<FloatingTypes>(A.scalar_type(), "linalg_svd_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(A), u(compute_uv ? U : A), vt(compute_uv ? Vh : A); // not used without compute_uv
    const Vectors<scalar_t> s(S);
    int* info = infos.data_ptr<int>();
    const char jobz = !compute_uv ? 'N' : full_matrices ? 'A' : 'S';
    auto call = [&](int64_t i, scalar_t* work, int lwork, int* iwork, int* result) {
      lapack<scalar_t>::gesdd(&jobz, &a.rows, &a.cols, a[i], &a.ld, s[i], u[i], &u.ld, vt[i], &vt.ld, work, &lwork,
                              iwork, result, 1);
    };
    scalar_t needed = 0;
    int ignored = 0;
    call(0, &needed, -1, &ignored, &ignored);
    for_each_matrix(A, [&](int64_t begin, int64_t end) {
      // LAPACK returns the length as a float, which may have been rounded down.
      const int lwork = static_cast<int>(static_cast<double>(needed) * 1.0001) + 1;
      std::vector<scalar_t> work(static_cast<size_t>(lwork));
      std::vector<int> iwork(static_cast<size_t>(8 * std::min(a.rows, a.cols)));
      for (int64_t i = begin; i < end; i++) {
        if (all_finite(a[i], a.numel)) {
          call(i, work.data(), lwork, iwork.data(), &info[i]);
          continue;
        }
        info[i] = any_nan(a[i], a.numel) ? -4 : 0; // gesdd returns -4 if its fourth argument has a NaN
        fill_nan(s[i], s.length);
        if (compute_uv) {
          fill_nan(u[i], u.numel);
          fill_nan(vt[i], vt.numel);
        }
      }
    });
  });
}

void eigh_kernel(const Tensor& A, const Tensor& eigenvalues, const Tensor& infos, bool upper, bool compute_v) {
  dispatch<FloatingTypes>(A.scalar_type(), "linalg_eigh_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(A);
    const Vectors<scalar_t> w(eigenvalues);
    int* info = infos.data_ptr<int>();
    const char jobz = compute_v ? 'V' : 'N', uplo = upper ? 'U' : 'L';
    auto call = [&](int64_t i, scalar_t* work, int lwork, int* iwork, int liwork, int* result) {
      lapack<scalar_t>::syevd(&jobz, &uplo, &a.cols, a[i], &a.ld, w[i], work, &lwork, iwork, &liwork, result, 1, 1);
    };
    scalar_t needed = 0;
    int ignored = 0, liwork = 0;
    call(0, &needed, -1, &liwork, -1, &ignored);
    for_each_matrix(A, [&](int64_t begin, int64_t end) {
      const int lwork = static_cast<int>(static_cast<double>(needed) * 1.0001) + 1;
      std::vector<scalar_t> work(static_cast<size_t>(lwork));
      std::vector<int> iwork(static_cast<size_t>(std::max(liwork, 1)));
      for (int64_t i = begin; i < end; i++) {
        call(i, work.data(), lwork, iwork.data(), std::max(liwork, 1), &info[i]);
      }
    });
  });
}

// --- least squares ---------------------------------------------------------------------------------------------------

void lstsq_kernel(const Tensor& A, const Tensor& B, const Tensor& rank, const Tensor& singular_values,
                  const Tensor& infos, double rcond, const std::string& driver) {
  dispatch<FloatingTypes>(A.scalar_type(), "torch.linalg.lstsq_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Matrices<scalar_t> a(A), b(B);
    const bool finds_rank = driver != "gels", finds_values = driver == "gelsd" || driver == "gelss";
    const Vectors<scalar_t> s(singular_values);
    int64_t* ranks = finds_rank ? rank.data_ptr<int64_t>() : nullptr;
    int* info = infos.data_ptr<int>();
    const scalar_t cutoff = static_cast<scalar_t>(rcond);
    using L = lapack<scalar_t>;
    auto call = [&](int64_t i, scalar_t* work, int lwork, int* iwork, int* result) {
      const char trans = 'N';
      int found = 0;
      scalar_t* values = finds_values ? s[i] : nullptr;
      if (driver == "gels") {
        L::gels(&trans, &a.rows, &a.cols, &b.cols, a[i], &a.ld, b[i], &b.ld, work, &lwork, result, 1);
      } else if (driver == "gelsy") {
        L::gelsy(&a.rows, &a.cols, &b.cols, a[i], &a.ld, b[i], &b.ld, iwork, &cutoff, &found, work, &lwork, result);
      } else if (driver == "gelsd") {
        L::gelsd(&a.rows, &a.cols, &b.cols, a[i], &a.ld, b[i], &b.ld, values, &cutoff, &found, work, &lwork, iwork,
                 result);
      } else {
        L::gelss(&a.rows, &a.cols, &b.cols, a[i], &a.ld, b[i], &b.ld, values, &cutoff, &found, work, &lwork, result);
      }
      if (finds_rank && lwork != -1) {
        ranks[i] = found;
      }
    };
    scalar_t needed = 0;
    int ignored = 0;
    std::vector<int> iwork_needed(static_cast<size_t>(std::max(a.cols, 1)));
    call(0, &needed, -1, iwork_needed.data(), &ignored);
    // gelsy stores a permutation of the columns in iwork; gelsd returns the length that it needs.
    const int liwork = std::max({a.cols, driver == "gelsd" ? iwork_needed[0] : 0, 1});
    for_each_matrix(A, [&](int64_t begin, int64_t end) {
      const int lwork = static_cast<int>(static_cast<double>(needed) * 1.0001) + 1;
      std::vector<scalar_t> work(static_cast<size_t>(lwork));
      std::vector<int> iwork(static_cast<size_t>(liwork));
      for (int64_t i = begin; i < end; i++) {
        if (finds_values && !all_finite(a[i], a.numel)) {
          ranks[i] = 0;
          fill_nan(s[i], s.length);
          fill_nan(b[i], b.numel);
          continue;
        }
        std::fill(iwork.begin(), iwork.end(), 0); // 0 means: the column may be moved
        call(i, work.data(), lwork, iwork.data(), &info[i]);
      }
    });
  });
}

// --- what the factors of LU say

void permutation_matrix_kernel(const Tensor& P, const Tensor& pivots) {
  const int64_t m = P.size(-1), k = pivots.size(-1);
  const int* swap = k == 0 ? nullptr : pivots.data_ptr<int>();
  dispatch<AllTypesAndBool>(P.scalar_type(), "lu_unpack", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scalar_t* matrix = P.data_ptr<scalar_t>();
    std::vector<int64_t> row(static_cast<size_t>(m));
    for (int64_t b = 0; b < P.numel() / (m * m); b++, matrix += m * m) {
      for (int64_t i = 0; i < m; i++) {
        row[i] = i;
      }
      for (int64_t i = 0; i < k; i++) {
        const int64_t other = int64_t(swap[b * k + i]) - 1;
        TORCH_CHECK(0 <= other && other < m,
                    "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Did you properly pass the "
                    "result of lu_factor?");
        std::swap(row[i], row[other]);
      }
      for (int64_t i = 0; i < m; i++) {
        matrix[row[i] * m + i] = static_cast<scalar_t>(1);
      }
    }
  });
}

void det_kernel(const Tensor& LU, const Tensor& pivots, const Tensor& sign_out, const Tensor& log_abs_out,
                const Tensor& value_out) {
  const int64_t n = LU.size(-1);
  dispatch<FloatingTypes>(LU.scalar_type(), "linalg_det", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* factors = LU.data_ptr<scalar_t>();
    const int* swaps = pivots.data_ptr<int>();
    for (int64_t b = 0; b < value_out.numel(); b++) {
      scalar_t sign = 1, log_abs = 0, value = 1;
      for (int64_t i = 0; i < n; i++) {
        const scalar_t u = factors[b * n * n + i * (n + 1)];
        const scalar_t swapped = swaps[b * n + i] == i + 1 ? 1 : -1;
        value *= swapped * u;
        sign *= swapped * scalar_t((u > 0) - (u < 0));
        log_abs += std::log(std::abs(u));
      }
      sign_out.data_ptr<scalar_t>()[b] = std::isnan(value) ? value : sign;
      log_abs_out.data_ptr<scalar_t>()[b] = log_abs;
      value_out.data_ptr<scalar_t>()[b] = value;
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(permutation_matrix_stub, permutation_matrix_kernel)
REGISTER_CPU_DISPATCH(det_stub, det_kernel)
REGISTER_CPU_DISPATCH(lu_factor_stub, lu_factor_kernel)
REGISTER_CPU_DISPATCH(ldl_factor_stub, ldl_factor_kernel)
REGISTER_CPU_DISPATCH(ldl_solve_stub, ldl_solve_kernel)
REGISTER_CPU_DISPATCH(lu_solve_stub, lu_solve_kernel)
REGISTER_CPU_DISPATCH(cholesky_stub, cholesky_kernel)
REGISTER_CPU_DISPATCH(cholesky_solve_stub, cholesky_solve_kernel)
REGISTER_CPU_DISPATCH(triangular_solve_stub, triangular_solve_kernel)
REGISTER_CPU_DISPATCH(geqrf_stub, geqrf_kernel)
REGISTER_CPU_DISPATCH(orgqr_stub, orgqr_kernel)
REGISTER_CPU_DISPATCH(svd_stub, svd_kernel)
REGISTER_CPU_DISPATCH(eigh_stub, eigh_kernel)
REGISTER_CPU_DISPATCH(lstsq_stub, lstsq_kernel)

} // namespace reftorch::at::native
