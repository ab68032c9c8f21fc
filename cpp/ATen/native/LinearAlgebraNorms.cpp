// Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (norm, matrix_norm, cond, matrix_rank, pinv, matrix_power, ...)
//
// Ops composed of factorizations and sums: norms, rank, the pseudoinverse, powers, the exponential.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/TensorFactories.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace reftorch::at::native {

using c10::multiply_integers;

constexpr double kInf = std::numeric_limits<double>::infinity();

// --- norms -----------------------------------------------------------------------------------------------------------

static void check_norm_dtype(std::optional<ScalarType> dtype, ScalarType self_dtype, const char* name) {
  if (dtype.has_value()) {
    TORCH_CHECK(c10::isFloatingType(*dtype), name, ": dtype should be floating point or complex, but got ", *dtype);
    TORCH_CHECK(c10::promoteTypes(self_dtype, *dtype) == *dtype, name, ": the dtype of the input (", self_dtype,
                ") should be convertible without narrowing to the specified dtype (", *dtype, ")");
  }
}

// (sum |x|^ord)^(1 / ord), over the given dimensions or over all elements.
static void linalg_vector_norm_out(const Tensor& self, const Scalar& ord, std::optional<IntArrayRef> dim, bool keepdim,
                                   std::optional<ScalarType> dtype, Tensor& out) {
  checkFloatingOrComplex(self, "linalg.vector_norm");
  check_norm_dtype(dtype, self.scalar_type(), "linalg.vector_norm");
  const double p = ord.toDouble();
  if (self.numel() == 0 && (p < 0 || p == kInf)) { // an empty tensor has no largest or smallest element
    const std::string why = c10::str("linalg.vector_norm cannot compute the ", ord, " norm on an empty ");
    TORCH_CHECK(dim.has_value() && !dim->empty(), why, "tensor because the operation does not have an identity");
    for (int64_t d : *dim) {
      TORCH_CHECK(self.size(d) != 0, why, "dimension ", d, " because the operation does not have an identity");
    }
  }
  const ScalarType result_dtype = dtype.value_or(self.scalar_type());
  TORCH_CHECK(!out.defined() || out.scalar_type() == result_dtype, "linalg.vector_norm expected out tensor dtype ",
              result_dtype, " but got: ", out.scalar_type());
  const Tensor input = at::to(self, result_dtype);
  DimVector dims;
  const DimMask mask = make_dim_mask(dim, self.dim());
  for (int64_t d = 0; d < self.dim(); d++) {
    if (mask[d]) {
      dims.push_back(d);
    }
  }
  give_result(self.dim() == 0 && p != 0 ? at::abs(input) : at::norm(input, ord, dims, keepdim), out);
}

static void check_dim_pair(IntArrayRef dim, int64_t ndim, const char* name) {
  std::string shown;
  for (const int64_t d : dim) {
    shown += (shown.empty() ? "" : " ") + std::to_string(d);
  }
  TORCH_CHECK(dim.size() == 2, name, ": dim must be a 2-tuple. Got ", shown);
  TORCH_CHECK(maybe_wrap_dim(dim[0], ndim) != maybe_wrap_dim(dim[1], ndim), name, ": dims must be different. Got (",
              dim[0], ", ", dim[1], ")");
}

static Tensor prepared_matrix(const Tensor& A, IntArrayRef dim, std::optional<ScalarType> dtype,
                              bool by_singular_values) {
  checkFloatingOrComplex(A, "linalg.matrix_norm", /*allow_low_precision=*/!by_singular_values);
  checkIsMatrix(A, "linalg.matrix_norm");
  check_norm_dtype(dtype, A.scalar_type(), "linalg.matrix_norm");
  check_dim_pair(dim, A.dim(), "linalg.matrix_norm");
  return dtype.has_value() ? at::to(A, *dtype) : A;
}

// Applies f to the singular values; with `keepdim` the result has both dimensions with size 1.
template <typename F>
static Tensor of_singular_values(const Tensor& A, int64_t row_dim, int64_t col_dim, bool keepdim, const F& f) {
  DimVector order;
  for (int64_t d = 0; d < A.dim(); d++) {
    if (d != row_dim && d != col_dim) {
      order.push_back(d);
    }
  }
  order.push_back(row_dim);
  order.push_back(col_dim);
  const Tensor result = f(at::linalg_svdvals(at::permute(A, order)));
  if (!keepdim) {
    return result;
  }
  DimVector back(order.size());
  for (size_t i = 0; i < order.size(); i++) {
    back[order[i]] = static_cast<int64_t>(i);
  }
  return at::permute(at::unsqueeze(at::unsqueeze(result, -1), -1), back);
}

// Returns the largest sum |a_1| + |a_2| + ... of a column for ord 1, of a row for ord inf, and the largest singular
// value for ord 2. A negative ord returns the smallest of them.
static Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                                 std::optional<ScalarType> dtype) {
  const double order = ord.toDouble(), abs_order = std::abs(order);
  TORCH_CHECK(abs_order == 2 || abs_order == 1 || abs_order == kInf, "linalg.matrix_norm: Order ", ord,
              " not supported.");
  const Tensor A = prepared_matrix(self, dim, dtype, abs_order == 2);
  const int64_t rows = maybe_wrap_dim(dim[0], A.dim()), cols = maybe_wrap_dim(dim[1], A.dim());
  auto extreme = [order](const Tensor& t, int64_t d, bool keep) {
    if (order > 0 && t.size(d) == 0) { // norms are not negative, so the maximum of no elements is 0, a constant
      return at::zeros_like(at::sum(t, IntArrayRef(d), keep));
    }
    return order > 0 ? at::amax(t, d, keep) : at::amin(t, d, keep);
  };
  if (abs_order == 2) {
    return of_singular_values(A, rows, cols, keepdim, [&](const Tensor& S) { return extreme(S, -1, false); });
  }
  const int64_t summed = abs_order == 1 ? rows : cols, other = abs_order == 1 ? cols : rows;
  const Tensor sums = at::linalg_vector_norm(A, 1, IntArrayRef(summed), keepdim);
  return extreme(sums, !keepdim && summed < other ? other - 1 : other, keepdim);
}

// "fro" is the norm of all elements as one vector; "nuc" is the sum of the singular values.
static Tensor linalg_matrix_norm_str(const Tensor& self, const std::string& ord, IntArrayRef dim, bool keepdim,
                                     std::optional<ScalarType> dtype) {
  TORCH_CHECK(ord == "fro" || ord == "nuc", "linalg.matrix_norm: Order ", ord, " not supported.");
  const Tensor A = prepared_matrix(self, dim, dtype, ord == "nuc");
  if (ord == "fro") {
    return at::linalg_vector_norm(A, 2, dim, keepdim);
  }
  return of_singular_values(A, maybe_wrap_dim(dim[0], A.dim()), maybe_wrap_dim(dim[1], A.dim()), keepdim,
                            [](const Tensor& S) { return at::sum(S, IntArrayRef(-1)); });
}

static void check_norm_dims(const Tensor& X, std::optional<IntArrayRef> dim, bool has_order) {
  if (dim.has_value()) {
    TORCH_CHECK(dim->size() == 1 || dim->size() == 2,
                "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  } else if (has_order) {
    TORCH_CHECK(X.dim() == 1 || X.dim() == 2,
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", X.dim(), "D.");
  }
}

static Tensor linalg_norm(const Tensor& X, const std::optional<Scalar>& ord, std::optional<IntArrayRef> dim,
                          bool keepdim, std::optional<ScalarType> dtype) {
  check_norm_dims(X, dim, ord.has_value());
  if (ord.has_value() && ((dim.has_value() && dim->size() == 2) || (!dim.has_value() && X.dim() == 2))) {
    const DimVector both = dim.has_value() ? DimVector(*dim) : DimVector{0, 1};
    return linalg_matrix_norm(X, *ord, both, keepdim, dtype);
  }
  return at::linalg_vector_norm(X, ord.value_or(2), dim, keepdim, dtype);
}

static Tensor linalg_norm_str(const Tensor& X, const std::string& ord, std::optional<IntArrayRef> dim, bool keepdim,
                              std::optional<ScalarType> dtype) {
  check_norm_dims(X, dim, /*has_order=*/true);
  const DimVector both = dim.has_value() ? DimVector(*dim) : DimVector{0, 1};
  return linalg_matrix_norm_str(X, ord, both, keepdim, dtype);
}

// --- the condition number: how much an error in B may grow in the solution of A X = B --------------------------------

template <typename F>
static Tensor norm_times_norm_of_inverse(const Tensor& self, const F& norm) {
  const auto [inverse, info] = at::linalg_inv_ex(self, /*check_errors=*/false);
  const Tensor singular = at::ne(info, detail::wrapped_scalar_tensor(0));
  return at::where(singular, number(kInf), at::mul(norm(self), norm(inverse)));
}

// The condition number of an empty matrix is 0, as in PyTorch; numpy defines none.
static Tensor condition_of_nothing(const Tensor& self) {
  return at::zeros(batch_sizes(self), self.scalar_type(), self.device());
}

static Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  checkIsMatrix(self, "linalg.cond");
  const double order = p.has_value() ? std::abs(p->toDouble()) : 2;
  TORCH_CHECK(order == 1 || order == 2 || std::isinf(order), "linalg.cond got an invalid norm type: ", *p);
  if (self.numel() == 0) {
    return condition_of_nothing(self);
  }
  if (order == 2) {
    const Tensor S = at::linalg_svdvals(self);
    const Tensor largest = at::select(S, -1, 0), smallest = at::select(S, -1, -1);
    return p.has_value() && p->toDouble() < 0 ? at::div(smallest, largest) : at::div(largest, smallest);
  }
  squareCheckInputs(self, c10::str("linalg.cond(ord=", *p, ")").c_str());
  return norm_times_norm_of_inverse(
      self, [&](const Tensor& A) { return linalg_matrix_norm(A, *p, {-2, -1}, /*keepdim=*/false, std::nullopt); });
}

static Tensor linalg_cond_str(const Tensor& self, const std::string& p) {
  squareCheckInputs(self, c10::str("linalg.cond(ord=", p, ")").c_str());
  TORCH_CHECK(p == "fro" || p == "nuc", "linalg.cond got an invalid norm type: ", p);
  if (self.numel() == 0) {
    return condition_of_nothing(self);
  }
  if (p == "nuc") { // an infinite inverse has no singular values; the reciprocals of S give the sum
    const Tensor S = at::linalg_svdvals(self);
    return at::mul(at::sum(S, IntArrayRef(-1)), at::sum(at::div(number(1), S), IntArrayRef(-1)));
  }
  return norm_times_norm_of_inverse(
      self, [&](const Tensor& A) { return linalg_matrix_norm_str(A, p, {-2, -1}, /*keepdim=*/false, std::nullopt); });
}

// --- rank and pseudoinverse: singular values below a tolerance count as zero -----------------------------------------

// max(atol, rtol * the largest singular value), a column for each matrix. If neither is given, rtol is an estimate of
// the rounding error.
static Tensor tolerance_of(const Tensor& A, const Tensor& largest, const std::optional<Tensor>& atol,
                           const std::optional<Tensor>& rtol) {
  const double epsilon =
      A.scalar_type() == kDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const double default_rtol = epsilon * static_cast<double>(std::max(A.size(-2), A.size(-1)));
  auto column = [&](const Tensor& t) { return t.dim() == 0 ? t : at::unsqueeze(at::to(t, A.scalar_type()), -1); };
  const Tensor zero = number(0);
  const Tensor absolute = atol.has_value() ? column(*atol) : zero;
  Tensor relative = rtol.has_value() ? column(*rtol) : number(default_rtol);
  if (!rtol.has_value() && atol.has_value()) { // an absolute tolerance above zero replaces rtol
    relative = at::where(at::eq(absolute, zero), number(default_rtol), zero);
  }
  return at::maximum(at::to(absolute, A.scalar_type()), at::to(at::mul(relative, largest), A.scalar_type()));
}

static std::optional<Tensor> as_tolerance(std::optional<double> value) {
  return value.has_value() ? std::optional<Tensor>(number(*value)) : std::nullopt;
}

static Tensor matrix_rank_impl(const Tensor& A, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                               bool hermitian) {
  checkIsMatrix(A, "torch.linalg.matrix_rank", "input");
  TORCH_CHECK(atol.has_value() || rtol.has_value() || A.scalar_type() == kFloat || A.scalar_type() == kDouble,
              "This function doesn't handle types other than float and double");
  if (A.numel() == 0) {
    return at::zeros(batch_sizes(A), kLong, A.device());
  }
  const Tensor S = hermitian ? at::abs(at::linalg_eigvalsh(A)) : at::linalg_svdvals(A);
  const Tensor tolerance = tolerance_of(A, at::amax(S, IntArrayRef(-1), /*keepdim=*/true), atol, rtol);
  return at::sum(at::to(at::lt(tolerance, S), kLong), IntArrayRef(-1));
}

static Tensor linalg_matrix_rank_tensor(const Tensor& input, const std::optional<Tensor>& atol,
                                        const std::optional<Tensor>& rtol, bool hermitian) {
  return matrix_rank_impl(input, atol, rtol, hermitian);
}
static Tensor linalg_matrix_rank_float(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                                       bool hermitian) {
  return matrix_rank_impl(self, as_tolerance(atol), as_tolerance(rtol), hermitian);
}
static Tensor linalg_matrix_rank_tol(const Tensor& self, double tol, bool hermitian) {
  return matrix_rank_impl(self, number(tol), number(0), hermitian);
}
static Tensor linalg_matrix_rank_tol_tensor(const Tensor& input, const Tensor& tol, bool hermitian) {
  return matrix_rank_impl(input, tol, number(0), hermitian);
}

// V diag(1 / s) U^T, over the singular values above the tolerance.
static Tensor pinv_impl(const Tensor& A, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                        bool hermitian) {
  checkFloatingOrComplex(A, "linalg.pinv", /*allow_low_precision=*/false);
  checkIsMatrix(A, "linalg.pinv");
  if (A.numel() == 0) {
    return at::zeros(with_sizes(batch_sizes(A), {A.size(-1), A.size(-2)}), A.scalar_type(), A.device());
  }
  auto reciprocal = [&](const Tensor& S, const Tensor& magnitude) {
    const Tensor tolerance = tolerance_of(A, at::amax(magnitude, IntArrayRef(-1), /*keepdim=*/true), atol, rtol);
    return at::where(at::lt(tolerance, magnitude), at::div(number(1), S), number(0));
  };
  if (hermitian) {
    squareCheckInputs(A, "linalg.pinv");
    const auto [L, V] = at::_linalg_eigh(A, "L", /*compute_v=*/true);
    return at::matmul(at::mul(V, at::unsqueeze(reciprocal(L, at::abs(L)), -2)), at::transpose(V, -2, -1));
  }
  const auto [U, S, Vh] = at::_linalg_svd(A, /*full_matrices=*/false, /*compute_uv=*/true);
  return at::matmul(at::mul(at::transpose(Vh, -2, -1), at::unsqueeze(reciprocal(S, S), -2)), at::transpose(U, -2, -1));
}

static Tensor linalg_pinv_tensor(const Tensor& self, const std::optional<Tensor>& atol,
                                 const std::optional<Tensor>& rtol, bool hermitian) {
  return pinv_impl(self, atol, rtol, hermitian);
}
// A composite of the overload above, which has the formula of the gradient.
static Tensor linalg_pinv_float(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                                bool hermitian) {
  return at::linalg_pinv(self, as_tolerance(atol), as_tolerance(rtol), hermitian);
}
static Tensor linalg_pinv_rcond(const Tensor& self, double rcond, bool hermitian) {
  return at::linalg_pinv(self, number(0), number(rcond), hermitian);
}
static Tensor linalg_pinv_rcond_tensor(const Tensor& self, const Tensor& rcond, bool hermitian) {
  return at::linalg_pinv(self, number(0), rcond, hermitian);
}
static Tensor pinverse(const Tensor& self, double rcond) {
  return linalg_pinv_rcond(self, rcond, /*hermitian=*/false);
}

// --- powers and the exponential --------------------------------------------------------------------------------------

static Tensor identity_like(const Tensor& A) {
  Tensor identity = at::zeros(A.sizes(), A.scalar_type(), A.device());
  Tensor diagonal = at::diagonal(identity, 0, -2, -1);
  at::fill_(diagonal, 1);
  return identity;
}

// Computes the power by repeated squaring: the binary digits of n say which of A, A^2, A^4, ... to multiply.
static Tensor linalg_matrix_power(const Tensor& A, int64_t n) {
  squareCheckInputs(A, "linalg.matrix_power");
  if (n == 0) {
    Tensor result = at::clone(A, MemoryFormat::Contiguous); // a clone of A, so that the result is in the graph
    return at::copy_(result, identity_like(A));
  }
  if (n == 1) {
    return at::clone(A, MemoryFormat::Contiguous);
  }
  Tensor square = n < 0 ? at::linalg_inv(A) : A, result;
  if (n == -1) {
    return square;
  }
  if (n == 3 || n == -3) { // the same order as in PyTorch, because the order decides the strides
    return at::matmul(at::matmul(square, square), square);
  }
  for (uint64_t rest = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;) {
    if (rest % 2 == 1) {
      result = result.defined() ? at::matmul(result, square) : square;
    }
    rest /= 2;
    if (rest == 0) {
      return result;
    }
    square = at::matmul(square, square);
  }
}

// The powers 0 and 1 are copies, which may be cast to the dtype of out; other powers are products and must have the
// dtype of out.
static Tensor& linalg_matrix_power_out(const Tensor& A, int64_t n, Tensor& out) {
  const bool copied = n == 0 || n == 1;
  resize_output(out, A.sizes()); // out becomes contiguous, though the result may not be
  impl::copy_to_out(linalg_matrix_power(A, n), out, copied ? impl::OutDtype::Castable : impl::OutDtype::Same);
  return out;
}

// exp(A) = exp(A / 2^s)^(2^s), where s is so large that a short Taylor series of the small matrix suffices.
static Tensor linalg_matrix_exp(const Tensor& A) {
  squareCheckInputs(A, "linalg.matrix_exp");
  checkFloatingOrComplex(A, "linalg.matrix_exp");
  constexpr int kTerms = 18; // 1 / 19! is below the precision of a double
  if (A.size(-1) == 1) {
    return at::exp(A);
  }
  const Tensor identity = identity_like(A);
  if (A.numel() == 0 || A.device().is_meta()) {
    return identity;
  }
  const Tensor norms = at::amax(at::sum(at::abs(A), IntArrayRef(-2)), IntArrayRef(-1)); // the 1-norm of each matrix
  const double largest = at::amax(norms, {}).item().toDouble();
  const int squarings = largest > 1 && std::isfinite(largest) ? static_cast<int>(std::ceil(std::log2(largest))) : 0;
  const Tensor small = at::mul(A, number(std::ldexp(1.0, -squarings)));
  Tensor result = identity; // Horner: I + A (I + A/2 (I + A/3 (...)))
  for (int i = kTerms; i >= 1; i--) {
    result = at::add(identity, at::mul(at::matmul(small, result), number(1.0 / i)));
  }
  for (int i = 0; i < squarings; i++) {
    result = at::matmul(result, result);
  }
  return result;
}

static Tensor matrix_exp(const Tensor& self) {
  return at::linalg_matrix_exp(self);
}

// --- linear systems whose unknowns are tensors: they are reshaped to matrices ----------------------------------------

static Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  TORCH_CHECK(ind > 0, "Expected a strictly positive integer for 'ind', but got ", ind);
  TORCH_CHECK(ind <= self.dim(), "linalg.tensorinv: expected self to have at least ", ind, " dimensions, got ",
              self.dim());
  const size_t split = static_cast<size_t>(ind);
  const IntArrayRef rows = self.sizes().slice(0, split), cols = self.sizes().slice(split, self.dim() - split);
  TORCH_CHECK(multiply_integers(rows) == multiply_integers(cols),
              "Expected self to satisfy the requirement prod(self.shape[ind:]) == ", "prod(self.shape[:ind]), but got ",
              multiply_integers(cols), " != ", multiply_integers(rows));
  DimVector result(cols);
  result.append(rows.begin(), rows.end());
  return at::reshape(at::linalg_inv(at::reshape(self, {multiply_integers(rows), multiply_integers(cols)})), result);
}

static Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, std::optional<IntArrayRef> dims) {
  Tensor A = self;
  if (dims.has_value()) {
    DimVector end;
    for (size_t i = 0; i < dims->size(); i++) {
      end.push_back(self.dim() - static_cast<int64_t>(dims->size() - i));
    }
    A = at::movedim(self, *dims, end);
  }
  TORCH_CHECK(other.dim() <= A.dim(), "linalg.tensorsolve: expected self to have at least as many dimensions as other");
  const IntArrayRef result = A.sizes().slice(other.dim(), A.dim() - other.dim());
  const int64_t unknowns = multiply_integers(result), equations = other.numel();
  TORCH_CHECK(unknowns == equations, "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == ",
              "prod(self.shape[:other.ndim]), but got ", unknowns, " != ", equations);
  return at::reshape(at::linalg_solve(at::reshape(A, {equations, unknowns}), at::reshape(other, IntArrayRef(-1))),
                     result);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int LINALG = variants::LINALG;
  m.def_structured(
      "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
      "-> Tensor",
      TORCH_FN(linalg_vector_norm_out), derive::OUT, LINALG);
  m.def_composite_with_out(
      "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) "
      "-> "
      "Tensor",
      TORCH_FN(linalg_matrix_norm), LINALG);
  m.def_composite_with_out(
      "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? "
      "dtype=None) -> Tensor",
      TORCH_FN(linalg_matrix_norm_str), LINALG);
  m.def_composite_with_out(
      "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
      "Tensor",
      TORCH_FN(linalg_norm), LINALG);
  m.def_composite_with_out(
      "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
      "Tensor",
      TORCH_FN(linalg_norm_str), LINALG);
  m.def_composite_with_cast_out("linalg_cond(Tensor self, Scalar? p=None) -> Tensor", TORCH_FN(linalg_cond), LINALG);
  m.def_composite_with_cast_out("linalg_cond.p_str(Tensor self, str p) -> Tensor", TORCH_FN(linalg_cond_str), LINALG);
  m.def_composite_with_cast_out(
      "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool "
      "hermitian=False) -> Tensor",
      TORCH_FN(linalg_matrix_rank_tensor), LINALG);
  m.def_composite_with_cast_out(
      "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> "
      "Tensor",
      TORCH_FN(linalg_matrix_rank_float), LINALG);
  m.def_composite_with_cast_out("linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
                                TORCH_FN(linalg_matrix_rank_tol), LINALG);
  m.def_composite_with_cast_out(
      "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
      TORCH_FN(linalg_matrix_rank_tol_tensor), LINALG);
  m.def(
      "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> "
      "Tensor",
      TORCH_FN(linalg_pinv_tensor), LINALG);
  m.def_out_by_copy<&linalg_pinv_tensor, impl::OutDtype::Castable>(
      "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> "
      "Tensor",
      TORCH_FN(linalg_pinv_tensor));
  m.def_composite_with_cast_out(
      "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
      TORCH_FN(linalg_pinv_float), LINALG);
  m.def_composite_with_cast_out("linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
                                TORCH_FN(linalg_pinv_rcond), LINALG);
  m.def_composite_with_cast_out("linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
                                TORCH_FN(linalg_pinv_rcond_tensor), LINALG);
  m.def_composite("pinverse(Tensor self, float rcond=1e-15) -> Tensor", TORCH_FN(pinverse));
  m.def_composite("linalg_matrix_power(Tensor self, int n) -> Tensor", TORCH_FN(linalg_matrix_power), LINALG);
  m.def_composite("matrix_power(Tensor self, int n) -> Tensor", TORCH_FN(linalg_matrix_power));
  m.def("linalg_matrix_power.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)",
        TORCH_FN(linalg_matrix_power_out), LINALG);
  m.def("matrix_power.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(linalg_matrix_power_out),
        variants::FUNCTION);
  m.def("linalg_matrix_exp(Tensor self) -> Tensor", TORCH_FN(linalg_matrix_exp), LINALG);
  m.def_composite("matrix_exp(Tensor self) -> Tensor", TORCH_FN(matrix_exp));
  m.def_composite_with_cast_out("linalg_tensorinv(Tensor self, int ind=2) -> Tensor", TORCH_FN(linalg_tensorinv),
                                LINALG);
  m.def_composite_with_cast_out("linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
                                TORCH_FN(linalg_tensorsolve), LINALG);
}

} // namespace reftorch::at::native
