// Mirrors: aten/src/ATen/native/cpu/SoftMaxKernel.cpp
//
// The rungs: softmax_strided is the plain one, for any dimension. The others use vector instructions: softmax_rows for
// the last dimension, softmax_short_rows for rows too short to fill a vector, softmax_columns for any other dimension.
#include <ATen/cpu/vec/VectorMath.h>
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/SoftMax.h>
#include <ATen/native/cpu/Reduce.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

// n elements, `step` apart. The largest element is subtracted first, so that no exponential overflows and the largest
// one is 1.
template <bool log, typename scalar_t>
void softmax_strided(scalar_t* out, const scalar_t* in, int64_t n, int64_t step) {
  using opmath_t = opmath_type<scalar_t>;
  opmath_t largest = in[0];
  for (int64_t i = 1; i < n; i++) {
    const opmath_t x = in[i * step];
    largest = (x > largest) | (x != x) ? x : largest;
  }
  opmath_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += std::exp(opmath_t(in[i * step]) - largest);
  }
  const opmath_t log_sum = std::log(sum);
  for (int64_t i = 0; i < n; i++) {
    const opmath_t x = opmath_t(in[i * step]) - largest;
    out[i * step] = log ? x - log_sum : std::exp(x) / sum;
  }
}

constexpr int64_t kShort = 16; // a shorter row does not fill a vector

// Rows of n < kShort dense elements: the exponentials of many rows are computed in one pass.
template <typename scalar_t>
TARGET_CLONES static void softmax_short_rows(scalar_t* out, const scalar_t* in, int64_t rows, int64_t n) {
  using opmath_t = opmath_type<scalar_t>;
  constexpr int64_t kRoom = 256;
  opmath_t powers[kRoom];
  const int64_t batch = kRoom / n;
  for (int64_t first = 0; first < rows; first += batch) {
    const int64_t length = std::min(batch, rows - first) * n;
    for (int64_t row = 0; row < length; row += n) {
      opmath_t largest = -std::numeric_limits<opmath_t>::infinity();
      for (int64_t k = row; k < row + n; k++) {
        const opmath_t x = in[k];
        largest = x > largest ? x : largest;
      }
      for (int64_t k = row; k < row + n; k++) {
        powers[k] = opmath_t(in[k]) - largest;
      }
    }
#pragma omp simd
    for (int64_t k = 0; k < length; k++) {
      powers[k] = exp_of_negative(powers[k]);
    }
    for (int64_t row = 0; row < length; row += n) {
      opmath_t sum = 0;
      for (int64_t k = row; k < row + n; k++) {
        sum += powers[k];
      }
      const opmath_t factor = opmath_t(1) / sum;
      for (int64_t k = row; k < row + n; k++) {
        out[k] = powers[k] * factor;
      }
    }
    in += length;
    out += length;
  }
}

// Rows of n dense elements. Each row takes three passes: the maximum, the exponentials and their sum, the quotients.
// The maximum ignores NaN, but the exponential of a NaN is NaN, so the sum and all quotients become NaN. `powers` has
// room for n values.
template <bool log, typename scalar_t, typename opmath_t>
TARGET_CLONES static void softmax_rows(scalar_t* out, const scalar_t* in, int64_t rows, int64_t n, opmath_t* powers) {
  constexpr int64_t kLanes = 64; // independent maxima, so that no comparison waits for the one before
  constexpr opmath_t kLeast = -std::numeric_limits<opmath_t>::infinity();
  for (const scalar_t* end = in + rows * n; in != end; in += n, out += n) {
    opmath_t lanes[kLanes], largest = kLeast;
    int64_t i = 0;
    if (n >= kLanes) {
      std::fill_n(lanes, kLanes, largest);
      for (; i + kLanes <= n; i += kLanes) {
        for (int64_t l = 0; l < kLanes; l++) {
          const opmath_t x = in[i + l];
          lanes[l] = x > lanes[l] ? x : lanes[l];
        }
      }
#pragma omp simd reduction(max : largest)
      for (int64_t l = 0; l < kLanes; l++) {
        largest = lanes[l] > largest ? lanes[l] : largest;
      }
    }
#pragma omp simd reduction(max : largest)
    for (int64_t k = i; k < n; k++) {
      const opmath_t x = in[k];
      largest = x > largest ? x : largest;
    }
    opmath_t sum = 0;
    for (int64_t begin = 0; begin < n; begin += kBlock) { // Note [Cascade]
      const int64_t length = std::min(kBlock, n - begin);
      opmath_t part = 0;
#pragma omp simd reduction(+ : part)
      for (int64_t k = begin; k < begin + length; k++) {
        const opmath_t power = exp_of_negative(opmath_t(in[k]) - largest);
        powers[k] = power;
        part += power;
      }
      sum += part;
    }
    const opmath_t log_sum = std::log(sum), factor = opmath_t(1) / sum;
    for (int64_t k = 0; k < n; k++) {
      out[k] = log ? (opmath_t(in[k]) - largest) - log_sum : powers[k] * factor;
    }
  }
}

// softmax_rows for halves: each row is converted to floats first, and back at the end.
template <bool log>
void softmax_rows_of_halves(c10::Half* out, const c10::Half* in, int64_t rows, int64_t n, float* powers) {
  SmallVector<float, kStrip> row(n);
  for (int64_t r = 0; r < rows; r++) {
    convert(in + r * n, row.data(), n);
    softmax_rows<log>(row.data(), row.data(), 1, n, powers);
    convert(row.data(), out + r * n, n);
  }
}

// `width` <= kStrip adjacent columns of n elements, `step` apart. Walks row after row; each row updates all columns.
template <bool log, typename scalar_t>
TARGET_CLONES static void softmax_columns(scalar_t* out, const scalar_t* in, int64_t n, int64_t step, int64_t width) {
  using opmath_t = opmath_type<scalar_t>;
  // `out` can hold the exponentials without rounding
  constexpr bool keeps_powers = !log && std::is_same_v<scalar_t, opmath_t>;
  opmath_t largest[kStrip], sum[kStrip];
  for (int64_t c = 0; c < width; c++) {
    largest[c] = in[c];
    sum[c] = 0;
  }
  for (int64_t i = 1; i < n; i++) {
    for (int64_t c = 0; c < width; c++) {
      const opmath_t x = in[i * step + c];
      largest[c] = (x > largest[c]) | (x != x) ? x : largest[c];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t c = 0; c < width; c++) {
      const opmath_t power = exp_of_negative(opmath_t(in[i * step + c]) - largest[c]);
      sum[c] += power;
      if constexpr (keeps_powers) {
        out[i * step + c] = power;
      }
    }
  }
  for (int64_t c = 0; c < width; c++) {
    sum[c] = log ? std::log(sum[c]) : opmath_t(1) / sum[c];
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t c = 0; c < width; c++) {
      const int64_t at = i * step + c;
      if constexpr (keeps_powers) {
        out[at] *= sum[c];
      } else if constexpr (log) {
        out[at] = (opmath_t(in[at]) - largest[c]) - sum[c];
      } else {
        out[at] = exp_of_negative(opmath_t(in[at]) - largest[c]) * sum[c];
      }
    }
  }
}

// Calls f(first element, width) for each strip of adjacent columns of (outer, n, inner).
template <typename F>
void for_each_strip(DimShape shape, const F& f) {
  const int64_t strips = (shape.inner + kStrip - 1) / kStrip;
  parallel_for(0, shape.outer * strips, std::max<int64_t>(1, internal::GRAIN_SIZE / (shape.n * kStrip)),
               [&](int64_t lo, int64_t hi) {
                 for (int64_t s = lo; s < hi; s++) {
                   const int64_t column = s % strips * kStrip;
                   f(s / strips * shape.n * shape.inner + column, std::min(kStrip, shape.inner - column));
                 }
               });
}

constexpr int64_t kFewColumns = 4; // so few columns do not fill vector instructions

// output, input: (outer, n, inner)
template <bool log>
void vec_softmax(const Tensor& output, const Tensor& input, DimShape shape, const char* name) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    scalar_t* out = output.data_ptr<scalar_t>();
    const scalar_t* in = input.data_ptr<scalar_t>();
    if (shape.inner > kFewColumns) {
      for_each_strip(shape, [&](int64_t first, int64_t width) {
        softmax_columns<log>(out + first, in + first, shape.n, shape.inner, width);
      });
      return;
    }
    const int64_t rows = shape.outer * shape.inner;
    parallel_for(0, rows, std::max<int64_t>(1, internal::GRAIN_SIZE / shape.n), [&](int64_t lo, int64_t hi) {
      if (!log && shape.inner == 1 && shape.n < kShort) {
        softmax_short_rows(out + lo * shape.n, in + lo * shape.n, hi - lo, shape.n);
        return;
      }
      if (shape.inner == 1) {
        SmallVector<opmath_t, kStrip> powers(shape.n);
        if constexpr (std::is_same_v<scalar_t, c10::Half>) {
          softmax_rows_of_halves<log>(out + lo * shape.n, in + lo * shape.n, hi - lo, shape.n, powers.data());
        } else {
          softmax_rows<log>(out + lo * shape.n, in + lo * shape.n, hi - lo, shape.n, powers.data());
        }
        return;
      }
      for (int64_t r = lo; r < hi; r++) {
        const int64_t first = r / shape.inner * shape.n * shape.inner + r % shape.inner;
        softmax_strided<log>(out + first, in + first, shape.n, shape.inner);
      }
    });
  });
}

void softmax_kernel_impl(const Tensor& output, const Tensor& input, DimShape shape) {
  vec_softmax<false>(output, input, shape, "softmax_lastdim_kernel_impl");
}

void log_softmax_kernel_impl(const Tensor& output, const Tensor& input, DimShape shape) {
  vec_softmax<true>(output, input, shape, "log_softmax_lastdim_kernel_impl");
}

// softmax: grad_in = (grad - sum(grad * y)) * y. log_softmax: grad_in = grad - e^y sum(grad).
template <bool log, typename scalar_t>
void softmax_backward_strided(scalar_t* grad_in, const scalar_t* grad, const scalar_t* y, int64_t n, int64_t step) {
  using opmath_t = opmath_type<scalar_t>;
  opmath_t sum = 0;
  for (int64_t i = 0; i < n * step; i += step) {
    sum += log ? opmath_t(grad[i]) : opmath_t(grad[i]) * opmath_t(y[i]);
  }
  for (int64_t i = 0; i < n * step; i += step) {
    grad_in[i] = log ? opmath_t(grad[i]) - vec_exp(opmath_t(y[i])) * sum : (opmath_t(grad[i]) - sum) * opmath_t(y[i]);
  }
}

// softmax_backward_strided for dense rows.
template <bool log, typename scalar_t>
TARGET_CLONES static void softmax_backward_rows(scalar_t* grad_in, const scalar_t* grad, const scalar_t* y,
                                                int64_t rows, int64_t n) {
  using opmath_t = opmath_type<scalar_t>;
  for (int64_t r = 0; r < rows; r++, grad_in += n, grad += n, y += n) {
    opmath_t sum = 0;
    for (int64_t begin = 0; begin < n; begin += kBlock) { // Note [Cascade]
      const int64_t length = std::min(kBlock, n - begin);
      opmath_t part = 0;
#pragma omp simd reduction(+ : part)
      for (int64_t i = begin; i < begin + length; i++) {
        part += log ? opmath_t(grad[i]) : opmath_t(grad[i]) * opmath_t(y[i]);
      }
      sum += part;
    }
    for (int64_t i = 0; i < n; i++) {
      grad_in[i] = log ? opmath_t(grad[i]) - vec_exp(opmath_t(y[i])) * sum : (opmath_t(grad[i]) - sum) * opmath_t(y[i]);
    }
  }
}

// softmax_backward_strided for adjacent columns.
template <bool log, typename scalar_t>
TARGET_CLONES static void softmax_backward_columns(scalar_t* grad_in, const scalar_t* grad, const scalar_t* y,
                                                   int64_t n, int64_t step, int64_t width) {
  using opmath_t = opmath_type<scalar_t>;
  opmath_t sum[kStrip];
  for (int64_t c = 0; c < width; c++) {
    sum[c] = 0;
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t c = 0; c < width; c++) {
      const int64_t at = i * step + c;
      sum[c] += log ? opmath_t(grad[at]) : opmath_t(grad[at]) * opmath_t(y[at]);
    }
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t c = 0; c < width; c++) {
      const int64_t at = i * step + c;
      const opmath_t g = grad[at], value = y[at];
      grad_in[at] = log ? g - vec_exp(value) * sum[c] : (g - sum[c]) * value;
    }
  }
}

template <bool log>
void vec_softmax_backward(const Tensor& grad_input, const Tensor& grad, const Tensor& output, DimShape shape,
                          const char* name) {
  dispatch<FloatingTypesAndReduced>(output.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scalar_t* grad_in = grad_input.data_ptr<scalar_t>();
    const scalar_t* grad_out = grad.data_ptr<scalar_t>();
    const scalar_t* y = output.data_ptr<scalar_t>();
    if (shape.inner > kFewColumns) {
      for_each_strip(shape, [&](int64_t first, int64_t width) {
        softmax_backward_columns<log>(grad_in + first, grad_out + first, y + first, shape.n, shape.inner, width);
      });
      return;
    }
    parallel_for(0, shape.outer * shape.inner, std::max<int64_t>(1, internal::GRAIN_SIZE / shape.n),
                 [&](int64_t lo, int64_t hi) {
                   if (shape.inner == 1) {
                     const int64_t first = lo * shape.n;
                     softmax_backward_rows<log>(grad_in + first, grad_out + first, y + first, hi - lo, shape.n);
                     return;
                   }
                   for (int64_t r = lo; r < hi; r++) {
                     const int64_t first = r / shape.inner * shape.n * shape.inner + r % shape.inner;
                     softmax_backward_strided<log>(grad_in + first, grad_out + first, y + first, shape.n, shape.inner);
                   }
                 });
  });
}

void softmax_backward_kernel_impl(const Tensor& grad_input, const Tensor& grad, const Tensor& output, DimShape shape) {
  vec_softmax_backward<false>(grad_input, grad, output, shape, "softmax_backward_lastdim_kernel_impl");
}

void log_softmax_backward_kernel_impl(const Tensor& grad_input, const Tensor& grad, const Tensor& output,
                                      DimShape shape) {
  vec_softmax_backward<true>(grad_input, grad, output, shape, "log_softmax_backward_lastdim_kernel_impl");
}

} // namespace

REGISTER_CPU_DISPATCH(softmax_kernel, softmax_kernel_impl)
REGISTER_CPU_DISPATCH(log_softmax_kernel, log_softmax_kernel_impl)
REGISTER_CPU_DISPATCH(softmax_backward_kernel, softmax_backward_kernel_impl)
REGISTER_CPU_DISPATCH(log_softmax_backward_kernel, log_softmax_backward_kernel_impl)

} // namespace reftorch::at::native
