// Mirrors: aten/src/ATen/templates/Functions.cpp
#include <ATen/LinalgFunctions.h>

#include <ATen/core/dispatch/CallOp.h>

namespace reftorch::at {

Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  CALL_OP("mm.out", Tensor & (const Tensor&, const Tensor&, Tensor&), self, mat2, out);
}
Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other) {
  CALL_OP("mul.Tensor_out", Tensor & (const Tensor&, const Tensor&, Tensor&), self, other, out);
}
Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  CALL_OP("tensordot", Tensor(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef), self, other, dims_self,
          dims_other);
}
Tensor vdot(const Tensor& self, const Tensor& other) {
  CALL_OP("vdot", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor linalg_multi_dot(TensorList tensors) {
  CALL_OP("linalg_multi_dot", Tensor(TensorList), tensors);
}
Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  CALL_OP("linalg_cross", Tensor(const Tensor&, const Tensor&, int64_t), self, other, dim);
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors) {
  using Sig = std::tuple<Tensor, Tensor, Tensor>(const Tensor&, bool, bool);
  CALL_OP("linalg_lu_factor_ex", Sig, A, pivot, check_errors);
}
Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  using Sig = Tensor(const Tensor&, const Tensor&, const Tensor&, bool, bool);
  CALL_OP("linalg_lu_solve", Sig, LU, pivots, B, left, adjoint);
}
std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                                            bool check_errors) {
  using Sig = std::tuple<Tensor, Tensor, Tensor, Tensor>(const Tensor&, const Tensor&, bool, bool);
  CALL_OP("_linalg_solve_ex", Sig, A, B, left, check_errors);
}
Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  CALL_OP("linalg_solve", Tensor(const Tensor&, const Tensor&, bool), A, B, left);
}
std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors) {
  using Sig = std::tuple<Tensor, Tensor>(const Tensor&, bool);
  CALL_OP("linalg_inv_ex", Sig, A, check_errors);
}
Tensor linalg_inv(const Tensor& A) {
  CALL_OP("linalg_inv", Tensor(const Tensor&), A);
}
std::tuple<Tensor, Tensor, Tensor> _linalg_det(const Tensor& A) {
  using Sig = std::tuple<Tensor, Tensor, Tensor>(const Tensor&);
  CALL_OP("_linalg_det", Sig, A);
}
std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_slogdet(const Tensor& A) {
  using Sig = std::tuple<Tensor, Tensor, Tensor, Tensor>(const Tensor&);
  CALL_OP("_linalg_slogdet", Sig, A);
}
std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  using Sig = std::tuple<Tensor, Tensor>(const Tensor&, bool, bool);
  CALL_OP("linalg_cholesky_ex", Sig, self, upper, check_errors);
}
std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string mode) {
  using Sig = std::tuple<Tensor, Tensor>(const Tensor&, std::string);
  CALL_OP("linalg_qr", Sig, A, mode);
}
std::tuple<Tensor, Tensor, Tensor> _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv,
                                               std::optional<std::string> driver) {
  using Sig = std::tuple<Tensor, Tensor, Tensor>(const Tensor&, bool, bool, std::optional<std::string>);
  CALL_OP("_linalg_svd", Sig, A, full_matrices, compute_uv, driver);
}
Tensor linalg_svdvals(const Tensor& A) {
  CALL_OP("linalg_svdvals", Tensor(const Tensor&, std::optional<std::string>), A, std::nullopt);
}
std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& A, std::string UPLO, bool compute_v) {
  using Sig = std::tuple<Tensor, Tensor>(const Tensor&, std::string, bool);
  CALL_OP("_linalg_eigh", Sig, A, UPLO, compute_v);
}
Tensor linalg_eigvalsh(const Tensor& A, std::string UPLO) {
  CALL_OP("linalg_eigvalsh", Tensor(const Tensor&, std::string), A, UPLO);
}
Tensor linalg_pinv(const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                   bool hermitian) {
  using Sig = Tensor(const Tensor&, const std::optional<Tensor>&, const std::optional<Tensor>&, bool);
  CALL_OP("linalg_pinv.atol_rtol_tensor", Sig, self, atol, rtol, hermitian);
}
Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, std::optional<IntArrayRef> dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  using Sig = Tensor(const Tensor&, const Scalar&, std::optional<IntArrayRef>, bool, std::optional<ScalarType>);
  CALL_OP("linalg_vector_norm", Sig, self, ord, dim, keepdim, dtype);
}

} // namespace reftorch::at
