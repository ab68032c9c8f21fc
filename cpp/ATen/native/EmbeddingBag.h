// Mirrors: aten/src/ATen/native/EmbeddingBag.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

enum class EmbeddingBagMode : int64_t { Sum = 0, Mean = 1, Max = 2 };

// Says how the kernels join the rows of a bag to one row.
struct EmbeddingBagOptions {
  EmbeddingBagMode mode;
  int64_t padding_idx; // the number of the row that is left out of every bag; -1 for none
  bool scale_grad_by_freq;
};

// All tensors are contiguous; V rows of D features in the table, N row numbers in B bags. weight: (V, D);
// indices, offset2bag: (N); offsets: (B) or (B + 1), where the last one ends the last bag; bag_size: (B); int64.
// per_sample_weights: (N) or undefined.
//
// output: (B, D); max_indices: (B, D) for the maximum, otherwise it is not written.
using embedding_bag_fn = void (*)(const Tensor& output, const Tensor& offset2bag, const Tensor& bag_size,
                                  const Tensor& max_indices, const Tensor& weight, const Tensor& indices,
                                  const Tensor& offsets, const Tensor& per_sample_weights,
                                  const EmbeddingBagOptions& options);
// grad: (B, D); the caller has filled grad_weight (V, D) with zeros.
using embedding_bag_dense_backward_fn = void (*)(const Tensor& grad_weight, const Tensor& grad, const Tensor& indices,
                                                 const Tensor& offset2bag, const Tensor& bag_size,
                                                 const Tensor& max_indices, const Tensor& per_sample_weights,
                                                 const EmbeddingBagOptions& options);
// grad: (B, D), of a sum; result: (N).
using embedding_bag_per_sample_weights_backward_fn = void (*)(const Tensor& result, const Tensor& grad,
                                                              const Tensor& weight, const Tensor& indices,
                                                              const Tensor& offset2bag, int64_t padding_idx);
DECLARE_DISPATCH(embedding_bag_fn, embedding_bag_stub)
DECLARE_DISPATCH(embedding_bag_dense_backward_fn, embedding_bag_dense_backward_stub)
DECLARE_DISPATCH(embedding_bag_per_sample_weights_backward_fn, embedding_bag_per_sample_weights_backward_stub)

} // namespace reftorch::at::native
