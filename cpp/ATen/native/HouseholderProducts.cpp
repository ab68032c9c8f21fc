// Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp (geqrf, linalg_householder_product, ormqr)
//
// Products of reflections H_i = I - tau_i v_i v_i^T: the orthogonal factor in the form in which LAPACK stores it.
// Column i of A holds v_i below the diagonal; the element of v_i on the diagonal is 1 and is not stored. The ops are
// composites of other ops, so their gradients need no formula.
#include <ATen/native/BatchLinearAlgebra.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>

namespace reftorch::at::native {

static void geqrf_out(const Tensor& self, Tensor& a, Tensor& tau) {
  checkIsMatrix(self, "torch.geqrf", "input");
  checkLapackDtype(self, "geqrf_cpu");
  const int64_t k = std::min(self.size(-2), self.size(-1));
  const Tensor packed = cloneBatchedColumnMajor(self);
  const Tensor factors = detail::empty_generic(with_sizes(batch_sizes(self), {k}), self.scalar_type(), self.device());
  if (self.numel() > 0) {
    geqrf_stub(self.device().type(), packed, factors);
  }
  give_castable_result(packed, a);
  give_castable_result(factors, tau);
}

static void check_reflectors(const char* name, const Tensor& A, const Tensor& tau) {
  TORCH_CHECK(A.dim() >= 2, name, ": input must have at least 2 dimensions.");
  TORCH_CHECK(A.size(-2) >= A.size(-1), name, ": input.shape[-2] must be greater than or equal to input.shape[-1]");
  TORCH_CHECK(A.size(-1) >= tau.size(-1), name, ": input.shape[-1] must be greater than or equal to tau.shape[-1]");
  TORCH_CHECK(A.dim() - tau.dim() == 1, name,
              ": Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(),
              " and input.ndim is equal to ", A.dim());
  TORCH_CHECK(tau.sizes().slice(0, tau.dim() - 1) == batch_sizes(A), name,
              ": Expected batch dimensions of tau to be equal to input.shape[:-2], but got ",
              tau.sizes().slice(0, tau.dim() - 1));
  TORCH_CHECK(tau.scalar_type() == A.scalar_type(), name, ": tau dtype ", tau.scalar_type(),
              " does not match input dtype ", A.scalar_type());
  checkLapackDtype(A, "orgqr_cpu");
}

// The first n columns of the identity matrix, once for each matrix of A.
static Tensor identity_columns(const Tensor& A, int64_t n) {
  Tensor result = at::zeros(with_sizes(batch_sizes(A), {A.size(-2), n}), A.scalar_type(), A.device());
  Tensor diagonal = at::diagonal(result, 0, -2, -1);
  at::fill_(diagonal, 1);
  return result;
}

// Returns H_1 H_2 ... H_k X, or H_k ... H_1 X if `transpose`.
static Tensor reflected(const Tensor& A, const Tensor& tau, Tensor X, bool transpose) {
  const int64_t k = tau.size(-1);
  const Tensor vectors = at::add(at::tril(at::narrow(A, -1, 0, k), -1), identity_columns(A, k));
  for (int64_t step = 0; step < k; step++) {
    const int64_t i = transpose ? step : k - 1 - step;
    const Tensor v = at::narrow(vectors, -1, i, 1), factor = at::unsqueeze(at::narrow(tau, -1, i, 1), -1);
    X = at::sub(X, at::mul(factor, at::matmul(v, at::matmul(at::transpose(v, -2, -1), X))));
  }
  return X;
}

// Copies the matrices to column-major memory. The copy is made of ops, so that it works under vmap and gradients flow
// through it.
static Tensor column_major(const Tensor& matrices) {
  return at::transpose(at::clone(at::transpose(matrices, -2, -1), MemoryFormat::Contiguous), -2, -1);
}

static Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) {
  check_reflectors("torch.linalg.householder_product", input, tau);
  return column_major(reflected(input, tau, identity_columns(input, input.size(-1)), /*transpose=*/false));
}

static Tensor& linalg_householder_product_out(const Tensor& input, const Tensor& tau, Tensor& out) {
  give_castable_result(linalg_householder_product(input, tau), out);
  return out;
}

static Tensor orgqr(const Tensor& self, const Tensor& input2) {
  return linalg_householder_product(self, input2);
}

// Returns Q C, or C Q if not `left`; with `transpose`, Q^T replaces Q. Q is the whole product, and C is input3.
static Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool transpose) {
  TORCH_CHECK(self.dim() >= 2, "torch.ormqr: input must have at least 2 dimensions.");
  TORCH_CHECK(input3.dim() >= 2, "torch.ormqr: other must have at least 2 dimensions.");
  TORCH_CHECK(input3.size(left ? -2 : -1) == self.size(-2), "torch.ormqr: other.shape[", left ? -2 : -1,
              "] must be equal to input.shape[-2]");
  TORCH_CHECK(input2.size(-1) == std::min(input3.size(left ? -2 : -1), self.size(-1)),
              "torch.ormqr: tau.shape[-1] must be equal to min(other.shape[", left ? -2 : -1, "], input.shape[-1])");
  TORCH_CHECK(self.dim() - input2.dim() == 1,
              "torch.ormqr: Expected tau to have one dimension less than input, but got ", input2.dim(), " and ",
              self.dim(), " dimensions");
  TORCH_CHECK(self.dim() == input3.dim(),
              "torch.ormqr: Expected other to have the same number of dimensions as input, ",
              "but got other.ndim equal to ", input3.dim(), " and input.ndim is equal to ", self.dim());
  TORCH_CHECK(input2.sizes().slice(0, input2.dim() - 1) == batch_sizes(self),
              "torch.ormqr: Expected batch dimensions of ", "tau to be equal to input.shape[:-2], but got ",
              input2.sizes().slice(0, input2.dim() - 1));
  TORCH_CHECK(batch_sizes(input3) == batch_sizes(self),
              "torch.ormqr: Expected batch dimensions of other to be equal to ", "input.shape[:-2], but got ",
              batch_sizes(input3));
  checkSameDtype(self, input2, "torch.ormqr", "input", "tau");
  checkLapackDtype(self, "ormqr_cpu");
  checkSameDtype(self, input3, "torch.ormqr", "input", "other");
  const Tensor C = left ? input3 : at::transpose(input3, -2, -1); // C Q = (Q^T C^T)^T
  const Tensor product = reflected(self, input2, C, left == transpose);
  return column_major(left ? product : at::transpose(product, -2, -1));
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("geqrf(Tensor self) -> (Tensor a, Tensor tau)", TORCH_FN(geqrf_out), kernels(geqrf_stub),
                   derive::OUT);
  m.def_composite("linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
                  TORCH_FN(linalg_householder_product), variants::LINALG);
  m.def("linalg_householder_product.out(Tensor input, Tensor tau, *, Tensor(a!) out) -> Tensor(a!)",
        TORCH_FN(linalg_householder_product_out), variants::LINALG);
  m.def_composite("orgqr(Tensor self, Tensor input2) -> Tensor", TORCH_FN(orgqr));
  m.def("orgqr.out(Tensor self, Tensor input2, *, Tensor(a!) out) -> Tensor(a!)",
        TORCH_FN(linalg_householder_product_out), variants::FUNCTION);
  m.def_composite_with_out(
      "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
      TORCH_FN(ormqr));
}

} // namespace reftorch::at::native
