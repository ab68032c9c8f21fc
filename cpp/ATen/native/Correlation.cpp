// Mirrors: aten/src/ATen/native/Correlation.cpp
//
// Composite ops: how variables vary together. A row is a variable, and a column is an observation.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

using OptionalTensor = std::optional<Tensor>;

static void check_weights(const char* name, const Tensor& weights, int64_t observations) {
  TORCH_CHECK(weights.dim() <= 1, "cov(): expected ", name, " to have one or fewer dimensions but got ", name, " with ",
              weights.dim(), " dimensions");
  TORCH_CHECK(weights.numel() == observations, "cov(): expected ", name, " to have the same numel as there are ",
              "observations in the input but got ", weights.numel(), " != ", observations);
  TORCH_CHECK(weights.numel() == 0 || weights.device().is_meta() || at::amin(weights, {}).item().toDouble() >= 0,
              "cov(): ", name, " cannot be negative");
}

// sum_k w_k (x_ik - mean_i) (x_jk - mean_j) / (sum w - correction), where a weight is a frequency times an importance.
static Tensor cov(const Tensor& self, int64_t correction, const OptionalTensor& fweights,
                  const OptionalTensor& aweights) {
  TORCH_CHECK(self.dim() <= 2, "cov(): expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");
  TORCH_CHECK(self.scalar_type() != kBool, "cov(): bool dtype is not supported for input");
  const Tensor x = self.dim() < 2 ? at::view(self, {1, -1}) : self;
  const int64_t observations = x.sizes()[1];

  Tensor weights;
  if (fweights.has_value() && fweights->defined()) {
    TORCH_CHECK(c10::isIntegralType(fweights->scalar_type(), /*includeBool=*/false),
                "cov(): expected fweights to have integral dtype but got fweights with ", fweights->scalar_type(),
                " dtype");
    check_weights("fweights", *fweights, observations);
    weights = *fweights;
  }
  if (aweights.has_value() && aweights->defined()) {
    TORCH_CHECK(aweights->is_floating_point(),
                "cov(): expected aweights to have floating point dtype but got aweights with ", aweights->scalar_type(),
                " dtype");
    check_weights("aweights", *aweights, observations);
    weights = weights.defined() ? at::mul(weights, *aweights) : *aweights;
  }

  const Tensor total = weights.defined() ? at::sum(weights) : number(static_cast<double>(observations));
  TORCH_CHECK(!weights.defined() || total.device().is_meta() || total.item().toDouble() != 0,
              "cov(): weights sum to zero, can't be normalized");
  const Tensor mean =
      at::div(at::sum(weights.defined() ? at::mul(x, weights) : x, IntArrayRef(int64_t(1)), true), total);

  Tensor divisor; // the divisor of the sum
  if (!weights.defined() || correction == 0 || !(aweights.has_value() && aweights->defined())) {
    divisor = at::sub(total, number(static_cast<double>(correction)));
  } else {
    const Tensor squares = at::sum(at::mul(weights, *aweights));
    divisor = at::sub(total, at::div(at::mul(squares, number(static_cast<double>(correction))), total));
  }
  if (!divisor.device().is_meta() && divisor.item().toDouble() <= 0) {
    TORCH_WARN(
        "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.");
  }
  divisor = at::maximum(divisor, number(0));

  const Tensor deviation = at::sub(x, mean);
  const Tensor weighted = weights.defined() ? at::mul(deviation, weights) : deviation;
  const Tensor result = at::div(at::mm(deviation, at::t(weighted)), divisor);
  return x.sizes()[0] == 1 ? at::reshape(result, {}) : result;
}

// cov_ij / sqrt(cov_ii cov_jj), clamped to [-1, 1], because rounding may give a value outside.
static Tensor corrcoef(const Tensor& self) {
  TORCH_CHECK(self.dim() <= 2, "corrcoef(): expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");
  const Tensor c = cov(self, 1, std::nullopt, std::nullopt);
  if (c.dim() == 0) {
    return at::div(c, c);
  }
  const Tensor deviation = at::sqrt(at::diagonal(c));
  const Tensor r = at::div(at::div(c, at::unsqueeze(deviation, 1)), at::unsqueeze(deviation, 0));
  return at::clamp(r, -1, 1);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
                  TORCH_FN(cov));
  m.def_composite("corrcoef(Tensor self) -> Tensor", TORCH_FN(corrcoef));
}

} // namespace reftorch::at::native
