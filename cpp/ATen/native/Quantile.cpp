// Mirrors: aten/src/ATen/native/Sorting.cpp (quantile)
//
// Composite: sorts, then takes the element at position q (n - 1), or interpolates between the two elements around it.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

static void check_quantile(const Tensor& self, const Tensor& q, const std::string& interpolation) {
  TORCH_CHECK(self.numel() > 0, "quantile() input tensor must be non-empty");
  TORCH_CHECK(q.dim() <= 1, "quantile() q must be a scalar or 1D tensor");
  TORCH_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble,
              "quantile() input tensor must be either float or double dtype");
  TORCH_CHECK(self.scalar_type() == q.scalar_type(), "quantile() q tensor must be same dtype as the input tensor");
  TORCH_CHECK(interpolation == "linear" || interpolation == "lower" || interpolation == "higher" ||
                  interpolation == "midpoint" || interpolation == "nearest",
              "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ",
              interpolation);
}

// sorted: (..., n), ranks: (..., q) between 0 and n - 1
static Tensor take_ranks(const Tensor& sorted, const Tensor& ranks, const std::string& interpolation) {
  const Tensor below = interpolation == "higher"    ? at::ceil(ranks)
                       : interpolation == "nearest" ? at::round(ranks)
                                                    : at::floor(ranks);
  const Tensor values = at::gather(sorted, -1, at::to(below, kLong));
  if (interpolation != "linear" && interpolation != "midpoint") {
    return values;
  }
  const Tensor weight =
      interpolation == "midpoint" ? at::add(at::zeros_like(ranks), number(0.5)) : at::sub(ranks, below);
  return at::lerp(values, at::gather(sorted, -1, at::to(at::ceil(ranks), kLong)), weight);
}

static Tensor quantile_impl(const Tensor& self, const Tensor& q, std::optional<int64_t> opt_dim, bool keepdim,
                            const std::string& interpolation, bool ignore_nan) {
  check_quantile(self, q, interpolation);
  const int64_t dim = maybe_wrap_dim(opt_dim.value_or(0), self.dim());
  const Tensor inside = at::logical_and(at::le(number(0), q), at::le(q, number(1)));
  TORCH_CHECK(q.device().is_meta() || at::all(inside).item().toBool(),
              "quantile() q values must be in the range [0, 1]");

  DimVector shape(self.sizes()); // the shape of the result for one q
  if (!opt_dim.has_value()) {
    shape = keepdim ? DimVector(shape.size(), 1) : DimVector();
  } else if (keepdim && self.dim() > 0) {
    shape[dim] = 1;
  } else if (self.dim() > 0) {
    shape.erase(dim);
  }

  Tensor rows = self; // self with the reduced dimension last
  if (!opt_dim.has_value() || self.dim() <= 1) {
    rows = at::reshape(self, {-1});
  } else if (dim != self.dim() - 1) {
    rows = at::squeeze(at::transpose(at::unsqueeze(self, -1), dim, -1), dim);
  }
  DimVector sorted_shape(shape);
  sorted_shape.push_back(rows.size(-1));
  const Tensor sorted = at::reshape(std::get<0>(at::sort(rows, -1, false)), sorted_shape);

  // NaN is sorted to the end. A row with a NaN has NaN as every quantile, unless NaN is ignored.
  const Tensor nan = at::ne(sorted, sorted), count = at::sum(at::logical_not(nan), int64_t(-1), /*keepdim=*/true);
  Tensor ranks;
  if (ignore_nan) {
    const Tensor last = at::to(at::sub(count, number(1)), self.scalar_type());
    ranks = at::mul(q, at::where(at::lt(last, number(0)), number(0), last));
  } else {
    const Tensor last = number(static_cast<double>(sorted.size(-1) - 1));
    ranks = at::where(at::ne(count, number(static_cast<double>(sorted.size(-1)))), last, at::mul(q, last));
  }
  const Tensor values = take_ranks(sorted, ranks, interpolation); // (..., q)
  if (q.dim() == 0) {
    return at::squeeze(values, -1);
  }
  return at::squeeze(at::transpose(at::unsqueeze(values, 0), 0, -1), -1); // moves q to the front
}

// `ignore_nan` makes the op nanquantile.
template <bool ignore_nan>
static Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                       const std::string& interpolation) {
  return quantile_impl(self, q, dim, keepdim, interpolation, ignore_nan);
}

template <bool ignore_nan>
static Tensor quantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                              const std::string& interpolation) {
  TORCH_CHECK(q >= 0 && q <= 1, "quantile() q must be in the range [0, 1] but got ", q);
  return quantile_impl(self, detail::scalar_tensor(q, self.scalar_type()), dim, keepdim, interpolation, ignore_nan);
}

static Tensor& write_quantile(const Tensor& result, Tensor& out) {
  TORCH_CHECK(result.scalar_type() == out.scalar_type(),
              "quantile() out tensor must be same dtype as the input tensor");
  resize_output(out, result.sizes());
  return at::copy_(out, result);
}

template <bool ignore_nan>
static Tensor& quantile_out(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                            const std::string& interpolation, Tensor& out) {
  return write_quantile(quantile<ignore_nan>(self, q, dim, keepdim, interpolation), out);
}

template <bool ignore_nan>
static Tensor& quantile_scalar_out(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                                   const std::string& interpolation, Tensor& out) {
  return write_quantile(quantile_scalar<ignore_nan>(self, q, dim, keepdim, interpolation), out);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  const std::string options = "int? dim=None, bool keepdim=False, *, str interpolation=\"linear\"";
  const std::string out = ", Tensor(a!) out) -> Tensor(a!)";
  m.def_composite("quantile(Tensor self, Tensor q, " + options + ") -> Tensor", TORCH_FN(quantile<false>));
  m.def_composite("quantile.scalar(Tensor self, float q, " + options + ") -> Tensor", TORCH_FN(quantile_scalar<false>));
  m.def_composite("quantile.out(Tensor self, Tensor q, " + options + out, TORCH_FN(quantile_out<false>), FUNCTION);
  m.def_composite("quantile.scalar_out(Tensor self, float q, " + options + out, TORCH_FN(quantile_scalar_out<false>),
                  FUNCTION);
  m.def_composite("nanquantile(Tensor self, Tensor q, " + options + ") -> Tensor", TORCH_FN(quantile<true>));
  m.def_composite("nanquantile.scalar(Tensor self, float q, " + options + ") -> Tensor",
                  TORCH_FN(quantile_scalar<true>));
  m.def_composite("nanquantile.out(Tensor self, Tensor q, " + options + out, TORCH_FN(quantile_out<true>), FUNCTION);
  m.def_composite("nanquantile.scalar_out(Tensor self, float q, " + options + out, TORCH_FN(quantile_scalar_out<true>),
                  FUNCTION);
}

} // namespace reftorch::at::native
