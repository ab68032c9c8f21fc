// Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp
//
// Cholesky, QR, singular values, eigenvalues of symmetric matrices, triangular systems, least squares. Ops based on LU
// are in BatchLinearAlgebra.cpp, LDL is in LDLFactors.cpp. Left out: eig (its eigenvalues are complex numbers).
#include <ATen/native/BatchLinearAlgebra.h>
#include <ATen/native/Fill.h>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>

namespace reftorch::at::native {

DEFINE_DISPATCH(cholesky_stub)
DEFINE_DISPATCH(cholesky_solve_stub)
DEFINE_DISPATCH(triangular_solve_stub)
DEFINE_DISPATCH(geqrf_stub)
DEFINE_DISPATCH(orgqr_stub)
DEFINE_DISPATCH(svd_stub)
DEFINE_DISPATCH(eigh_stub)
DEFINE_DISPATCH(lstsq_stub)

static Tensor empty_vectors(const Tensor& A, int64_t n) {
  return detail::empty_generic(with_sizes(batch_sizes(A), {n}), A.scalar_type(), A.device());
}

// Sets the other triangle to zero, in place.
static void keep_triangle(const Tensor& t, bool upper) {
  Tensor result = t;
  at::copy_(result, upper ? at::triu(t) : at::tril(t));
}

static Tensor identities(const Tensor& A, int64_t n) {
  Tensor result = empty_column_major(with_sizes(batch_sizes(A), {n, n}), A);
  zero_impl(result);
  Tensor diagonal = at::diagonal(result, 0, -2, -1);
  fill_impl(diagonal, 1);
  return result;
}

// --- Cholesky: A = L L^T, or U^T U -----------------------------------------------------------------------------------

static void linalg_cholesky_ex_out(const Tensor& A, bool upper, bool check_errors, Tensor& L, Tensor& info) {
  squareCheckInputs(A, "linalg.cholesky");
  checkFloatingOrComplex(A, "linalg.cholesky");
  const Tensor factor = cloneBatchedColumnMajor(A), infos = zero_infos(A);
  if (A.numel() > 0) {
    cholesky_stub(A.device().type(), factor, infos, upper);
    keep_triangle(factor, upper);
  }
  give_result(factor, L);
  give_result(infos, info);
  if (check_errors) {
    _linalg_check_errors(info, "linalg.cholesky_ex", A.dim() == 2);
  }
}

static Tensor checked_cholesky(const Tensor& A, bool upper, const char* name) {
  const auto [L, info] = at::linalg_cholesky_ex(A, upper, /*check_errors=*/false);
  _linalg_check_errors(info, name, A.dim() == 2);
  return L;
}

static Tensor linalg_cholesky(const Tensor& A, bool upper) {
  return checked_cholesky(A, upper, "linalg.cholesky");
}

static void warn_deprecated(const char* name, const char* instead) {
  TORCH_WARN_ONCE("torch.", name, " is deprecated in favor of torch.linalg.", instead,
                  " and will be removed in a future PyTorch release.");
}

static Tensor cholesky(const Tensor& A, bool upper) {
  warn_deprecated("cholesky", "cholesky");
  if (A.numel() > 0) { // an empty matrix may have any dtype
    checkLapackDtype(A, "cholesky_cpu");
  } else if (!A.is_floating_point()) {
    squareCheckInputs(A, "cholesky");
    return detail::empty_generic(A.sizes(), A.scalar_type(), A.device());
  }
  return checked_cholesky(A, upper, "cholesky");
}

static void cholesky_solve_out(const Tensor& self, const Tensor& input2, bool upper, Tensor& out) {
  TORCH_CHECK(self.dim() >= 2, "b should have at least 2 dimensions, but has ", self.dim(), " dimensions instead");
  TORCH_CHECK(input2.dim() >= 2, "u should have at least 2 dimensions, but has ", input2.dim(), " dimensions instead");
  checkInputsSolver(input2, self, /*left=*/true, "cholesky_solve");
  checkSameDtype(self, input2, "cholesky_solve", "b", "A");
  checkLapackDtype(self, "cholesky_solve_cpu");
  const auto [L_sizes, B_sizes] = broadcast_batches(input2, self);
  const Tensor X = cloneBatchedColumnMajor(self, B_sizes), L = cloneBatchedColumnMajor(input2, L_sizes);
  if (X.numel() > 0) {
    cholesky_solve_stub(X.device().type(), X, L, upper);
  }
  give_result(X, out);
}

// The inverse of A, computed from the Cholesky factor of A.
static void cholesky_inverse_out(const Tensor& self, bool upper, Tensor& out) {
  squareCheckInputs(self, "cholesky_inverse");
  checkLapackDtype(self, "cholesky_inverse_out_cpu");
  Tensor inverse;
  cholesky_solve_out(identities(self, self.size(-1)), self, upper, inverse);
  give_castable_result(inverse, out);
}

// --- triangular systems ----------------------------------------------------------------------------------------------

static Tensor solve_triangular(const Tensor& A, const Tensor& B, bool left, bool upper, bool transpose,
                               bool unitriangular) {
  const auto [A_sizes, B_sizes] = broadcast_batches(A, B);
  const Tensor X = cloneBatchedColumnMajor(B, B_sizes), T = cloneBatchedColumnMajor(A, A_sizes);
  if (X.numel() > 0) {
    triangular_solve_stub(X.device().type(), T, X, left, upper, transpose, unitriangular);
  }
  return X;
}

static void linalg_solve_triangular_out(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular,
                                        Tensor& out) {
  checkInputsSolver(A, B, left, "linalg.solve_triangular");
  broadcast_batches(A, B); // raises for shapes that do not fit, before the check of the dtypes
  checkLapackDtype(A, "triangular_solve_cpu");
  // If the dtypes differ, B is cast to the dtype of A, as in PyTorch.
  const Tensor right = B.scalar_type() == A.scalar_type() ? B : cast_to_dtype(B, A.scalar_type());
  give_result(solve_triangular(A, right, left, upper, /*transpose=*/false, unitriangular), out);
}

// Deprecated, as in PyTorch: linalg.solve_triangular replaces it.
static void triangular_solve_out(const Tensor& self, const Tensor& A, bool upper, bool transpose, bool unitriangular,
                                 Tensor& solution, Tensor& cloned_coefficient) {
  warn_deprecated("triangular_solve", "solve_triangular");
  TORCH_CHECK(self.dim() >= 2, "torch.triangular_solve: Expected b to have at least 2 dimensions, but it has ",
              self.dim(), " dimensions instead");
  TORCH_CHECK(A.dim() >= 2, "torch.triangular_solve: Expected A to have at least 2 dimensions, but it has ", A.dim(),
              " dimensions instead");
  checkInputsSolver(A, self, /*left=*/true, "triangular_solve");
  checkSameDtype(self, A, "triangular_solve", "b", "A");
  checkLapackDtype(A, "triangular_solve_cpu");
  give_result(solve_triangular(A, self, /*left=*/true, upper, transpose, unitriangular), solution);
  give_result(cloneBatchedColumnMajor(A, broadcast_batches(A, self).first), cloned_coefficient);
}

// --- QR: a matrix with orthogonal columns times a triangular matrix --------------------------------------------------

static void linalg_qr_out(const Tensor& A, const std::string& mode, Tensor& Q, Tensor& R) {
  checkIsMatrix(A, "linalg.qr");
  checkFloatingOrComplex(A, "linalg.qr");
  TORCH_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '", mode,
              "' but expected one of 'reduced' (default), 'r', or 'complete'");
  checkLapackDtype(A, "geqrf_cpu");
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n), q = mode == "complete" ? m : k;
  const Tensor packed = cloneBatchedColumnMajor(A), tau = empty_vectors(A, k);
  if (A.numel() > 0) {
    geqrf_stub(A.device().type(), packed, tau);
  }
  give_result(cloneBatchedColumnMajor(at::triu(at::narrow(packed, -2, 0, q))), R);
  if (mode == "r") {
    give_result(nothing_like(A), Q);
    return;
  }
  // Starts from columns of the identity and overwrites the first ones with the reflectors, in whose place orgqr
  // computes the columns of Q.
  Tensor vectors = identities(A, m);
  vectors = cloneBatchedColumnMajor(at::narrow(vectors, -1, 0, q));
  if (A.numel() > 0) {
    const int64_t reflectors = std::min(n, q);
    Tensor left = at::narrow(vectors, -1, 0, reflectors);
    at::copy_(left, at::narrow(packed, -1, 0, reflectors));
    orgqr_stub(A.device().type(), vectors, tau);
  }
  give_result(vectors, Q);
}

static std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) {
  warn_deprecated("qr", "qr");
  return at::linalg_qr(self, some ? "reduced" : "complete");
}

// --- singular values: A = U diag(S) Vh -------------------------------------------------------------------------------

static void _linalg_svd_out(const Tensor& A, bool full_matrices, bool compute_uv,
                            const std::optional<std::string>& driver, Tensor& U, Tensor& S, Tensor& Vh) {
  checkIsMatrix(A, "linalg.svd");
  checkFloatingOrComplex(A, "linalg.svd");
  TORCH_CHECK(!driver.has_value(),
              "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const Tensor values = empty_vectors(A, k), infos = zero_infos(A);
  Tensor left = nothing_like(A), right = nothing_like(A);
  if (compute_uv) {
    left = cloneBatchedColumnMajor(at::narrow(identities(A, m), -1, 0, full_matrices ? m : k));
    right = cloneBatchedColumnMajor(at::narrow(identities(A, n), -2, 0, full_matrices ? n : k));
  }
  if (A.numel() > 0) {
    svd_stub(A.device().type(), cloneBatchedColumnMajor(A), left, values, right, infos, full_matrices, compute_uv);
    _linalg_check_errors(infos, "linalg.svd", A.dim() == 2);
  }
  give_result(left, U);
  give_result(values, S);
  give_result(right, Vh);
}

static std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices,
                                                     const std::optional<std::string>& driver) {
  return at::_linalg_svd(A, full_matrices, /*compute_uv=*/true, driver);
}

// The singular vectors are computed only if a gradient needs them.
static Tensor linalg_svdvals(const Tensor& A, const std::optional<std::string>& driver) {
  const bool compute_uv = (A.requires_grad() && c10::GradMode::is_enabled()) || c10::ForwardAD::is_active();
  return std::get<1>(at::_linalg_svd(A, /*full_matrices=*/false, compute_uv, driver));
}

// The older form, which returns V instead of Vh.
static std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  checkIsMatrix(self, "linalg.svd");
  if (!compute_uv) { // the vectors are replaced by zeros
    const int64_t m = self.size(-2), n = self.size(-1);
    auto zeros = [&](int64_t size) {
      return at::zeros(with_sizes(batch_sizes(self), {size, size}), self.scalar_type(), self.device());
    };
    return {zeros(m), at::linalg_svdvals(self), at::transpose(zeros(n), -2, -1)};
  }
  const auto [U, S, Vh] = at::_linalg_svd(self, /*full_matrices=*/!some, /*compute_uv=*/true);
  return {U, S, at::transpose(Vh, -2, -1)};
}

// --- eigenvalues of a symmetric matrix: A = V diag(L) V^T ------------------------------------------------------------

static void _linalg_eigh_out(const Tensor& A, const std::string& UPLO, bool compute_v, Tensor& eigenvalues,
                             Tensor& eigenvectors) {
  squareCheckInputs(A, "linalg.eigh");
  const char uplo = UPLO.size() == 1 ? static_cast<char>(std::toupper(UPLO[0])) : '?';
  TORCH_CHECK(uplo == 'L' || uplo == 'U', "Expected UPLO argument to be 'L' or 'U', but got ", UPLO);
  const Tensor vectors = cloneBatchedColumnMajor(A), values = empty_vectors(A, A.size(-1)), infos = zero_infos(A);
  if (A.numel() > 0) {
    eigh_stub(A.device().type(), vectors, values, infos, uplo == 'U', compute_v);
    _linalg_check_errors(infos, "linalg.eigh", A.dim() == 2);
  }
  give_result(values, eigenvalues);
  give_result(compute_v ? vectors : nothing_like(A), eigenvectors);
}

static std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, const std::string& UPLO) {
  return at::_linalg_eigh(self, UPLO, /*compute_v=*/true);
}

static Tensor linalg_eigvalsh(const Tensor& self, const std::string& UPLO) {
  const bool compute_v = (self.requires_grad() && c10::GradMode::is_enabled()) || c10::ForwardAD::is_active();
  return std::get<0>(at::_linalg_eigh(self, UPLO, compute_v));
}

static std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) {
  squareCheckInputs(self, "linalg.eig");
  TORCH_CHECK_NOT_IMPLEMENTED(false,
                              "linalg.eig: the eigenvalues of a matrix that is not symmetric are complex numbers, "
                              "and reftorch has no complex dtypes. Hint: linalg.eigh for a symmetric matrix.");
}

static Tensor linalg_eigvals(const Tensor& self) {
  return std::get<0>(linalg_eig(self));
}

// --- least squares: the X that minimizes |A X - B| -------------------------------------------------------------------

static std::string checked_driver(const std::optional<std::string>& driver) {
  const std::string name = driver.value_or("gelsy");
  TORCH_CHECK(name == "gels" || name == "gelsy" || name == "gelsd" || name == "gelss",
              "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
  return name;
}

// The squared residuals |A X - B|^2 of each column. If A has full rank, the rows of `solved` below the solution hold
// the residuals; otherwise the result has no elements.
static Tensor leftovers(const Tensor& solved, const Tensor& rank, int64_t m, int64_t n, const std::string& driver) {
  bool known = m > n && driver != "gelsy";
  if (known && driver != "gels" && !rank.device().is_meta()) { // without data, full rank is assumed
    known = at::all(at::eq(rank, detail::wrapped_scalar_tensor(n))).item().toBool();
  }
  if (!known) {
    return nothing_like(solved);
  }
  const Tensor rest = at::narrow(solved, -2, n, m - n);
  return at::sum(at::mul(rest, rest), IntArrayRef(-2));
}

static void linalg_lstsq_out(const Tensor& self, const Tensor& b, std::optional<double> rcond,
                             const std::optional<std::string>& driver, Tensor& solution, Tensor& residuals,
                             Tensor& rank, Tensor& singular_values) {
  TORCH_CHECK(self.dim() >= 2, "torch.linalg.lstsq: input must have at least 2 dimensions.");
  TORCH_CHECK(b.dim() >= 1, "torch.linalg.lstsq: other must have at least 1 dimension.");
  TORCH_CHECK(
      b.dim() <= self.dim() && self.dim() <= b.dim() + 1,
      "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1");
  checkFloatingOrComplex(self, "torch.linalg.lstsq", /*allow_low_precision=*/false);
  const bool vector_case = is_vector_rhs(self, b);
  const Tensor rhs = vector_case ? at::unsqueeze(b, -1) : b;
  TORCH_CHECK(rhs.dim() >= 2 && self.size(-2) == rhs.size(-2), "torch.linalg.lstsq: input.size(-2) should match ",
              vector_case ? "other.size(-1)" : "other.size(-2)");
  TORCH_CHECK(self.scalar_type() == b.scalar_type(),
              "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype ",
              self.scalar_type(), " and other's dtype ", b.scalar_type());
  const std::string name = checked_driver(driver);
  const int64_t m = self.size(-2), n = self.size(-1), k = rhs.size(-1);
  const auto [A_sizes, B_sizes] = broadcast_batches(self, rhs);
  const IntArrayRef batch = IntArrayRef(A_sizes).slice(0, A_sizes.size() - 2);
  const Tensor A = cloneBatchedColumnMajor(self, A_sizes);
  Tensor B = empty_column_major(with_sizes(batch, {std::max(m, n), k}), self);
  zero_impl(B);
  Tensor top = at::narrow(B, -2, 0, m);
  at::copy_(top, rhs);
  const double epsilon =
      self.scalar_type() == kFloat ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const bool values = name == "gelsd" || name == "gelss";
  Tensor found_rank = detail::empty_generic(name == "gels" ? IntArrayRef(int64_t(0)) : batch, kLong, self.device());
  Tensor found_values = values ? empty_vectors(A, std::min(m, n)) : nothing_like(A);
  if (A.numel() > 0 && B.numel() > 0) {
    const Tensor infos = zero_infos(A);
    lstsq_stub(A.device().type(), A, B, found_rank, found_values, infos,
               rcond.value_or(epsilon * static_cast<double>(std::max(m, n))), name);
  } else {
    zero_impl(found_rank);
    zero_impl(found_values);
  }
  Tensor X = at::narrow(B, -2, 0, n), rest = leftovers(B, found_rank, m, n, name);
  give_castable_result(vector_case ? at::squeeze(X, -1) : X, solution);
  give_castable_result(vector_case && rest.dim() > 1 ? at::squeeze(rest, -1) : rest, residuals);
  give_castable_result(found_rank, rank);
  give_castable_result(found_values, singular_values);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION, LINALG = variants::LINALG;
  constexpr auto OUT = derive::OUT;
  m.def_structured(
      "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
      TORCH_FN(linalg_cholesky_ex_out), kernels(cholesky_stub, fill_stub, zero_stub), OUT, LINALG);
  m.def_composite_with_out("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", TORCH_FN(linalg_cholesky),
                           LINALG);
  m.def_composite_with_out("cholesky(Tensor self, bool upper=False) -> Tensor", TORCH_FN(cholesky));
  m.def_structured("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
                   TORCH_FN(cholesky_solve_out), kernels(cholesky_solve_stub), OUT);
  m.def_structured("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", TORCH_FN(cholesky_inverse_out),
                   kernels(cholesky_solve_stub, fill_stub, zero_stub), OUT);
  m.def_structured(
      "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> "
      "Tensor",
      TORCH_FN(linalg_solve_triangular_out), kernels(triangular_solve_stub), OUT, LINALG);
  m.def_structured(
      "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
      "(Tensor solution, Tensor cloned_coefficient)",
      TORCH_FN(triangular_solve_out), kernels(triangular_solve_stub), OUT);
  m.def_structured("linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", TORCH_FN(linalg_qr_out),
                   kernels(fill_stub, zero_stub, geqrf_stub, orgqr_stub), OUT, LINALG);
  m.def_composite_with_out("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", TORCH_FN(qr));
  m.def_structured(
      "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor "
      "S, Tensor Vh)",
      TORCH_FN(_linalg_svd_out), kernels(fill_stub, zero_stub, svd_stub), OUT, FUNCTION);
  m.def_composite_with_out(
      "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
      TORCH_FN(linalg_svd), LINALG);
  m.def_composite_with_out("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", TORCH_FN(linalg_svdvals), LINALG);
  m.def_composite_with_out("svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
                           TORCH_FN(svd));
  m.def_structured(
      "_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
      TORCH_FN(_linalg_eigh_out), kernels(eigh_stub, fill_stub, zero_stub), OUT, FUNCTION);
  m.def_composite_with_out("linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
                           TORCH_FN(linalg_eigh), LINALG);
  m.def_composite_with_out("linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor", TORCH_FN(linalg_eigvalsh), LINALG);
  m.def_composite("linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", TORCH_FN(linalg_eig), LINALG);
  m.def_composite("linalg_eigvals(Tensor self) -> Tensor", TORCH_FN(linalg_eigvals), LINALG);
  m.def_structured(
      "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor "
      "residuals, Tensor rank, Tensor singular_values)",
      TORCH_FN(linalg_lstsq_out), kernels(fill_stub, zero_stub, lstsq_stub), tags(Tag::dynamic_output_shape), OUT,
      LINALG);
}

} // namespace reftorch::at::native
