// Mirrors: aten/src/ATen/native/LinearAlgebraUtils.h
// What ops on matrices, and on batches of matrices (*, rows, cols), have in common: checks, and the column-major memory
// that LAPACK reads and writes.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <tuple>
#include <utility>

namespace reftorch::at::native {

// RuntimeError unless the elements are floats; of 32 bits or more unless `allow_low_precision`.
TORCH_API void checkFloatingOrComplex(const Tensor& t, const char* name, bool allow_low_precision = true);
// NotImplementedError unless the elements are what LAPACK takes, float32 or float64.
TORCH_API void checkLapackDtype(const Tensor& t, const char* kernel);
TORCH_API void checkIsMatrix(const Tensor& t, const char* name, const char* arg_name = "A");
TORCH_API void squareCheckInputs(const Tensor& t, const char* name, const char* arg_name = "A");
TORCH_API void checkSameDtype(const Tensor& t, const Tensor& other, const char* name, const char* arg_name = "A",
                              const char* other_name = "B");

// The number of matrices.
TORCH_API int64_t batchCount(const Tensor& t);
// The dimensions before the last two.
inline IntArrayRef batch_sizes(const Tensor& t) {
  return t.sizes().slice(0, t.dim() - 2);
}
// `batch` followed by the further sizes.
TORCH_API DimVector with_sizes(IntArrayRef batch, std::initializer_list<int64_t> sizes);

// Fresh memory in which each matrix lies column by column, and the matrices one after another.
TORCH_API Tensor empty_column_major(IntArrayRef sizes, const Tensor& like);
// No elements, of t's dtype: what a result is that was not asked for.
TORCH_API Tensor nothing_like(const Tensor& t);
// A copy of t, which may broadcast, in such memory.
TORCH_API Tensor cloneBatchedColumnMajor(const Tensor& t);
TORCH_API Tensor cloneBatchedColumnMajor(const Tensor& t, IntArrayRef sizes);

// The shapes that A (*, n, n) and B (*, n, k), or (*, k, n) if not `left`, broadcast to; an error where they do not
// fit.
TORCH_API std::pair<DimVector, DimVector> broadcast_batches(const Tensor& A, const Tensor& B);
TORCH_API void checkInputsSolver(const Tensor& A, const Tensor& B, bool left, const char* name);
// Whether B holds one vector, not a matrix, for each matrix of A (*, rows, cols).
TORCH_API bool is_vector_rhs(const Tensor& A, const Tensor& B);
// `infos`: one int32 for each matrix, 0 to begin with.
TORCH_API Tensor zero_infos(const Tensor& A);
// Calls report(place, info) for the first matrix whose info is not 0. Nothing is known of meta tensors, so there is no
// report for them.
void for_first_info(const Tensor& infos, c10::function_ref<void(int64_t place, int info)> report);
// LinAlgError that names the first matrix whose info is not 0, and says what that means in the op `name`.
TORCH_API void _linalg_check_errors(const Tensor& infos, const char* name, bool is_matrix);

// How the result of a structured op reaches `out`: it becomes it, or is copied into one that is there, of its dtype.
TORCH_API void give_result(const Tensor& result, Tensor& out);
// The same for an `out` of any dtype that the result can be cast to.
TORCH_API void give_castable_result(const Tensor& result, Tensor& out);

} // namespace reftorch::at::native
