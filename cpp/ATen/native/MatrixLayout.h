// Mirrors: aten/src/ATen/native/LinearAlgebraUtils.h, aten/src/ATen/native/cuda/Blas.cpp (prepare_matrix_for_cublas)
//
// Describes how a matrix lies in memory in the terms of a BLAS: its rows or its columns are dense, and the next row or
// column starts `ld` elements later. Only a tensor that is neither (a stride in both directions) is copied.
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

// Returns the layout of t (..., rows, cols) with dense rows, or with dense columns if `columns`; the tensor of the
// layout is undefined where the rows or columns are not dense.
inline MatrixLayout layout_if(const Tensor& t, bool columns) {
  const int64_t* sizes = t.sizes().end() - 2;
  const int64_t* strides = t.strides().end() - 2;
  const int slow = columns ? 1 : 0, fast = 1 - slow;
  const int64_t length = std::max<int64_t>(sizes[fast], 1);
  const bool empty = t.numel() == 0; // the strides of an empty tensor may be anything, and contiguous() keeps them
  // A single row may have any stride, too, but BLAS requires that `ld` is at least the length of a row.
  const int64_t ld = empty || sizes[slow] <= 1 ? length : strides[slow];
  const bool fits = empty || ((strides[fast] == 1 || sizes[fast] <= 1) && ld >= length);
  return {fits ? t : Tensor(), columns ? cpublas::TransposeType::Transpose : cpublas::TransposeType::NoTranspose, ld};
}

// The layout of a matrix that BLAS writes: its rows are dense. If t has no dense rows, the layout is that of a copy.
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
