// Mirrors: aten/src/ATen/core/TensorAccessor.h
//
// Elements by their indexes, a[i][j], for the sources of extensions. An accessor borrows the memory, sizes and strides
// of the tensor, and checks no index, as in PyTorch. Left out: packed accessors, which copy sizes and strides for a
// GPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <type_traits>

namespace reftorch::at {

template <typename T, size_t N>
class TensorAccessor final {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  // Returns an element if this is the last dimension, and otherwise the accessor of the remaining dimensions.
  decltype(auto) operator[](int64_t i) const {
    if constexpr (N == 1) {
      return (data_[i * strides_[0]]);
    } else {
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
    }
  }
  int64_t size(int64_t dim) const {
    return sizes_[dim];
  }
  int64_t stride(int64_t dim) const {
    return strides_[dim];
  }
  IntArrayRef sizes() const {
    return IntArrayRef(sizes_, N);
  }
  IntArrayRef strides() const {
    return IntArrayRef(strides_, N);
  }
  T* data() const {
    return data_;
  }

 private:
  T* data_;
  const int64_t* sizes_;
  const int64_t* strides_;
};

template <typename T, size_t N>
TensorAccessor<T, N> Tensor::accessor() const& {
  static_assert(N > 0, "accessor is for the elements of a tensor; a tensor of no dimensions has data_ptr<T>()");
  TORCH_CHECK(dim() == N, "TensorAccessor expected ", N, " dims but tensor has ", dim());
  return TensorAccessor<T, N>(data_ptr<T>(), sizes().data(), strides().data());
}

} // namespace reftorch::at
