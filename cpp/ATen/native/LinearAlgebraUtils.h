// Mirrors: aten/src/ATen/native/LinearAlgebraUtils.h
//
// Checks for ops on matrices and on batches of matrices (*, rows, cols), and the column-major memory that LAPACK reads
// and writes.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <tuple>
#include <utility>

namespace reftorch::at::native {

// Raises RuntimeError unless the elements are floats, and if not `allow_low_precision`, floats of 32 bits or more.
TORCH_API void checkFloatingOrComplex(const Tensor& t, const char* name, bool allow_low_precision = true);
// Raises NotImplementedError unless the dtype is one that LAPACK supports: float32 or float64.
TORCH_API void checkLapackDtype(const Tensor& t, const char* kernel);
TORCH_API void checkIsMatrix(const Tensor& t, const char* name, const char* arg_name = "A");
TORCH_API void squareCheckInputs(const Tensor& t, const char* name, const char* arg_name = "A");
TORCH_API void checkSameDtype(const Tensor& t, const Tensor& other, const char* name, const char* arg_name = "A",
                              const char* other_name = "B");

// The number of matrices in a batch.
TORCH_API int64_t batchCount(const Tensor& t);
// The dimensions before the last two.
inline IntArrayRef batch_sizes(const Tensor& t) {
  return t.sizes().slice(0, t.dim() - 2);
}
// Returns `batch` followed by `sizes`.
TORCH_API DimVector with_sizes(IntArrayRef batch, std::initializer_list<int64_t> sizes);

// Allocates memory in which each matrix is column-major and the matrices lie one after another. The elements are
// undefined.
TORCH_API Tensor empty_column_major(IntArrayRef sizes, const Tensor& like);
// Returns a tensor without elements, of the dtype of t: the value of a result that the caller did not ask for.
TORCH_API Tensor nothing_like(const Tensor& t);
// Returns a copy of t in the memory of empty_column_major. The second form broadcasts t to `sizes`.
TORCH_API Tensor cloneBatchedColumnMajor(const Tensor& t);
TORCH_API Tensor cloneBatchedColumnMajor(const Tensor& t, IntArrayRef sizes);

// Returns the shapes that A (*, n, n) and B (*, n, k), or (*, k, n) if not `left`, are broadcast to. Raises where the
// shapes do not fit.
TORCH_API std::pair<DimVector, DimVector> broadcast_batches(const Tensor& A, const Tensor& B);
TORCH_API void checkInputsSolver(const Tensor& A, const Tensor& B, bool left, const char* name);
// Whether B holds one vector, instead of one matrix, for each matrix of A (*, rows, cols).
TORCH_API bool is_vector_rhs(const Tensor& A, const Tensor& B);
// Returns `infos`: one int32 for each matrix of A, all 0 at first.
TORCH_API Tensor zero_infos(const Tensor& A);
// Calls report(place, info) for the first matrix whose info is not 0. Meta tensors hold no values, so nothing is
// reported for them.
void for_first_info(const Tensor& infos, c10::function_ref<void(int64_t place, int info)> report);
// Raises LinAlgError if some info is not 0. The message names the first such matrix and explains the info for the op
// `name`.
TORCH_API void _linalg_check_errors(const Tensor& infos, const char* name, bool is_matrix);

// Gives the result of a structured op to `out`: an undefined `out` becomes the result; otherwise the result is copied
// into `out`, which must have the same dtype.
TORCH_API void give_result(const Tensor& result, Tensor& out);
// give_result for an `out` of any dtype that the result can be cast to.
TORCH_API void give_castable_result(const Tensor& result, Tensor& out);

} // namespace reftorch::at::native
