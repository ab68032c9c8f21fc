// Mirrors: aten/src/ATen/native/LinearAlgebraUtils.h
#include <ATen/native/LinearAlgebraUtils.h>

#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/core/boxing/structured.h>
#include <ATen/functorch/TensorWrapper.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TypeMetaName.h>

#include <algorithm>
#include <string>

namespace reftorch::at::native {

void checkFloatingOrComplex(const Tensor& t, const char* name, bool allow_low_precision) {
  TORCH_CHECK(t.is_floating_point(), name, ": Expected a floating point or complex tensor as input. Got ",
              t.scalar_type());
  TORCH_CHECK(allow_low_precision || t.scalar_type() == kFloat || t.scalar_type() == kDouble, name,
              ": Low precision dtypes not supported. Got ", t.scalar_type());
}

void checkLapackDtype(const Tensor& t, const char* kernel) {
  TORCH_CHECK_NOT_IMPLEMENTED(t.scalar_type() == kFloat || t.scalar_type() == kDouble, '"', kernel,
                              "\" not implemented for '", t.scalar_type(), "'");
}

void checkIsMatrix(const Tensor& t, const char* name, const char* arg_name) {
  TORCH_CHECK(t.dim() >= 2, name, ": The input tensor ", arg_name, " must have at least 2 dimensions.");
}

void squareCheckInputs(const Tensor& t, const char* name, const char* arg_name) {
  checkIsMatrix(t, name, arg_name);
  TORCH_CHECK(t.size(-1) == t.size(-2), name, ": ", arg_name, " must be batches of square matrices, but they are ",
              t.size(-2), " by ", t.size(-1), " matrices");
}

void checkSameDtype(const Tensor& t, const Tensor& other, const char* name, const char* arg_name,
                    const char* other_name) {
  TORCH_CHECK(t.scalar_type() == other.scalar_type(), name, ": Expected ", arg_name, " and ", other_name,
              " to have the same dtype, but found ", arg_name, " of type ", t.scalar_type(), " and ", other_name,
              " of type ", other.scalar_type(), " instead");
}

int64_t batchCount(const Tensor& t) {
  int64_t count = 1;
  for (int64_t size : batch_sizes(t)) {
    count *= size;
  }
  return count;
}

DimVector with_sizes(IntArrayRef batch, std::initializer_list<int64_t> sizes) {
  DimVector all(batch);
  all.append(sizes.begin(), sizes.end());
  return all;
}

Tensor empty_column_major(IntArrayRef sizes, const Tensor& like) {
  Tensor t = detail::empty_generic(sizes, like.scalar_type(), like.device());
  DimVector strides(t.strides());
  const size_t n = strides.size();
  strides[n - 2] = 1;
  strides[n - 1] = std::max<int64_t>(sizes[n - 2], 1);
  t.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, 0);
  return t;
}

Tensor nothing_like(const Tensor& t) {
  return detail::empty_generic(int64_t(0), t.scalar_type(), t.device());
}

Tensor cloneBatchedColumnMajor(const Tensor& t, IntArrayRef sizes) {
  Tensor copy = empty_column_major(sizes, t);
  return at::copy_(copy, t);
}

Tensor cloneBatchedColumnMajor(const Tensor& t) {
  return cloneBatchedColumnMajor(t, t.sizes());
}

std::pair<DimVector, DimVector> broadcast_batches(const Tensor& A, const Tensor& B) {
  const DimVector batch = infer_size_dimvector(batch_sizes(A), batch_sizes(B));
  return {with_sizes(batch, {A.size(-2), A.size(-1)}), with_sizes(batch, {B.size(-2), B.size(-1)})};
}

void checkInputsSolver(const Tensor& A, const Tensor& B, bool left, const char* name) {
  squareCheckInputs(A, name, "A");
  checkIsMatrix(B, name, "B");
  TORCH_CHECK(left ? A.size(-2) == B.size(-2) : A.size(-1) == B.size(-1), name,
              ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", A.size(-2), "x",
              A.size(-1), " and ", B.size(-2), "x", B.size(-1), ")");
}

bool is_vector_rhs(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (A.dim() - 1 == B.dim() && B.sizes() == A.sizes().slice(0, A.dim() - 1));
}

Tensor zero_infos(const Tensor& A) {
  Tensor infos = detail::empty_generic(batch_sizes(A), kInt, A.device());
  zero_impl(infos);
  return infos;
}

void for_first_info(const Tensor& infos, c10::function_ref<void(int64_t place, int info)> report) {
  const Tensor plain = at::reshape(functorch::innermost(infos), {-1});
  if (plain.device().is_meta()) {
    return;
  }
  const Tensor bad = at::nonzero(plain);
  if (bad.numel() > 0) {
    const int64_t place = at::select(bad, 0, 0).item().toLong();
    report(place, static_cast<int>(at::select(plain, 0, place).item().toLong()));
  }
}

void _linalg_check_errors(const Tensor& infos, const char* name, bool is_matrix) {
  for_first_info(infos, [&](int64_t place, int info) {
    const std::string where = is_matrix ? c10::str(name, ": ") : c10::str(name, ": (Batch element ", place, "): ");
    const std::string op = name;
    const bool solving = op.find("solve") != std::string::npos;
    if (op.find("inv") != std::string::npos) {
      TORCH_CHECK_LINALG(false, where, "The diagonal element ", info,
                         " is zero, the inversion could not be completed because the input matrix is singular.");
    }
    TORCH_CHECK_LINALG(!solving, where, "The solver failed because the input matrix is singular.");
    if (op.find("cholesky") != std::string::npos) {
      TORCH_CHECK_LINALG(false, where,
                         "The factorization could not be completed because the input is not positive-definite (the "
                         "leading minor of order ",
                         info, " is not positive-definite).");
    }
    TORCH_CHECK_LINALG(!(op.find("svd") != std::string::npos && info == -4), where,
                       "The algorithm failed to converge because the input matrix contained non-finite values.");
    TORCH_INTERNAL_ASSERT(info > 0, where, "Argument ", -info, " has illegal value.");
    TORCH_CHECK_LINALG(false, where,
                       "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                       "repeated ",
                       op.find("svd") != std::string::npos ? "singular values" : "eigenvalues", " (error code: ", info,
                       ").");
  });
}

void give_result(const Tensor& result, Tensor& out) {
  if (!out.defined()) {
    out = result;
    return;
  }
  TORCH_CHECK(out.scalar_type() == result.scalar_type(), "Expected out tensor to have dtype ",
              type_meta_name(result.scalar_type()), ", but got ", type_meta_name(out.scalar_type()), " instead");
  impl::copy_to_out(result, out);
}

void give_castable_result(const Tensor& result, Tensor& out) {
  if (out.defined() && out.scalar_type() != result.scalar_type()) {
    impl::copy_to_out(result, out, impl::OutDtype::Castable);
  } else {
    give_result(result, out);
  }
}

} // namespace reftorch::at::native
