// Mirrors: aten/src/ATen/native/cpu/SortingKernel.cpp (dim_apply), aten/src/ATen/native/TensorDimApply.h
//
// dim_apply runs a kernel that works on one row along a dimension, for every row of tensors with any strides.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/util/Load.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace reftorch::at::native {

// One row: its elements lie `stride` elements apart. An element of a Row<const T> is read by load (Note [Bool bytes]).
template <typename T>
struct Row {
  T* data;
  int64_t stride, size;
  std::conditional_t<std::is_const_v<T>, std::remove_const_t<T>, T&> operator[](int64_t i) const {
    if constexpr (std::is_const_v<T>) {
      return c10::load(data + i * stride);
    } else {
      return data[i * stride];
    }
  }
};

// Calls f once for each row along `dim`, with the first element of that row in each tensor. The tensors have the same
// sizes in all other dimensions, and none of them is 0-dim.
template <size_t N, typename F>
void dim_apply(const std::array<Tensor, N>& tensors, int64_t dim, const F& f) {
  const Tensor& shape = tensors[0];
  int64_t rows = 1;
  for (int64_t d = 0; d < shape.dim(); d++) {
    rows *= d == dim ? 1 : shape.sizes()[d];
  }
  parallel_for(0, rows, grain_of(shape.sizes()[dim]), [&](int64_t lo, int64_t hi) {
    for (int64_t row = lo; row < hi; row++) {
      std::array<char*, N> first;
      for (size_t k = 0; k < N; k++) {
        first[k] = static_cast<char*>(tensors[k].data_ptr());
      }
      int64_t rest = row;
      for (int64_t d = shape.dim() - 1; d >= 0; d--) {
        if (d != dim) {
          const int64_t size = shape.sizes()[d], i = rest % size;
          rest /= size;
          for (size_t k = 0; k < N; k++) {
            first[k] += i * tensors[k].strides()[d] * static_cast<int64_t>(tensors[k].itemsize());
          }
        }
      }
      f(first);
    }
  });
}

template <typename T>
Row<T> row_of(char* first, const Tensor& tensor, int64_t dim) {
  return {reinterpret_cast<T*>(first), tensor.strides()[dim], tensor.sizes()[dim]};
}

} // namespace reftorch::at::native
