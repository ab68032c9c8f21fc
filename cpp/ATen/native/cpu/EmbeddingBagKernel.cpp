// Mirrors: aten/src/ATen/native/EmbeddingBag.cpp (its kernels)
//
// Each kernel is the plain loop over the row numbers; sums are in float for the 16-bit floats.
#include <ATen/Dispatch.h>
#include <ATen/native/EmbeddingBag.h>
#include <ATen/native/cpu/Scratch.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

template <typename T>
const T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

void check_offsets(const int64_t* offsets, int64_t count, int64_t indices) {
  if (count == 0) {
    return;
  }
  TORCH_CHECK(offsets[0] == 0,
              "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
              "However, got ",
              offsets[0]);
  TORCH_CHECK(offsets[count - 1] <= indices, "offsets[-1] can not be greater than input's length ({", indices,
              "}), but got offsets[-1] of {", offsets[count - 1], "}");
  for (int64_t i = 1; i < count; i++) {
    TORCH_CHECK(offsets[i - 1] <= offsets[i], "embedding_bag: expected offsets that do not decrease, but got ",
                offsets[i - 1], " before ", offsets[i]);
  }
}

void check_row(int64_t row, int64_t rows) {
  TORCH_CHECK(row >= 0 && row < rows, "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be ",
              row);
}

// weight: (V, D); indices: (N); output: (B, D). For a sum or mean, output[b] = sum_i factors[i] weight[indices[i]] over
// the row numbers i of bag b.
void embedding_bag_kernel(const Tensor& output, const Tensor& offset2bag, const Tensor& bag_size,
                          const Tensor& max_indices, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                          const Tensor& per_sample_weights, const EmbeddingBagOptions& options) {
  const int64_t V = weight.sizes()[0], D = weight.sizes()[1], N = indices.numel(), B = output.sizes()[0];
  const int64_t *rows = indices.data_ptr<int64_t>(), *begins = offsets.data_ptr<int64_t>();
  int64_t *bag_of = offset2bag.data_ptr<int64_t>(), *sizes = bag_size.data_ptr<int64_t>();
  int64_t* places = max_indices.data_ptr<int64_t>();
  const bool is_max = options.mode == EmbeddingBagMode::Max;
  check_offsets(begins, offsets.numel(), N);
  dispatch<FloatingTypesAndReduced>(weight.scalar_type(), "embedding_bag_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t *table = weight.data_ptr<scalar_t>(), *factors = data_or_null<scalar_t>(per_sample_weights);
    scalar_t* out = output.data_ptr<scalar_t>();
    Scratch<opmath_t> joined(D);
    for (int64_t b = 0; b < B; b++) {
      const int64_t end = b + 1 < offsets.numel() ? begins[b + 1] : N;
      std::fill(joined.begin(), joined.end(), opmath_t(0));
      if (is_max) {
        std::fill(places + b * D, places + (b + 1) * D, -1);
      }
      sizes[b] = 0;
      for (int64_t i = begins[b]; i < end; i++) {
        bag_of[i] = b;
        check_row(rows[i], V);
        if (rows[i] == options.padding_idx) {
          continue;
        }
        const scalar_t* row = table + rows[i] * D;
        const opmath_t factor = factors != nullptr ? opmath_t(factors[i]) : opmath_t(1);
        for (int64_t d = 0; d < D; d++) {
          const opmath_t value = row[d];
          if (!is_max) {
            joined[d] += factor * value;
          } else if (sizes[b] == 0 || value > joined[d]) {
            joined[d] = value;
            places[b * D + d] = rows[i];
          }
        }
        sizes[b]++;
      }
      const bool is_mean = options.mode == EmbeddingBagMode::Mean && sizes[b] > 0;
      const opmath_t divisor = is_mean ? opmath_t(sizes[b]) : opmath_t(1);
      for (int64_t d = 0; d < D; d++) {
        out[b * D + d] = joined[d] / divisor;
      }
    }
    // Row numbers after the last offset belong to no bag if that offset ends the last bag.
    std::fill(bag_of + std::min(N, offsets.numel() > B ? begins[B] : N), bag_of + N, -1);
  });
}

// grad: (B, D); grad_weight: (V, D). Each row number adds the gradient of its bag, times its factor, to its row. The
// gradient of a maximum goes to the row that the element came from.
void embedding_bag_dense_backward_kernel(const Tensor& grad_weight, const Tensor& grad, const Tensor& indices,
                                         const Tensor& offset2bag, const Tensor& bag_size, const Tensor& max_indices,
                                         const Tensor& per_sample_weights, const EmbeddingBagOptions& options) {
  const int64_t V = grad_weight.sizes()[0], D = grad_weight.sizes()[1], N = indices.numel(), B = grad.sizes()[0];
  const int64_t *rows = indices.data_ptr<int64_t>(), *bag_of = offset2bag.data_ptr<int64_t>();
  const int64_t *sizes = bag_size.data_ptr<int64_t>(), *places = max_indices.data_ptr<int64_t>();
  dispatch<FloatingTypesAndReduced>(grad.scalar_type(), "embedding_bag_backward", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t *g = grad.data_ptr<scalar_t>(), *factors = data_or_null<scalar_t>(per_sample_weights);
    scalar_t* result = grad_weight.data_ptr<scalar_t>();
    if (options.mode == EmbeddingBagMode::Max) {
      for (int64_t i = 0; i < B * D; i++) {
        if (places[i] >= 0) { // an empty bag has no rows
          check_row(places[i], V);
          scalar_t& element = result[places[i] * D + i % D];
          element = opmath_t(element) + opmath_t(g[i]);
        }
      }
      return;
    }
    Scratch<int64_t> counts(V);
    std::fill(counts.begin(), counts.end(), 0);
    for (int64_t i = 0; i < N; i++) {
      check_row(rows[i], V);
      counts[rows[i]]++;
    }
    for (int64_t i = 0; i < N; i++) {
      const int64_t bag = bag_of[i];
      if (rows[i] == options.padding_idx || bag < 0 || bag >= B) {
        continue;
      }
      opmath_t factor = factors != nullptr ? opmath_t(factors[i]) : opmath_t(1);
      factor /= options.scale_grad_by_freq ? opmath_t(counts[rows[i]]) : opmath_t(1);
      factor /= options.mode == EmbeddingBagMode::Mean ? opmath_t(sizes[bag]) : opmath_t(1);
      for (int64_t d = 0; d < D; d++) {
        scalar_t& element = result[rows[i] * D + d];
        element = opmath_t(element) + factor * opmath_t(g[bag * D + d]);
      }
    }
  });
}

// result[i] = <grad[bag of i], weight[indices[i]]>
void embedding_bag_per_sample_weights_backward_kernel(const Tensor& result, const Tensor& grad, const Tensor& weight,
                                                      const Tensor& indices, const Tensor& offset2bag,
                                                      int64_t padding_idx) {
  const int64_t V = weight.sizes()[0], D = weight.sizes()[1], N = indices.numel(), B = grad.sizes()[0];
  const int64_t *rows = indices.data_ptr<int64_t>(), *bag_of = offset2bag.data_ptr<int64_t>();
  dispatch<FloatingTypesAndReduced>(
      grad.scalar_type(), "_embedding_bag_per_sample_weights_backward_cpu", [&](auto type) {
        using scalar_t = typename decltype(type)::type;
        using opmath_t = opmath_type<scalar_t>;
        const scalar_t *g = grad.data_ptr<scalar_t>(), *table = weight.data_ptr<scalar_t>();
        scalar_t* out = result.data_ptr<scalar_t>();
        for (int64_t i = 0; i < N; i++) {
          opmath_t sum = 0;
          check_row(rows[i], V);
          if (rows[i] != padding_idx && bag_of[i] >= 0 && bag_of[i] < B) {
            for (int64_t d = 0; d < D; d++) {
              sum += opmath_t(g[bag_of[i] * D + d]) * opmath_t(table[rows[i] * D + d]);
            }
          }
          out[i] = sum;
        }
      });
}

} // namespace

REGISTER_CPU_DISPATCH(embedding_bag_stub, embedding_bag_kernel)
REGISTER_CPU_DISPATCH(embedding_bag_dense_backward_stub, embedding_bag_dense_backward_kernel)
REGISTER_CPU_DISPATCH(embedding_bag_per_sample_weights_backward_stub, embedding_bag_per_sample_weights_backward_kernel)

} // namespace reftorch::at::native
