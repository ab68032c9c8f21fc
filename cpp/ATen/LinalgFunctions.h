// Mirrors: aten/src/ATen/templates/Functions.h
// The C++ callers' door to products and linear algebra: the rest of ATen/Functions.h.
#pragma once

#include <ATen/Functions.h>

#include <string>

namespace reftorch::at {

TORCH_API Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2);
TORCH_API Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other);
TORCH_API Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other);
TORCH_API Tensor vdot(const Tensor& self, const Tensor& other);
TORCH_API Tensor linalg_multi_dot(TensorList tensors);
TORCH_API Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim = -1);

TORCH_API std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors);
TORCH_API Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true,
                                 bool adjoint = false);
TORCH_API std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                                                      bool check_errors);
TORCH_API Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left = true);
TORCH_API std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors);
TORCH_API Tensor linalg_inv(const Tensor& A);
TORCH_API std::tuple<Tensor, Tensor, Tensor> _linalg_det(const Tensor& A);
TORCH_API std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_slogdet(const Tensor& A);
TORCH_API std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors);
TORCH_API std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string mode);
TORCH_API std::tuple<Tensor, Tensor, Tensor> _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv,
                                                         std::optional<std::string> driver = std::nullopt);
TORCH_API Tensor linalg_svdvals(const Tensor& A);
TORCH_API std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& A, std::string UPLO, bool compute_v);
TORCH_API Tensor linalg_eigvalsh(const Tensor& A, std::string UPLO = "L");
TORCH_API Tensor linalg_pinv(const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                             bool hermitian);
TORCH_API Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord,
                                    std::optional<IntArrayRef> dim = std::nullopt, bool keepdim = false,
                                    std::optional<ScalarType> dtype = std::nullopt);

} // namespace reftorch::at
