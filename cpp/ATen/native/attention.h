// Mirrors: aten/src/ATen/native/transformers/attention.h
//
// The kernels of scaled dot-product attention that never store the whole matrix of weights.
//
// Note [Flash attention]
// Problem: softmax(Q K^T) V has a weight for each pair of a query and a key. Storing all weights takes more memory and
// time than computing them. Trick: the kernel computes the weights of a tile of queries and keys, uses them, and
// forgets them. A softmax needs the largest score and the sum of the exponentials of all keys. The kernel keeps both
// for the keys so far; where a later tile has a larger score, it multiplies the result and the sum so far by
// e^(old largest - new largest). The logarithm of the final sum, logsumexp, is stored for the backward: with it,
// e^(score - logsumexp) is a weight again, without another pass over the keys. A causal tile leaves out the keys after
// its last query, which saves nearly half of the products.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

struct AttentionOptions {
  bool is_causal;
  double scale; // of the scores
};

// query (B, H, L, E), key and value (B, G, S, E), where G divides H: H / G heads of queries share a head of keys.
// mask, added to the scores, is undefined or has the shape (B, H, L, S), with strides of 0 where it is broadcast.
// output has the shape of query. logsumexp (B, H, L). All are float or double, and the last stride is 1 for all but
// mask. A query without a key gets zeros, and 0 in logsumexp.
using flash_attention_fn = void (*)(const Tensor& output, const Tensor& logsumexp, const Tensor& query,
                                    const Tensor& key, const Tensor& value, const Tensor& mask,
                                    const AttentionOptions& options);
// grad_query has the shape of query; grad_key and grad_value have the shape of key. All three are contiguous in their
// last dimension, and zeros before the call.
using flash_attention_backward_fn = void (*)(const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                                             const Tensor& grad_output, const Tensor& query, const Tensor& key,
                                             const Tensor& value, const Tensor& output, const Tensor& logsumexp,
                                             const Tensor& mask, const AttentionOptions& options);

DECLARE_DISPATCH(flash_attention_fn, flash_attention_stub)
DECLARE_DISPATCH(flash_attention_backward_fn, flash_attention_backward_stub)

} // namespace reftorch::at::native
