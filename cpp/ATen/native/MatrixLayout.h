// Mirrors: aten/src/ATen/native/LinearAlgebraUtils.h, aten/src/ATen/native/cuda/Blas.cpp (prepare_matrix_for_cublas)
// How a matrix lies in memory, as a BLAS asks for it: rows or columns in sequence, `ld` elements from one to the next.
// Only a tensor that is neither (a step in both directions) is copied.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/CPUBlas.h>

#include <algorithm>

namespace reftorch::at::native {

struct MatrixLayout {
  Tensor tensor;
  cpublas::TransposeType trans;
  int64_t ld; // leading dimension
};

// t (..., rows, cols)
inline bool is_row_major(const Tensor& t) {
  const int64_t rows = t.size(-2), cols = t.size(-1);
  return (t.stride(-1) == 1 || cols <= 1) && (rows <= 1 || t.stride(-2) >= std::max<int64_t>(cols, 1));
}

// Where there is one row, its stride may be anything: BLAS only wants it large enough.
inline int64_t row_major_ld(const Tensor& t) {
  return std::max({t.size(-2) <= 1 ? int64_t(0) : t.stride(-2), t.size(-1), int64_t(1)});
}

inline MatrixLayout matrix_layout(const Tensor& t) {
  if (is_row_major(t)) {
    return {t, cpublas::TransposeType::NoTranspose, row_major_ld(t)};
  }
  const int64_t rows = t.size(-2), cols = t.size(-1);
  if ((t.stride(-2) == 1 || rows <= 1) && (cols <= 1 || t.stride(-1) >= std::max<int64_t>(rows, 1))) {
    return {t, cpublas::TransposeType::Transpose, std::max({cols <= 1 ? int64_t(0) : t.stride(-1), rows, int64_t(1)})};
  }
  const Tensor copy = t.contiguous();
  return {copy, cpublas::TransposeType::NoTranspose, row_major_ld(copy)};
}

} // namespace reftorch::at::native
