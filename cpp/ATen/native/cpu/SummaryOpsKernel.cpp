// Mirrors: aten/src/ATen/native/SummaryOps.cpp, aten/src/ATen/native/cpu/HistogramKernel.cpp
//
// Both ops run on one thread, because any two elements may fall into one bin.
#include <ATen/Dispatch.h>
#include <ATen/native/SummaryOps.h>

#include <vector>

namespace reftorch::at::native {
namespace {

template <typename out_t>
void bincount_impl(const Tensor& result, const Tensor& self, const Tensor& weights) {
  out_t* out = result.data_ptr<out_t>();
  const int64_t* place = self.data_ptr<int64_t>();
  const out_t* weight = weights.defined() ? weights.data_ptr<out_t>() : nullptr;
  const int64_t n = self.numel();
  for (int64_t i = 0; i < n; i++) {
    out[place[i]] += weight != nullptr ? weight[i] : out_t(1);
  }
}

void bincount_kernel(const Tensor& result, const Tensor& self, const Tensor& weights) {
  switch (result.scalar_type()) {
    case kFloat: return bincount_impl<float>(result, self, weights);
    case kDouble: return bincount_impl<double>(result, self, weights);
    default: return bincount_impl<int64_t>(result, self, weights);
  }
}

// An element outside of [min, max] is not counted; max itself belongs to the last bin. Each step is rounded to the
// dtype of the tensor, as in PyTorch, because the rounding decides to which bin an element at an edge belongs.
void histc_kernel(const Tensor& result, const Tensor& self, double min, double max) {
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "histogram_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* in = self.data_ptr<scalar_t>();
    const int64_t bins = result.numel();
    std::vector<int64_t> counts(bins, 0);
    const auto rounded = [](opmath_t value) { return static_cast<opmath_t>(static_cast<scalar_t>(value)); };
    const opmath_t low = rounded(opmath_t(min)), high = rounded(opmath_t(max));
    const opmath_t width = rounded(high - low), steps = rounded(opmath_t(bins));
    for (int64_t i = 0; i < self.numel(); i++) {
      const opmath_t x = in[i];
      if (x >= low && x <= high) {
        const int64_t bin = static_cast<int64_t>(rounded(rounded(rounded(x - low) * steps) / width));
        counts[bin < bins ? bin : bins - 1]++;
      }
    }
    for (int64_t b = 0; b < bins; b++) {
      result.data_ptr<scalar_t>()[b] = scalar_t(opmath_t(counts[b]));
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(bincount_stub, bincount_kernel)
REGISTER_CPU_DISPATCH(histc_stub, histc_kernel)

} // namespace reftorch::at::native
