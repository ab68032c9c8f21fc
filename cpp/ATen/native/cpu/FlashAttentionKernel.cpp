// Mirrors: aten/src/ATen/native/cpu/FlashAttentionKernel.cpp
//
// Attention by tiles of queries and keys, and its backward: Note [Flash attention]. The first rung is
// _scaled_dot_product_attention_math, which stores all weights; the tests compare the two. The tiles are products of
// small matrices, for which the BLAS is called, and rows of exponentials. Left out: 16-bit floats, which the caller
// converts; packed matrices.
#include <ATen/Parallel.h>
#include <ATen/cpu/vec/VectorMath.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/native/attention.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/Scratch.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace reftorch::at::native {
namespace {

using cpublas::TransposeType;

constexpr int64_t kKeys = 512, kMaxQueries = 128; // the most keys and queries of a tile
template <typename T>
constexpr T kLeast = -std::numeric_limits<T>::infinity();

// A tile of few queries leaves out more of the keys that follow, where attention is causal. Otherwise larger products
// are faster.
int64_t queries_of_tile(bool is_causal) {
  return is_causal ? 32 : kMaxQueries;
}

// --- heads -----------------------------------------------------------------------------------------------------------

// The matrix of one head: rows of E elements, `row` elements apart.
template <typename T>
struct Head {
  T* data;
  int64_t row;

  T* at(int64_t i) const {
    return data + i * row;
  }
  Head from(int64_t i) const {
    return {at(i), row};
  }
};

// t (B, H, L, E). The stride of a single row may be any number, and the BLAS asks for at least E.
template <typename T>
Head<T> head_of(const Tensor& t, int64_t b, int64_t h) {
  const int64_t row = t.sizes()[2] == 1 ? t.sizes()[3] : t.strides()[2];
  return {t.data_ptr<T>() + b * t.strides()[0] + h * t.strides()[1], row};
}

// Sets a head to zero. The kernel of backward adds to its gradients, and clears a head just before it does, so that the
// head is in the cache then.
template <typename T>
void clear(const Head<T>& head, int64_t rows, int64_t E) {
  for (int64_t r = 0; r < rows; r++) {
    std::fill_n(head.at(r), E, T(0));
  }
}

// t (B, H, L): one number for each query of one head.
template <typename T>
Head<T> numbers_of(const Tensor& t, int64_t b, int64_t h) {
  return {t.data_ptr<T>() + b * t.strides()[0] + h * t.strides()[1], t.strides()[2]};
}

// --- rows of a tile --------------------------------------------------------------------------------------------------
//
// The functions that are compiled for several instruction sets take all rows of a tile. What they call for one row is
// inlined into each version.

template <typename T>
T largest_of(const T* row, int64_t n, T largest) {
  constexpr int64_t kLanes = 32; // independent maxima, so that no comparison waits for the one before
  int64_t i = 0;
  if (n >= kLanes) {
    T lanes[kLanes];
    std::fill_n(lanes, kLanes, largest);
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t l = 0; l < kLanes; l++) {
        lanes[l] = row[i + l] > lanes[l] ? row[i + l] : lanes[l];
      }
    }
#pragma GCC unroll 8
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half; l++) {
        lanes[l] = lanes[half + l] > lanes[l] ? lanes[half + l] : lanes[l];
      }
    }
    largest = lanes[0];
  }
  for (; i < n; i++) {
    largest = row[i] > largest ? row[i] : largest;
  }
  return largest;
}

// row = e^(row - largest); returns the sum.
template <typename T>
T exponentials(T* row, int64_t n, T largest) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) {
    const T power = exp_of_negative(row[i] - largest);
    row[i] = power;
    sum += power;
  }
  return sum;
}

template <typename T>
void scale_row(T* row, int64_t n, T factor) {
  for (int64_t i = 0; i < n; i++) {
    row[i] *= factor;
  }
}

// Replaces scores (rows, columns) by e^(score - largest). `largest`, `sum` (rows) and `output` (rows, E) hold the
// result for the keys before this tile; `sum` and `output` are rescaled, because the largest score of a row may have
// changed.
template <typename T>
TARGET_CLONES static void softmax_tile(T* scores, int64_t rows, int64_t columns, bool is_first, T* largest, T* sum,
                                       const Head<T>& output, int64_t E) {
  for (int64_t r = 0; r < rows; r++) {
    T* const row = scores + r * columns;
    const T now = largest_of(row, columns, largest[r]);
    const T from = now == kLeast<T> ? T(0) : now; // no key yet: all exponentials are 0
    const T power_sum = exponentials(row, columns, from);
    if (is_first) {
      sum[r] = power_sum;
    } else {
      const T factor = std::exp(largest[r] - from);
      sum[r] = sum[r] * factor + power_sum;
      scale_row(output.at(r), E, factor);
    }
    largest[r] = now;
  }
}

// Divides each row of `output` by its sum. logsumexp = largest + log(sum)
template <typename T>
TARGET_CLONES static void finish_rows(const Head<T>& output, const Head<T>& logsumexp, int64_t rows, int64_t E,
                                      const T* largest, const T* sum) {
  for (int64_t r = 0; r < rows; r++) {
    scale_row(output.at(r), E, sum[r] != T(0) ? T(1) / sum[r] : T(0));
  }
#pragma omp simd
  for (int64_t r = 0; r < rows; r++) { // a sum of 0 has had no key
    const T log_of_sum = largest[r] + vec_log(sum[r]);
    *logsumexp.at(r) = sum[r] != T(0) ? log_of_sum : T(0);
  }
}

// dots (rows): for each row the sum of a * b
template <typename T>
TARGET_CLONES static void dots_of_rows(T* dots, const Head<T>& a, const Head<T>& b, int64_t rows, int64_t E) {
  for (int64_t r = 0; r < rows; r++) {
    const T *x = a.at(r), *y = b.at(r);
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < E; i++) {
      sum += x[i] * y[i];
    }
    dots[r] = sum;
  }
}

// weights = e^(scores - logsumexp), in place, and grads = weights * (grads - inner): the backward of a softmax.
template <typename T>
TARGET_CLONES static void softmax_backward_tile(T* scores, T* grads, int64_t rows, int64_t columns,
                                                const Head<T>& logsumexp, const T* inner) {
  for (int64_t r = 0; r < rows; r++, scores += columns, grads += columns) {
    const T subtracted = *logsumexp.at(r), mean = inner[r];
#pragma omp simd
    for (int64_t i = 0; i < columns; i++) {
      const T weight = exp_of_negative(scores[i] - subtracted);
      scores[i] = weight;
      grads[i] = weight * (grads[i] - mean);
    }
  }
}

// --- tiles -----------------------------------------------------------------------------------------------------------

// A tile: queries [i, i + rows) and keys [j, j + columns). Scores lie in rows of `columns` elements.
struct Tile {
  int64_t i, rows, j, columns;
};

// Calls f(tile) for the keys of the queries [i, i + rows), from the first key on. Where attention is causal, the keys
// after the last of these queries are left out.
template <typename F>
void for_each_tile(int64_t i, int64_t rows, int64_t keys, bool is_causal, const F& f) {
  const int64_t end = is_causal ? std::min(keys, i + rows) : keys;
  for (int64_t j = 0; j < end; j += kKeys) {
    f(Tile{i, rows, j, std::min(kKeys, end - j)});
  }
}

// scores (rows, columns) = scale * query key^T + mask. Keys after a query get -inf where attention is causal.
template <typename T>
void score_tile(T* scores, const Tile& t, const Head<T>& query, const Head<T>& key, int64_t E, const Tensor& mask,
                int64_t b, int64_t h, const AttentionOptions& options) {
  cpublas::gemm<T>(TransposeType::NoTranspose, TransposeType::Transpose, t.rows, t.columns, E, T(options.scale),
                   query.at(t.i), query.row, key.at(t.j), key.row, T(0), scores, t.columns);
  for (int64_t r = 0; r < t.rows; r++) {
    T* const row = scores + r * t.columns;
    if (mask.defined()) {
      const auto strides = mask.strides();
      const T* const added = mask.data_ptr<T>() + b * strides[0] + h * strides[1] + (t.i + r) * strides[2];
      for (int64_t c = 0; c < t.columns; c++) {
        row[c] += added[(t.j + c) * strides[3]];
      }
    }
    if (options.is_causal) {
      const int64_t seen = std::min(std::max<int64_t>(t.i + r + 1 - t.j, 0), t.columns);
      std::fill(row + seen, row + t.columns, kLeast<T>);
    }
  }
}

// --- the kernels -----------------------------------------------------------------------------------------------------

// The queries [i, i + rows) of one head: output (rows, E), logsumexp (rows).
template <typename T>
void attend(const Head<T>& output, const Head<T>& logsumexp, int64_t i, int64_t rows, const Head<T>& query,
            const Head<T>& key, const Head<T>& value, int64_t S, int64_t E, const Tensor& mask, int64_t b, int64_t h,
            const AttentionOptions& options, T* scores) {
  T largest[kMaxQueries], sum[kMaxQueries]; // of the keys so far
  std::fill_n(largest, rows, kLeast<T>);
  for_each_tile(i, rows, S, options.is_causal, [&](const Tile& t) {
    score_tile(scores, t, query, key, E, mask, b, h, options);
    softmax_tile(scores, rows, t.columns, t.j == 0, largest, sum, output, E);
    cpublas::gemm<T>(TransposeType::NoTranspose, TransposeType::NoTranspose, rows, E, t.columns, T(1), scores,
                     t.columns, value.at(t.j), value.row, t.j == 0 ? T(0) : T(1), output.data, output.row);
  });
  finish_rows(output, logsumexp, rows, E, largest, sum);
}

// query (B, H, L, E), key and value (B, G, S, E), mask (B, H, L, S) or undefined, output (B, H, L, E),
// logsumexp (B, H, L)
template <typename T>
void attend_all(const Tensor& output, const Tensor& logsumexp, const Tensor& query, const Tensor& key,
                const Tensor& value, const Tensor& mask, const AttentionOptions& options) {
  const int64_t B = query.size(0), H = query.size(1), L = query.size(2), E = query.size(3);
  const int64_t S = key.size(2), shared = H / key.size(1), size = queries_of_tile(options.is_causal);
  const int64_t blocks = (L + size - 1) / size;
  parallel_for(0, B * H * blocks, grain_of(size * S * E), [&](int64_t lo, int64_t hi) {
    Scratch<T> scores(std::min(L, size) * std::min(S, kKeys));
    for (int64_t n = lo; n < hi; n++) {
      const int64_t i = n % blocks * size, h = n / blocks % H, b = n / blocks / H, g = h / shared;
      const Head<T> out = head_of<T>(output, b, h), sums = numbers_of<T>(logsumexp, b, h);
      attend<T>(out.from(i), sums.from(i), i, std::min(size, L - i), head_of<T>(query, b, h), head_of<T>(key, b, g),
                head_of<T>(value, b, g), S, E, mask, b, h, options, scores.begin());
    }
  });
}

void flash_attention_kernel(const Tensor& output, const Tensor& logsumexp, const Tensor& query, const Tensor& key,
                            const Tensor& value, const Tensor& mask, const AttentionOptions& options) {
  dispatch<FloatingTypes>(query.scalar_type(), "flash_attention", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    attend_all<scalar_t>(output, logsumexp, query, key, value, mask, options);
  });
}

// With weights P (L, S) and the gradient dO of the output:
//   dV = P^T dO,   dP = dO V^T,   dS = P * (dP - inner) with inner the sum of dO * O of a query,
//   dQ = scale * dS K,   dK = scale * dS^T Q
// All queries of the heads that share one head of keys add to its gradients, so one thread computes all of them.
template <typename T>
void attend_backward_all(const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                         const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor& output, const Tensor& logsumexp, const Tensor& mask,
                         const AttentionOptions& options) {
  constexpr TransposeType kNo = TransposeType::NoTranspose, kYes = TransposeType::Transpose;
  const int64_t B = query.size(0), H = query.size(1), L = query.size(2), E = query.size(3);
  const int64_t G = key.size(1), S = key.size(2), shared = H / G;
  const int64_t size = queries_of_tile(options.is_causal);
  const T scale = T(options.scale);
  parallel_for(0, B * G, grain_of(L * S * E), [&](int64_t lo, int64_t hi) {
    const int64_t room = std::min(L, size) * std::min(S, kKeys);
    Scratch<T> weights(room), grads(room);
    for (int64_t n = lo; n < hi; n++) {
      const int64_t b = n / G, g = n % G;
      const Head<T> k = head_of<T>(key, b, g), v = head_of<T>(value, b, g);
      const Head<T> dk = head_of<T>(grad_key, b, g), dv = head_of<T>(grad_value, b, g);
      clear(dk, S, E);
      clear(dv, S, E);
      for (int64_t h = g * shared; h < (g + 1) * shared; h++) {
        const Head<T> q = head_of<T>(query, b, h), o = head_of<T>(output, b, h);
        const Head<T> dq = head_of<T>(grad_query, b, h), dout = head_of<T>(grad_output, b, h);
        const Head<T> sums = numbers_of<T>(logsumexp, b, h);
        clear(dq, L, E);
        for (int64_t i = 0; i < L; i += size) {
          const int64_t rows = std::min(size, L - i);
          T inner[kMaxQueries];
          dots_of_rows(inner, dout.from(i), o.from(i), rows, E);
          for_each_tile(i, rows, S, options.is_causal, [&](const Tile& t) {
            score_tile(weights.begin(), t, q, k, E, mask, b, h, options);
            cpublas::gemm<T>(kNo, kYes, rows, t.columns, E, T(1), dout.at(i), dout.row, v.at(t.j), v.row, T(0),
                             grads.begin(), t.columns);
            softmax_backward_tile(weights.begin(), grads.begin(), rows, t.columns, sums.from(i), inner);
            cpublas::gemm<T>(kYes, kNo, t.columns, E, rows, T(1), weights.begin(), t.columns, dout.at(i), dout.row,
                             T(1), dv.at(t.j), dv.row);
            cpublas::gemm<T>(kNo, kNo, rows, E, t.columns, scale, grads.begin(), t.columns, k.at(t.j), k.row, T(1),
                             dq.at(i), dq.row);
            cpublas::gemm<T>(kYes, kNo, t.columns, E, rows, scale, grads.begin(), t.columns, q.at(i), q.row, T(1),
                             dk.at(t.j), dk.row);
          });
        }
      }
    }
  });
}

void flash_attention_backward_kernel(const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                                     const Tensor& grad_output, const Tensor& query, const Tensor& key,
                                     const Tensor& value, const Tensor& output, const Tensor& logsumexp,
                                     const Tensor& mask, const AttentionOptions& options) {
  dispatch<FloatingTypes>(query.scalar_type(), "flash_attention_backward", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    attend_backward_all<scalar_t>(grad_query, grad_key, grad_value, grad_output, query, key, value, output, logsumexp,
                                  mask, options);
  });
}

} // namespace

REGISTER_CPU_DISPATCH(flash_attention_stub, flash_attention_kernel)
REGISTER_CPU_DISPATCH(flash_attention_backward_stub, flash_attention_backward_kernel)

} // namespace reftorch::at::native
