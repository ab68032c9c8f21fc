// Mirrors: aten/src/ATen/native/cpu/ReduceOpsKernel.cpp (cumsum, cumprod, logcumsumexp), aten/src/ATen/native/ReduceOps.cpp (cummax_cummin_helper)
//
// All tensors are (outer, n, inner).
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/NanLast.h>
#include <ATen/native/ReduceOps.h>
#include <ATen/native/cpu/Loops.h>

#include <algorithm>
#include <cmath>

namespace reftorch::at::native {
namespace {

constexpr int64_t kStrip = 128, kManyLines = 8;

// Calls f(first element) for each line along the scanned dimension.
template <typename F>
void for_each_line(DimShape shape, const F& f) {
  parallel_for(0, shape.outer * shape.inner, grain_of(shape.n), [&](int64_t lo, int64_t hi) {
    for (int64_t line = lo; line < hi; line++) {
      f(line / shape.inner * shape.n * shape.inner + line % shape.inner);
    }
  });
}

// Floats are accumulated in double, as in PyTorch, because a running sum cannot be split into partial sums to keep its
// digits.
template <typename scalar_t>
using scan_type = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, double>;

// out[i] = join(out[i - 1], in[i]) for n elements, `step` apart; `acc` takes the place of out[-1].
template <typename scalar_t, typename F>
void scan_strided(scalar_t* out, const scalar_t* in, int64_t n, int64_t step, scan_type<scalar_t> acc, const F& join) {
  for (int64_t i = 0; i < n * step; i += step) {
    acc = join(acc, scan_type<scalar_t>(in[i]));
    out[i] = scalar_t(opmath_type<scalar_t>(acc));
  }
}

// scan_strided for dense elements; halves are converted to floats block by block.
template <typename scalar_t, typename F>
void scan_dense(scalar_t* out, const scalar_t* in, int64_t n, scan_type<scalar_t> acc, const F& join) {
  using opmath_t = opmath_type<scalar_t>;
  const auto* from = reinterpret_cast<const char*>(in);
  auto* to = reinterpret_cast<char*>(out);
  BlockBuffer<scalar_t, opmath_t> elements;
  ResultBuffer<scalar_t, opmath_t> results;
  for (int64_t begin = 0; begin < n; begin += kBlockWidth) {
    const int64_t width = std::min(kBlockWidth, n - begin);
    const auto* x = elements.block(from, sizeof(scalar_t), begin, width);
    auto* y = results.block(to, sizeof(scalar_t), begin);
    for (int64_t i = 0; i < width; i++) {
      acc = join(acc, scan_type<scalar_t>(x[i]));
      y[i] = opmath_t(acc);
    }
    results.store(to, sizeof(scalar_t), begin, width);
  }
}

// The scan for `width` <= kStrip adjacent lines. Walks row after row; each row continues all lines.
template <typename scalar_t, typename F>
TARGET_CLONES static void scan_columns(scalar_t* out, const scalar_t* in, int64_t n, int64_t step, int64_t width,
                                       F join) {
  using opmath_t = opmath_type<scalar_t>;
  scan_type<scalar_t> acc[kStrip];
  opmath_t room[kStrip], results[kStrip];
  std::copy_n(widened(in, width, room), width, acc);
  std::copy_n(in, width, out);
  for (int64_t i = 1; i < n; i++) {
    const opmath_t* row = widened(in + i * step, width, room);
    for (int64_t c = 0; c < width; c++) {
      acc[c] = join(acc[c], scan_type<scalar_t>(row[c]));
      results[c] = opmath_t(acc[c]);
    }
    if constexpr (std::is_same_v<scalar_t, opmath_t>) {
      std::copy_n(results, width, out + i * step);
    } else {
      convert(results, out + i * step, width);
    }
  }
}

template <typename scalar_t, typename F>
void scan(const Tensor& result, const Tensor& self, DimShape shape, const F& join) {
  const scalar_t* in = self.data_ptr<scalar_t>();
  scalar_t* out = result.data_ptr<scalar_t>();
  if (shape.inner >= kManyLines) {
    const int64_t strips = (shape.inner + kStrip - 1) / kStrip;
    parallel_for(0, shape.outer * strips, grain_of(shape.n * kStrip), [&](int64_t lo, int64_t hi) {
      for (int64_t s = lo; s < hi; s++) {
        const int64_t column = s % strips * kStrip, first = s / strips * shape.n * shape.inner + column;
        scan_columns(out + first, in + first, shape.n, shape.inner, std::min(kStrip, shape.inner - column), join);
      }
    });
    return;
  }
  for_each_line(shape, [&](int64_t first) {
    out[first] = in[first];
    const auto acc = scan_type<scalar_t>(in[first]);
    if (shape.inner == 1) {
      scan_dense(out + first + 1, in + first + 1, shape.n - 1, acc, join);
    } else {
      const int64_t next = first + shape.inner;
      scan_strided(out + next, in + next, shape.n - 1, shape.inner, acc, join);
    }
  });
}

void cumsum_kernel(const Tensor& result, const Tensor& self, DimShape shape) {
  dispatch<AllNumbers>(self.scalar_type(), "cumsum_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scan<scalar_t>(result, self, shape, [](auto a, auto b) { return a + b; });
  });
}

void cumprod_kernel(const Tensor& result, const Tensor& self, DimShape shape) {
  dispatch<AllNumbers>(self.scalar_type(), "cumprod_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scan<scalar_t>(result, self, shape, [](auto a, auto b) { return a * b; });
  });
}

// log(e^a + e^b); the larger exponential is factored out, so that no exponential overflows.
double log_add_exp(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return a + b;
  }
  const double low = std::min(a, b), high = std::max(a, b);
  return low != high || std::isfinite(low) ? high + std::log1p(std::exp(low - high)) : a; // equal infinities
}

void logcumsumexp_kernel(const Tensor& result, const Tensor& self, DimShape shape) {
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "logcumsumexp_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scan<scalar_t>(result, self, shape, log_add_exp);
  });
}

template <typename scalar_t, typename F>
void scan_extremum(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape, const F& replaces) {
  const scalar_t* in = self.data_ptr<scalar_t>();
  scalar_t* value = values.data_ptr<scalar_t>();
  int64_t* index = indices.data_ptr<int64_t>();
  for_each_line(shape, [&](int64_t first) {
    scalar_t best = c10::load(in + first);
    int64_t place = 0;
    for (int64_t i = 0; i < shape.n; i++) {
      const int64_t at = first + i * shape.inner;
      const scalar_t x = c10::load(in + at);
      if (is_nan(x) || (!is_nan(best) && replaces(x, best))) {
        best = x;
        place = i;
      }
      value[at] = best;
      index[at] = place;
    }
  });
}

void cummax_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  dispatch<AllTypesAndBool>(self.scalar_type(), "cummax_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    scan_extremum<scalar_t>(values, indices, self, shape,
                            [](scalar_t x, scalar_t best) { return opmath_t(x) >= opmath_t(best); });
  });
}

void cummin_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  dispatch<AllTypesAndBool>(self.scalar_type(), "cummin_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    scan_extremum<scalar_t>(values, indices, self, shape,
                            [](scalar_t x, scalar_t best) { return opmath_t(x) <= opmath_t(best); });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(cumsum_stub, cumsum_kernel)
REGISTER_CPU_DISPATCH(cumprod_stub, cumprod_kernel)
REGISTER_CPU_DISPATCH(logcumsumexp_stub, logcumsumexp_kernel)
REGISTER_CPU_DISPATCH(cummax_stub, cummax_kernel)
REGISTER_CPU_DISPATCH(cummin_stub, cummin_kernel)

} // namespace reftorch::at::native
