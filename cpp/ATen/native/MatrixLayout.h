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

// Of t (..., rows, cols), with the rows in sequence or, `columns`, the columns; no tensor where they do not lie so.
inline MatrixLayout layout_if(const Tensor& t, bool columns) {
  const int64_t* sizes = t.sizes().end() - 2;
  const int64_t* strides = t.strides().end() - 2;
  const int slow = columns ? 1 : 0, fast = 1 - slow;
  const int64_t length = std::max<int64_t>(sizes[fast], 1);
  const bool empty = t.numel() == 0; // then its strides may be anything, and contiguous() leaves them
  // Where there is one row its stride may be anything, too: BLAS only wants it large enough.
  const int64_t ld = empty || sizes[slow] <= 1 ? length : strides[slow];
  const bool fits = empty || ((strides[fast] == 1 || sizes[fast] <= 1) && ld >= length);
  return {fits ? t : Tensor(), columns ? cpublas::TransposeType::Transpose : cpublas::TransposeType::NoTranspose, ld};
}

// A matrix that BLAS writes has its rows in sequence; elsewhere it is a copy.
inline MatrixLayout row_major_layout(const Tensor& t) {
  MatrixLayout layout = layout_if(t, /*columns=*/false);
  return layout.tensor.defined() ? layout : layout_if(t.contiguous(), /*columns=*/false);
}

inline MatrixLayout matrix_layout(const Tensor& t) {
  MatrixLayout layout = layout_if(t, /*columns=*/false);
  if (!layout.tensor.defined()) {
    layout = layout_if(t, /*columns=*/true);
  }
  return layout.tensor.defined() ? layout : layout_if(t.contiguous(), /*columns=*/false);
}

} // namespace reftorch::at::native
