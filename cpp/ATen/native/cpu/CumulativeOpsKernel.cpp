// Mirrors: aten/src/ATen/native/cpu/ReduceOpsKernel.cpp (cumsum, cumprod, logcumsumexp),
//          aten/src/ATen/native/ReduceOps.cpp (cummax_cummin_helper)
// All tensors are (outer, n, inner).
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/ReduceOps.h>
#include <ATen/native/cpu/NanLast.h>

#include <algorithm>
#include <cmath>

namespace reftorch::at::native {
namespace {

// Calls f(first element) for each line along the scanned dimension.
template <typename F>
void for_each_line(DimShape shape, const F& f) {
  parallel_for(0, shape.outer * shape.inner, grain_of(shape.n), [&](int64_t lo, int64_t hi) {
    for (int64_t line = lo; line < hi; line++) {
      f(line / shape.inner * shape.n * shape.inner + line % shape.inner);
    }
  });
}

// out[i] = join(out[i - 1], in[i]). Floats are carried in double, as in PyTorch: a running sum has no other way to keep
// its digits.
template <typename scalar_t, typename F>
void scan(const Tensor& result, const Tensor& self, DimShape shape, const F& join) {
  using acc_t = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, double>;
  const scalar_t* in = self.data_ptr<scalar_t>();
  scalar_t* out = result.data_ptr<scalar_t>();
  for_each_line(shape, [&](int64_t first) {
    acc_t acc = acc_t(in[first]);
    out[first] = in[first];
    for (int64_t i = 1; i < shape.n; i++) {
      const int64_t at = first + i * shape.inner;
      acc = join(acc, acc_t(in[at]));
      out[at] = scalar_t(opmath_type<scalar_t>(acc));
    }
  });
}

void cumsum_kernel(const Tensor& result, const Tensor& self, DimShape shape) {
  AT_DISPATCH_ALL_NUMBERS(self.scalar_type(), "cumsum_out_cpu",
                          [&] { scan<scalar_t>(result, self, shape, [](auto a, auto b) { return a + b; }); });
}

void cumprod_kernel(const Tensor& result, const Tensor& self, DimShape shape) {
  AT_DISPATCH_ALL_NUMBERS(self.scalar_type(), "cumprod_out_cpu",
                          [&] { scan<scalar_t>(result, self, shape, [](auto a, auto b) { return a * b; }); });
}

// log(e^a + e^b), with the larger one taken out, so that no power overflows
double log_add_exp(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return a + b;
  }
  const double low = std::min(a, b), high = std::max(a, b);
  return low != high || std::isfinite(low) ? high + std::log1p(std::exp(low - high)) : a; // equal infinities
}

void logcumsumexp_kernel(const Tensor& result, const Tensor& self, DimShape shape) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(self.scalar_type(), "logcumsumexp_out_cpu",
                                         [&] { scan<scalar_t>(result, self, shape, log_add_exp); });
}

template <typename scalar_t, typename F>
void scan_extremum(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape, const F& replaces) {
  const scalar_t* in = self.data_ptr<scalar_t>();
  scalar_t* value = values.data_ptr<scalar_t>();
  int64_t* index = indices.data_ptr<int64_t>();
  for_each_line(shape, [&](int64_t first) {
    scalar_t best = in[first];
    int64_t place = 0;
    for (int64_t i = 0; i < shape.n; i++) {
      const int64_t at = first + i * shape.inner;
      if (is_nan(in[at]) || (!is_nan(best) && replaces(in[at], best))) {
        best = in[at];
        place = i;
      }
      value[at] = best;
      index[at] = place;
    }
  });
}

void cummax_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(self.scalar_type(), "cummax_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    scan_extremum<scalar_t>(values, indices, self, shape,
                            [](scalar_t x, scalar_t best) { return opmath_t(x) >= opmath_t(best); });
  });
}

void cummin_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(self.scalar_type(), "cummin_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    scan_extremum<scalar_t>(values, indices, self, shape,
                            [](scalar_t x, scalar_t best) { return opmath_t(x) <= opmath_t(best); });
  });
}

} // namespace

REGISTER_DISPATCH(cumsum_stub, cumsum_kernel)
REGISTER_DISPATCH(cumprod_stub, cumprod_kernel)
REGISTER_DISPATCH(logcumsumexp_stub, logcumsumexp_kernel)
REGISTER_DISPATCH(cummax_stub, cummax_kernel)
REGISTER_DISPATCH(cummin_stub, cummin_kernel)

} // namespace reftorch::at::native
