// Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, aten/src/ATen/native/LinearAlgebra.cpp (det, slogdet)
//
// Ops based on the factors A = P L U: the factors, solutions, inverses, determinants. The ops check arguments and make
// the outputs; the kernels call LAPACK (cpu/BatchLinearAlgebraKernel.cpp). Other factorizations are in
// MatrixFactors.cpp.
#include <ATen/native/BatchLinearAlgebra.h>
#include <ATen/native/Fill.h>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/functorch/TensorWrapper.h>
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(lu_factor_stub)
DEFINE_DISPATCH(lu_solve_stub)
DEFINE_DISPATCH(permutation_matrix_stub)
DEFINE_DISPATCH(det_stub)

// --- the factors in one matrix: U on and above the diagonal, L below; the diagonal of L is 1 and is not stored -------

struct LU {
  Tensor factors, pivots, infos;
};

static LU lu_factor(const Tensor& A) {
  const int64_t k = std::min(A.size(-2), A.size(-1));
  LU lu = {cloneBatchedColumnMajor(A), detail::empty_generic(with_sizes(batch_sizes(A), {k}), kInt, A.device()),
           zero_infos(A)};
  if (A.numel() > 0) {
    lu_factor_stub(A.device().type(), lu.factors, lu.pivots, lu.infos);
  }
  return lu;
}

static void linalg_lu_factor_ex_out(const Tensor& A, bool pivot, bool check_errors, Tensor& LU_out, Tensor& pivots,
                                    Tensor& info) {
  checkIsMatrix(A, "torch.lu_factor");
  TORCH_CHECK(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  const LU lu = lu_factor(A);
  give_result(lu.factors, LU_out);
  give_result(lu.pivots, pivots);
  give_result(lu.infos, info);
  if (check_errors) {
    _linalg_check_errors(info, "torch.linalg.lu_factor_ex", A.dim() == 2);
  }
}

static std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  const auto [factors, pivots, infos] = at::linalg_lu_factor_ex(A, pivot, /*check_errors=*/false);
  for_first_info(infos, [&](int64_t place, int info) {
    TORCH_CHECK(false,
                "torch.linalg.lu_factor: ", A.dim() == 2 ? std::string() : c10::str("(Batch element ", place, "): "),
                "U[", info, ",", info,
                "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform "
                "the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
  });
  return {factors, pivots};
}

// --- the factors as separate matrices --------------------------------------------------------------------------------

// The matrix P with A = P L U: column i has its 1 in the row that the swaps brought to place i.
static Tensor permutation_matrix(const Tensor& pivots, int64_t m, ScalarType dtype) {
  const Tensor swaps = pivots.contiguous();
  Tensor P = empty_impl(with_sizes(swaps.sizes().slice(0, swaps.dim() - 1), {m, m}), dtype, swaps.device());
  zero_impl(P);
  if (P.numel() > 0) {
    permutation_matrix_stub(P.device().type(), P, swaps);
  }
  return P;
}

static Tensor unit_lower(const Tensor& LU_data) {
  const int64_t k = std::min(LU_data.size(-2), LU_data.size(-1));
  Tensor L = at::tril(at::narrow(LU_data, -1, 0, k), -1).contiguous();
  Tensor diagonal = at::diagonal(L, 0, -2, -1);
  fill_impl(diagonal, 1);
  return L;
}

static Tensor upper_part(const Tensor& LU_data) {
  const int64_t k = std::min(LU_data.size(-2), LU_data.size(-1));
  return at::triu(at::narrow(LU_data, -2, 0, k)).contiguous();
}

static void lu_unpack_out(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots,
                          Tensor& P, Tensor& L, Tensor& U) {
  TORCH_CHECK(LU_data.dim() >= 2,
              "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: ", LU_data.sizes(), " instead");
  TORCH_CHECK(!unpack_pivots || LU_pivots.scalar_type() == kInt,
              "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
              "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor");
  TORCH_CHECK(!unpack_pivots ||
                  LU_pivots.sizes() ==
                      IntArrayRef(with_sizes(batch_sizes(LU_data), {std::min(LU_data.size(-2), LU_data.size(-1))})),
              "torch.lu_unpack: LU_pivots does not belong to LU_data: its shape is ", LU_pivots.sizes());
  give_result(
      unpack_pivots ? permutation_matrix(LU_pivots, LU_data.size(-2), LU_data.scalar_type()) : nothing_like(LU_data),
      P);
  give_result(unpack_data ? unit_lower(LU_data) : nothing_like(LU_data), L);
  give_result(unpack_data ? upper_part(LU_data) : nothing_like(LU_data), U);
}

static void linalg_lu_out(const Tensor& A, bool pivot, Tensor& P, Tensor& L, Tensor& U) {
  checkIsMatrix(A, "linalg.lu");
  TORCH_CHECK(pivot, "linalg.lu: LU without pivoting is not implemented on the CPU");
  const LU lu = lu_factor(A);
  give_result(permutation_matrix(lu.pivots, A.size(-2), A.scalar_type()), P);
  give_result(unit_lower(lu.factors), L);
  give_result(upper_part(lu.factors), U);
}

// --- solutions -------------------------------------------------------------------------------------------------------

// Returns X with A X = B, or A^T X = B if `adjoint`. If not `left`, X A = B, which is solved as A^T X^T = B^T. X has
// the shape of B; the batch dimensions of A are broadcast to those of B.
static Tensor solve_with(const Tensor& factors, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  const auto [A_sizes, B_sizes] = broadcast_batches(factors, B);
  const Tensor rhs = at::expand(B, B_sizes);
  const Tensor X = cloneBatchedColumnMajor(left ? rhs : at::transpose(rhs, -2, -1));
  const Tensor A = cloneBatchedColumnMajor(factors, A_sizes);
  const DimVector pivot_sizes = with_sizes(IntArrayRef(A_sizes).slice(0, A_sizes.size() - 2), {pivots.size(-1)});
  const Tensor swaps = at::expand(pivots, pivot_sizes).contiguous();
  if (X.numel() > 0) {
    lu_solve_stub(X.device().type(), A, swaps, X, left == adjoint);
  }
  return left ? X : at::transpose(X, -2, -1);
}

static void linalg_lu_solve_out(const Tensor& LU_factors, const Tensor& pivots, const Tensor& B, bool left,
                                bool adjoint, Tensor& out) {
  checkSameDtype(LU_factors, B, "linalg.lu_solve", "LU", "B");
  TORCH_CHECK(pivots.scalar_type() == kInt, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  checkFloatingOrComplex(LU_factors, "torch.linalg.lu_solve");
  squareCheckInputs(LU_factors, "torch.linalg.lu_solve");
  checkInputsSolver(LU_factors, B, left, "linalg.lu_solve");
  TORCH_CHECK(LU_factors.size(-1) == pivots.size(-1),
              "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix");
  TORCH_CHECK(LU_factors.sizes().slice(0, LU_factors.dim() - 1) == pivots.sizes(),
              "linalg.lu_solve: Expected LU.shape[:-1] "
              "and pivots.shape to be the same, but got pivots with shape ",
              pivots.sizes(), " instead");
  give_result(solve_with(LU_factors, pivots, B, left, adjoint), out);
}

static Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  return at::linalg_lu_solve(LU_data, LU_pivots, self);
}

static void _linalg_solve_ex_out(const Tensor& A, const Tensor& B, bool left, bool check_errors, Tensor& result,
                                 Tensor& LU_out, Tensor& pivots, Tensor& info) {
  checkFloatingOrComplex(A, "linalg.solve");
  squareCheckInputs(A, "linalg.solve");
  checkSameDtype(A, B, "linalg.solve");
  const bool vector_case = is_vector_rhs(A, B);
  TORCH_CHECK(left || !vector_case,
              "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
              "linalg.solve is equivalent to B / A.squeeze(-1)");
  const Tensor rhs = vector_case ? at::unsqueeze(B, -1) : B;
  checkInputsSolver(A, rhs, left, "linalg.solve");
  const LU lu = lu_factor(A);
  Tensor X = solve_with(lu.factors, lu.pivots, rhs, left, /*adjoint=*/false);
  if (vector_case) {
    X = at::squeeze(X, -1);
    X = X.dim() < 2 ? X : cloneBatchedColumnMajor(X); // in the memory order of PyTorch's result
  }
  give_result(X, result);
  give_result(lu.factors, LU_out);
  give_result(lu.pivots, pivots);
  give_result(lu.infos, info);
  if (check_errors) {
    _linalg_check_errors(info, "torch.linalg.solve_ex", A.dim() == 2);
  }
}

static std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  const auto [result, factors, pivots, info] = at::_linalg_solve_ex(A, B, left, check_errors);
  return {result, info};
}

static Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  const auto [result, factors, pivots, info] = at::_linalg_solve_ex(A, B, left, /*check_errors=*/false);
  _linalg_check_errors(info, "torch.linalg.solve", A.dim() == 2);
  return result;
}

// --- the inverse: the solution of A X = I ----------------------------------------------------------------------------

static void linalg_inv_ex_out(const Tensor& A, bool check_errors, Tensor& inverse, Tensor& info) {
  squareCheckInputs(A, "linalg.inv");
  checkFloatingOrComplex(A, "linalg.inv", /*allow_low_precision=*/false);
  const LU lu = lu_factor(A);
  Tensor identity = detail::empty_generic(A.sizes(), A.scalar_type(), A.device());
  zero_impl(identity);
  Tensor diagonal = at::diagonal(identity, 0, -2, -1);
  fill_impl(diagonal, 1);
  give_result(solve_with(lu.factors, lu.pivots, identity, /*left=*/true, /*adjoint=*/false), inverse);
  give_result(lu.infos, info);
  if (check_errors) {
    _linalg_check_errors(info, "linalg.inv_ex", A.dim() == 2);
  }
}

static Tensor linalg_inv(const Tensor& A) {
  const auto [inverse, info] = at::linalg_inv_ex(A, /*check_errors=*/false);
  _linalg_check_errors(info, "linalg.inv", A.dim() == 2);
  return inverse;
}

// --- determinants: the product of U's diagonal, whose sign changes with each swap ------------------------------------

struct Determinants {
  LU lu;
  Tensor sign, log_abs, value;
};

static Determinants determinants(const Tensor& A) {
  const IntArrayRef batch = batch_sizes(A);
  auto fresh = [&] { return detail::empty_generic(batch, A.scalar_type(), A.device()); };
  Determinants result = {lu_factor(A), fresh(), fresh(), fresh()};
  if (A.numel() == 0) { // an empty product is 1
    fill_impl(result.sign, 1);
    fill_impl(result.log_abs, 0);
    fill_impl(result.value, 1);
    return result;
  }
  det_stub(A.device().type(), result.lu.factors, result.lu.pivots, result.sign, result.log_abs, result.value);
  return result;
}

static void _linalg_det_out(const Tensor& A, Tensor& result, Tensor& LU_out, Tensor& pivots) {
  squareCheckInputs(A, "linalg.det");
  checkFloatingOrComplex(A, "linalg.det");
  const Determinants found = determinants(A);
  give_result(found.value, result);
  give_result(found.lu.factors, LU_out);
  give_result(found.lu.pivots, pivots);
}

static Tensor linalg_det(const Tensor& A) {
  return std::get<0>(at::_linalg_det(A));
}

static void _linalg_slogdet_out(const Tensor& A, Tensor& sign, Tensor& logabsdet, Tensor& LU_out, Tensor& pivots) {
  squareCheckInputs(A, "linalg.slogdet");
  checkFloatingOrComplex(A, "linalg.slogdet", /*allow_low_precision=*/false);
  const Determinants found = determinants(A);
  give_result(found.sign, sign);
  give_result(found.log_abs, logabsdet);
  give_result(found.lu.factors, LU_out);
  give_result(found.lu.pivots, pivots);
}

static std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  const auto [sign, logabsdet, factors, pivots] = at::_linalg_slogdet(A);
  return {sign, logabsdet};
}

// The result is NaN where the determinant is negative.
static Tensor logdet(const Tensor& A) {
  squareCheckInputs(A, "logdet");
  checkFloatingOrComplex(A, "logdet", /*allow_low_precision=*/false);
  const auto [sign, logabsdet, factors, pivots] = at::_linalg_slogdet(A);
  const Tensor minus_one = detail::wrapped_scalar_tensor(-1.0),
               nan = detail::wrapped_scalar_tensor(std::numeric_limits<double>::quiet_NaN());
  return at::where(at::eq(sign, minus_one), nan, logabsdet);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION, LINALG = variants::LINALG;
  constexpr auto OUT = derive::OUT;
  m.def_structured(
      "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor "
      "info)",
      TORCH_FN(linalg_lu_factor_ex_out), kernels(fill_stub, zero_stub, lu_factor_stub), OUT, LINALG);
  m.def_composite_with_out("linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
                           TORCH_FN(linalg_lu_factor), LINALG);
  m.def_structured("linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", TORCH_FN(linalg_lu_out),
                   kernels(fill_stub, zero_stub, lu_factor_stub, permutation_matrix_stub), OUT, LINALG);
  m.def_structured(
      "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, "
      "Tensor L, Tensor U)",
      TORCH_FN(lu_unpack_out), kernels(fill_stub, zero_stub, permutation_matrix_stub), OUT, FUNCTION);
  m.def_structured(
      "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
      TORCH_FN(linalg_lu_solve_out), kernels(lu_solve_stub), OUT, LINALG);
  m.def_composite_with_out("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", TORCH_FN(lu_solve));
  m.def_structured(
      "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, "
      "Tensor pivots, Tensor info)",
      TORCH_FN(_linalg_solve_ex_out), kernels(fill_stub, zero_stub, lu_factor_stub, lu_solve_stub), OUT, FUNCTION);
  m.def_composite_with_out(
      "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
      TORCH_FN(linalg_solve_ex), LINALG);
  m.def_composite_with_out("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", TORCH_FN(linalg_solve),
                           LINALG);
  m.def_structured("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
                   TORCH_FN(linalg_inv_ex_out), kernels(fill_stub, zero_stub, lu_factor_stub, lu_solve_stub), OUT,
                   LINALG);
  m.def_composite_with_out("linalg_inv(Tensor A) -> Tensor", TORCH_FN(linalg_inv), LINALG);
  m.def_composite_with_out("inverse(Tensor self) -> Tensor", TORCH_FN(linalg_inv));
  m.def_structured("_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", TORCH_FN(_linalg_det_out),
                   kernels(fill_stub, zero_stub, lu_factor_stub, det_stub), OUT, FUNCTION);
  m.def_composite_with_out("linalg_det(Tensor A) -> Tensor", TORCH_FN(linalg_det), LINALG);
  m.def_composite("det(Tensor self) -> Tensor", TORCH_FN(linalg_det));
  m.def_structured("_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
                   TORCH_FN(_linalg_slogdet_out), kernels(fill_stub, zero_stub, lu_factor_stub, det_stub), OUT,
                   FUNCTION);
  m.def_composite_with_out("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", TORCH_FN(linalg_slogdet),
                           LINALG);
  m.def_composite_with_out("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", TORCH_FN(linalg_slogdet));
  m.def_composite("logdet(Tensor self) -> Tensor", TORCH_FN(logdet));
}

} // namespace reftorch::at::native
