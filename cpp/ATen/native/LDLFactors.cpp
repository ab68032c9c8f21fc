// Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp (ldl_factor, ldl_solve)
//
// The factorization A = L D L^T of a symmetric matrix that need not be positive-definite: D has blocks of 1 by 1 and 2
// by 2. The kernels call LAPACK (cpu/BatchLinearAlgebraKernel.cpp). Left out: complex numbers, so `hermitian` changes
// nothing.
#include <ATen/native/BatchLinearAlgebra.h>
#include <ATen/native/Fill.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/LinearAlgebraUtils.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(ldl_factor_stub)
DEFINE_DISPATCH(ldl_solve_stub)

static void check_ldl_infos(const Tensor& infos, const char* name, bool is_matrix) {
  for_first_info(infos, [&](int64_t place, int info) {
    TORCH_CHECK_LINALG(false, name, ": ", is_matrix ? std::string() : c10::str("(Batch element ", place, "): "),
                       "The factorization has been completed, but the block ", info,
                       " of D is zero: ldl_solve would divide by zero.");
  });
}

static void linalg_ldl_factor_ex_out(const Tensor& self, bool /*hermitian*/, bool check_errors, Tensor& LD,
                                     Tensor& pivots, Tensor& info) {
  squareCheckInputs(self, "torch.linalg.ldl_factor_ex");
  checkFloatingOrComplex(self, "torch.linalg.ldl_factor_ex");
  const Tensor factors = cloneBatchedColumnMajor(at::tril(self)), infos = zero_infos(self);
  const Tensor swaps = detail::empty_generic(with_sizes(batch_sizes(self), {self.size(-1)}), kInt, self.device());
  if (self.numel() > 0) {
    ldl_factor_stub(self.device().type(), factors, swaps, infos);
  }
  give_result(factors, LD);
  give_result(swaps, pivots);
  give_result(infos, info);
  if (check_errors) {
    check_ldl_infos(info, "torch.linalg.ldl_factor_ex", self.dim() == 2);
  }
}

static std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian) {
  const auto [LD, pivots, info] = at::linalg_ldl_factor_ex(self, hermitian, /*check_errors=*/false);
  check_ldl_infos(info, "torch.linalg.ldl_factor", self.dim() == 2);
  return {LD, pivots};
}

static void linalg_ldl_solve_out(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool /*hermitian*/,
                                 Tensor& out) {
  squareCheckInputs(LD, "torch.linalg.ldl_solve");
  checkFloatingOrComplex(LD, "torch.linalg.ldl_solve");
  TORCH_CHECK(LD.size(-1) == B.size(-2), "Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is ",
              LD.size(-2), " by ", LD.size(-1), " but each b matrix is ", B.size(-2), " by ", B.size(-1));
  const bool integers = c10::isIntegralType(pivots.scalar_type(), /*includeBool=*/false);
  TORCH_CHECK(integers, "torch.linalg.ldl_solve: Expected pivots to be integers. Got ", pivots.scalar_type());
  TORCH_CHECK(
      pivots.sizes() == LD.sizes().slice(0, LD.dim() - 1),
      "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ",
      pivots.sizes(), " instead");
  TORCH_CHECK(B.scalar_type() == LD.scalar_type(), "Expected b and A to have the same dtype, but found b of type ",
              B.scalar_type(), " and A of type ", LD.scalar_type(), " instead.");
  checkLapackDtype(LD, "ldl_solve_kernel_cpu");
  const auto [LD_sizes, B_sizes] = broadcast_batches(LD, B);
  const Tensor X = cloneBatchedColumnMajor(B, B_sizes);
  if (X.numel() > 0) {
    const IntArrayRef pivot_sizes = IntArrayRef(LD_sizes).slice(0, LD_sizes.size() - 1);
    const Tensor swaps = at::expand(at::to(pivots, kInt), pivot_sizes).contiguous();
    ldl_solve_stub(X.device().type(), cloneBatchedColumnMajor(LD, LD_sizes), swaps, X);
  }
  give_result(X, out);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int LINALG = variants::LINALG;
  constexpr auto OUT = derive::OUT;
  m.def_structured(
      "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor "
      "pivots, Tensor info)",
      TORCH_FN(linalg_ldl_factor_ex_out), kernels(fill_stub, zero_stub, ldl_factor_stub), OUT, LINALG);
  m.def_composite_with_out("linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
                           TORCH_FN(linalg_ldl_factor), LINALG);
  m.def_structured("linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
                   TORCH_FN(linalg_ldl_solve_out), kernels(ldl_solve_stub), OUT, LINALG);
}

} // namespace reftorch::at::native
