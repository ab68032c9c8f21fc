// Mirrors: aten/src/ATen/native/cuda/EmbeddingBag.cu, aten/src/ATen/native/cuda/EmbeddingBackwardKernel.cu
//
// embedding_bag and its gradients. In the forward, each feature of a bag has a thread. In the backward, a thread adds
// up one feature of all row numbers in turn, because a row may occur several times. A row number or an offset out of
// range fails an assertion on the device, and a later call of CUDA reports the failure. Left out: the backward that
// sorts the row numbers, so that the rows have threads of their own.
#include <ATen/Functions.h>
#include <ATen/native/EmbeddingBag.h>

#include <ATen/native/cuda/KernelUtils.cuh>

namespace reftorch::at::native {
namespace {

// The row numbers of a bag: those from begin to end, without padding_idx.
struct Bags {
  const int64_t *rows, *offsets; // (N), (bags) or (bags + 1)
  int64_t count, n_offsets, N, V, padding_idx;

  Bags(int64_t count, int64_t V, const Tensor& indices, const Tensor& offsets, int64_t padding_idx)
      : rows(indices.data_ptr<int64_t>()),
        offsets(offsets.data_ptr<int64_t>()),
        count(count),
        n_offsets(offsets.numel()),
        N(indices.numel()),
        V(V),
        padding_idx(padding_idx) {}

  __device__ int64_t end(int64_t b) const {
    return b + 1 < n_offsets ? offsets[b + 1] : N;
  }
  // Calls f(i, row) for each row number i of bag b that counts.
  template <typename F>
  __device__ void for_each(int64_t b, const F& f) const {
    CUDA_KERNEL_ASSERT(offsets[b] >= (b == 0 ? 0 : offsets[b - 1]) && offsets[b] <= N && end(b) <= N &&
                       "embedding_bag: offsets out of range");
    for (int64_t i = offsets[b]; i < end(b); i++) {
      CUDA_KERNEL_ASSERT(rows[i] >= 0 && rows[i] < V && "embedding_bag: expected idx >= 0 && idx < num_embeddings");
      if (rows[i] != padding_idx) {
        f(i, rows[i]);
      }
    }
  }
};

// offset2bag: (N), bag_size: (bags). The caller has filled offset2bag with -1: row numbers after the last offset belong
// to no bag if that offset ends the last bag.
__global__ void embedding_bag_sizes_kernel(int64_t* offset2bag, int64_t* bag_size, Bags bags) {
  CUDA_KERNEL_LOOP(b, bags.count) {
    CUDA_KERNEL_ASSERT((b > 0 || bags.offsets[0] == 0) && "offsets[0] has to be 0");
    int64_t size = 0;
    bags.for_each(b, [&](int64_t, int64_t) { size++; });
    for (int64_t i = bags.offsets[b]; i < bags.end(b); i++) {
      offset2bag[i] = b;
    }
    bag_size[b] = size;
  }
}

// output: (bags, D), weight: (V, D), factors: (N) or null; places: (bags, D) for the maximum.
template <typename scalar_t>
__global__ void embedding_bag_kernel(scalar_t* output, int64_t* places, const scalar_t* weight, const scalar_t* factors,
                                     int64_t D, EmbeddingBagMode mode, Bags bags) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(element, bags.count * D) {
    const int64_t d = element % D;
    opmath_t joined = 0;
    int64_t size = 0, place = -1;
    bags.for_each(element / D, [&](int64_t i, int64_t row) {
      const opmath_t value = weight[row * D + d];
      if (mode != EmbeddingBagMode::Max) {
        joined += factors != nullptr ? opmath_t(factors[i]) * value : value;
      } else if (size == 0 || value > joined) {
        joined = value;
        place = row;
      }
      size++;
    });
    const bool is_mean = mode == EmbeddingBagMode::Mean && size > 0;
    output[element] = static_cast<scalar_t>(is_mean ? joined / opmath_t(size) : joined);
    if (mode == EmbeddingBagMode::Max) {
      places[element] = place;
    }
  }
}

// counts: (V), how often each row occurs.
__global__ void count_rows_kernel(unsigned long long* counts, const int64_t* rows, int64_t N) {
  CUDA_KERNEL_LOOP(i, N) {
    atomicAdd(counts + rows[i], 1ULL);
  }
}

// The gradients of a maximum: each goes to the row that the element came from. grad: (bags, D); one thread a feature.
template <typename scalar_t>
__global__ void embedding_bag_max_backward_kernel(scalar_t* result, const scalar_t* grad, const int64_t* places,
                                                  int64_t bags, int64_t D, int64_t V) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(d, D) {
    for (int64_t b = 0; b < bags; b++) {
      const int64_t row = places[b * D + d];
      CUDA_KERNEL_ASSERT(row < V && "embedding_bag: expected idx < num_embeddings");
      if (row >= 0) { // an empty bag has no rows
        scalar_t& element = result[row * D + d];
        element = static_cast<scalar_t>(opmath_t(element) + opmath_t(grad[b * D + d]));
      }
    }
  }
}

// The row numbers and their bags in the backward. sizes: (bags) for a mean, otherwise null; counts: (V) or null.
template <typename scalar_t>
struct RowsOfBags {
  const int64_t *rows, *bag_of, *sizes, *counts; // (N), (N)
  const scalar_t* factors;                       // (N) or null
  int64_t N, bags, V, padding_idx;

  __device__ bool counts_for(int64_t i) const {
    CUDA_KERNEL_ASSERT(rows[i] >= 0 && rows[i] < V && "embedding_bag: expected idx >= 0 && idx < num_embeddings");
    return rows[i] != padding_idx && bag_of[i] >= 0 && bag_of[i] < bags;
  }
  __device__ opmath_type<scalar_t> factor(int64_t i) const {
    using opmath_t = opmath_type<scalar_t>;
    opmath_t factor = factors != nullptr ? opmath_t(factors[i]) : opmath_t(1);
    factor /= counts != nullptr ? opmath_t(counts[rows[i]]) : opmath_t(1);
    return factor / (sizes != nullptr ? opmath_t(sizes[bag_of[i]]) : opmath_t(1));
  }
};

template <typename scalar_t>
__global__ void embedding_bag_dense_backward_kernel(scalar_t* result, const scalar_t* grad, int64_t D,
                                                    RowsOfBags<scalar_t> r) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(d, D) {
    for (int64_t i = 0; i < r.N; i++) {
      if (r.counts_for(i)) {
        scalar_t& element = result[r.rows[i] * D + d];
        element = static_cast<scalar_t>(opmath_t(element) + r.factor(i) * opmath_t(grad[r.bag_of[i] * D + d]));
      }
    }
  }
}

// result[i] = <grad[bag of i], weight[row of i]>
template <typename scalar_t>
__global__ void per_sample_weights_backward_kernel(scalar_t* result, const scalar_t* grad, const scalar_t* weight,
                                                   int64_t D, RowsOfBags<scalar_t> r) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(i, r.N) {
    opmath_t sum = 0;
    if (r.counts_for(i)) {
      for (int64_t d = 0; d < D; d++) {
        sum += opmath_t(grad[r.bag_of[i] * D + d]) * opmath_t(weight[r.rows[i] * D + d]);
      }
    }
    result[i] = static_cast<scalar_t>(sum);
  }
}

void embedding_bag_kernel_cuda(const Tensor& output, const Tensor& offset2bag, const Tensor& bag_size,
                               const Tensor& max_indices, const Tensor& weight, const Tensor& indices,
                               const Tensor& offsets, const Tensor& per_sample_weights,
                               const EmbeddingBagOptions& options) {
  const Bags bags(output.sizes()[0], weight.sizes()[0], indices, offsets, options.padding_idx);
  Tensor bag_of = offset2bag;
  at::fill_(bag_of, Scalar(-1));
  launch_elements(weight, bags.count, embedding_bag_sizes_kernel, offset2bag.data_ptr<int64_t>(),
                  bag_size.data_ptr<int64_t>(), bags);
  dispatch<FloatingTypesAndReduced>(weight.scalar_type(), "embedding_bag_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(weight, output.numel(), embedding_bag_kernel<scalar_t>, output.data_ptr<scalar_t>(),
                    max_indices.data_ptr<int64_t>(), weight.data_ptr<scalar_t>(),
                    data_or_null<scalar_t>(per_sample_weights), weight.sizes()[1], options.mode, bags);
  });
}

void embedding_bag_dense_backward_kernel_cuda(const Tensor& grad_weight, const Tensor& grad, const Tensor& indices,
                                              const Tensor& offset2bag, const Tensor& bag_size,
                                              const Tensor& max_indices, const Tensor& per_sample_weights,
                                              const EmbeddingBagOptions& options) {
  const int64_t V = grad_weight.sizes()[0], D = grad_weight.sizes()[1], N = indices.numel(), bags = grad.sizes()[0];
  Tensor counts;
  if (options.scale_grad_by_freq) {
    counts = at::zeros({V}, kLong, grad.device());
    launch_elements(grad, N, count_rows_kernel, reinterpret_cast<unsigned long long*>(counts.data_ptr<int64_t>()),
                    indices.data_ptr<int64_t>(), N);
  }
  dispatch<FloatingTypesAndReduced>(grad.scalar_type(), "embedding_backward", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    if (options.mode == EmbeddingBagMode::Max) {
      launch_elements(grad, D, embedding_bag_max_backward_kernel<scalar_t>, grad_weight.data_ptr<scalar_t>(),
                      grad.data_ptr<scalar_t>(), max_indices.data_ptr<int64_t>(), bags, D, V);
      return;
    }
    const bool is_mean = options.mode == EmbeddingBagMode::Mean;
    const RowsOfBags<scalar_t> rows{indices.data_ptr<int64_t>(),
                                    offset2bag.data_ptr<int64_t>(),
                                    is_mean ? bag_size.data_ptr<int64_t>() : nullptr,
                                    data_or_null<int64_t>(counts),
                                    data_or_null<scalar_t>(per_sample_weights),
                                    N,
                                    bags,
                                    V,
                                    options.padding_idx};
    launch_elements(grad, D, embedding_bag_dense_backward_kernel<scalar_t>, grad_weight.data_ptr<scalar_t>(),
                    grad.data_ptr<scalar_t>(), D, rows);
  });
}

void embedding_bag_per_sample_weights_backward_kernel_cuda(const Tensor& result, const Tensor& grad,
                                                           const Tensor& weight, const Tensor& indices,
                                                           const Tensor& offset2bag, int64_t padding_idx) {
  const int64_t N = indices.numel();
  dispatch<FloatingTypesAndReduced>(
      grad.scalar_type(), "_embedding_bag_per_sample_weights_backward_cuda", [&](auto type) {
        using scalar_t = typename decltype(type)::type;
        const RowsOfBags<scalar_t> rows{indices.data_ptr<int64_t>(),
                                        offset2bag.data_ptr<int64_t>(),
                                        nullptr,
                                        nullptr,
                                        nullptr,
                                        N,
                                        grad.sizes()[0],
                                        weight.sizes()[0],
                                        padding_idx};
        launch_elements(grad, N, per_sample_weights_backward_kernel<scalar_t>, result.data_ptr<scalar_t>(),
                        grad.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), weight.sizes()[1], rows);
      });
}

} // namespace

REGISTER_CUDA_DISPATCH(embedding_bag_stub, embedding_bag_kernel_cuda)
REGISTER_CUDA_DISPATCH(embedding_bag_dense_backward_stub, embedding_bag_dense_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(embedding_bag_per_sample_weights_backward_stub,
                       embedding_bag_per_sample_weights_backward_kernel_cuda)

} // namespace reftorch::at::native
