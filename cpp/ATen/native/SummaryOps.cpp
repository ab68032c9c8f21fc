// Mirrors: aten/src/ATen/native/SummaryOps.cpp, aten/src/ATen/native/Histogram.cpp (histc)
//
// Counts how often numbers occur. Left out: histogram, histogramdd.
#include <ATen/native/Fill.h>
#include <ATen/native/SummaryOps.h>

#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(bincount_stub)
DEFINE_DISPATCH(histc_stub)

static Tensor bincount(const Tensor& self, const std::optional<Tensor>& opt_weights, int64_t minlength) {
  TORCH_CHECK_NOT_IMPLEMENTED(c10::isIntegralType(self.scalar_type(), /*includeBool=*/false),
                              "\"bincount_cpu\" not implemented for '", self.scalar_type(), "'");
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0");
  const Tensor weights = opt_weights.value_or(Tensor());
  TORCH_CHECK_NOT_IMPLEMENTED(!self.device().is_meta(), "aten::bincount: attempted to run this operator with Meta ",
                              "tensors, but there was no fake impl or Meta kernel registered. Hint: the shape of the ",
                              "result depends on the elements.");
  TORCH_CHECK(self.dim() == 1, "bincount only supports 1-d non-negative integral inputs.");
  if (self.numel() == 0) {
    return at::zeros(minlength, kLong, self.device());
  }
  TORCH_CHECK(!weights.defined() || (weights.dim() == 1 && weights.sizes()[0] == self.sizes()[0]),
              "weights should be 1-d and have the same length as input");
  // Empty weights count as no weights.
  const bool weighted = weights.defined() && weights.numel() > 0;
  const ScalarType dtype = !weighted ? kLong : weights.scalar_type() == kFloat ? kFloat : kDouble;
  const Tensor places = (self.scalar_type() == kLong ? self : cast_to_dtype(self, kLong)).contiguous();
  int64_t length = minlength;
  if (places.numel() > 0) {
    TORCH_CHECK(at::amin(places, {}).item().toLong() >= 0, "bincount only supports 1-d non-negative integral inputs.");
    const int64_t largest = at::amax(places, {}).item().toLong();
    TORCH_CHECK(largest < std::numeric_limits<int64_t>::max(), "maximum value of input overflowed, it should be < ",
                std::numeric_limits<int64_t>::max(), " but got ", largest);
    length = std::max(length, largest + 1);
  }
  const Tensor result = detail::empty_generic(length, dtype, self.device());
  zero_impl(result);
  const Tensor amounts =
      !weighted ? Tensor() : (weights.scalar_type() == dtype ? weights : cast_to_dtype(weights, dtype)).contiguous();
  bincount_stub(self.device().type(), result, places, amounts);
  return result;
}

static void histc_out(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max, Tensor& out) {
  TORCH_CHECK(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension 0");
  TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(),
              "torch.histogram: input tensor and hist tensor should have the same dtype, but got input ",
              self.scalar_type(), " and hist ", out.defined() ? out.scalar_type() : self.scalar_type());
  double low = min.toDouble(), high = max.toDouble();
  TORCH_CHECK(low <= high, "torch.histc: max must be larger than min");
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"histogram_cpu\" not implemented for '", self.scalar_type(),
                              "'");
  if (low == high && self.numel() > 0 && !self.device().is_meta()) { // the range is that of the data
    low = at::amin(self, {}).item().toDouble();
    high = at::amax(self, {}).item().toDouble();
  }
  TORCH_CHECK(std::isfinite(low) && std::isfinite(high), "torch.histc: range of [", low, ", ", high, "] is not finite");
  if (low == high) {
    low -= 1;
    high += 1;
  }
  Tensor result = detail::empty_generic(bins, self.scalar_type(), self.device());
  histc_stub(self.device().type(), result, self.contiguous(), low, high);
  if (out.defined()) {
    resize_output(out, result.sizes());
    at::copy_(out, result);
  } else {
    out = result;
  }
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor", TORCH_FN(bincount),
        kernels(bincount_stub, fill_stub, zero_stub), tags(Tag::dynamic_output_shape));
  m.def_structured("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", TORCH_FN(histc_out),
                   kernels(histc_stub), derive::OUT);
}

} // namespace reftorch::at::native
