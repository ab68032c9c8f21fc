// Mirrors: aten/src/ATen/cuda/detail/OffsetCalculator.cuh
//
// Computes the offsets of an element in several operands from the index of the element. A kernel gets the calculator by
// value instead of the TensorIterator, which it could not read. Left out: division by multiplication, 32-bit indexes.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <cstdint>

namespace reftorch::at::native {

constexpr int kMaxDims = 25; // as in PyTorch

template <int N>
struct OffsetCalculator {
  int ndim = 0;
  int64_t sizes[kMaxDims];      // the fastest dimension first
  int64_t strides[kMaxDims][N]; // in bytes

  // Adds a dimension that varies more slowly than those added before. stride(k) is the stride of operand k.
  template <typename Stride>
  void add_dim(int64_t size, const Stride& stride) {
    TORCH_CHECK(ndim < kMaxDims, "tensor has too many (>", kMaxDims, ") dims");
    sizes[ndim] = size;
    for (int k = 0; k < N; k++) {
      strides[ndim][k] = stride(k);
    }
    ndim++;
  }
  int64_t numel() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) {
      n *= sizes[d];
    }
    return n;
  }

  C10_HOST_DEVICE void get(int64_t linear, int64_t* offsets) const {
    for (int k = 0; k < N; k++) {
      offsets[k] = 0;
    }
    for (int d = 0; d < ndim; d++) {
      int64_t i = linear; // the rest is the index along the last dimension, without a division
      if (d < ndim - 1) {
        i = linear % sizes[d];
        linear /= sizes[d];
      }
      for (int k = 0; k < N; k++) {
        offsets[k] += i * strides[d][k];
      }
    }
  }
};

} // namespace reftorch::at::native
