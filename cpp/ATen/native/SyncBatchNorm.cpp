// Mirrors: aten/src/ATen/native/cuda/Normalization.cu, the ops of SyncBatchNorm
//
// Batch normalization whose statistics are those of several ranks: the parts between which the ranks exchange numbers.
// Each op is composed of other ops and runs on every device; in PyTorch the ops are kernels for GPUs. Left out:
// derivatives, because the module's autograd function calls the ops in its forward and backward.
//
// Note [Statistics of several ranks]
// Problem: a rank knows the mean and variance of its own part of the batch only, and the parts may differ in size.
// Trick: with n_r values on rank r, the mean of all is the mean of the means with weights n_r, and their variance is
// that of the parts plus that of the means. So each rank sends 2 C + 1 numbers, mean, invstd and count, and computes
// the same result. Backward needs the sums over all ranks of dy and of dy (x - mean), which an all-reduce adds up.
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

using OptionalTensor = std::optional<Tensor>;

namespace {

bool is_given(const OptionalTensor& t) {
  return t.has_value() && t->defined();
}

// Halves are computed in float32.
ScalarType accumulate_type(const Tensor& t) {
  const ScalarType dtype = t.scalar_type();
  return dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype;
}

Tensor cast(const Tensor& t, ScalarType dtype) {
  return t.scalar_type() == dtype ? t : at::to(t, dtype);
}

// A vector (C) in a shape that is broadcast over (N, C, *).
Tensor per_channel(const Tensor& vector, const Tensor& input, ScalarType dtype) {
  DimVector shape(input.dim(), 1);
  shape[1] = vector.numel();
  return at::reshape(cast(vector, dtype), shape);
}

// All dimensions of (N, C, *) but the channels.
DimVector other_dims(const Tensor& input) {
  DimVector dims;
  for (int64_t d = 0; d < input.dim(); d++) {
    if (d != 1) {
      dims.push_back(d);
    }
  }
  return dims;
}

Tensor sum_per_channel(const Tensor& t) {
  return at::sum(t, other_dims(t), /*keepdim=*/false);
}

void check_input(const char* op, const Tensor& input) {
  TORCH_CHECK(input.dim() >= 2, op, ": expected an input of at least 2 dimensions (N, C, *), but got ", input.sizes());
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"", op, "\" not implemented for '", input.scalar_type(),
                              "'");
}

Tensor invstd_of(const Tensor& variance, double eps) {
  return at::rsqrt(at::add(variance, eps));
}

} // namespace

// Returns mean and invstd of each channel, (C).
static std::tuple<Tensor, Tensor> batch_norm_stats(const Tensor& input, double eps) {
  check_input("batch_norm_stats", input);
  const Tensor x = cast(input, accumulate_type(input));
  const auto [variance, mean] = at::var_mean(x, other_dims(x), /*correction=*/Scalar(0), /*keepdim=*/false);
  return {mean, invstd_of(variance, eps)};
}

// mean and invstd: (ranks, C), counts: (ranks). Returns mean and invstd of all values, (C), and updates the running
// statistics, the variance of which is the unbiased one.
static std::tuple<Tensor, Tensor> batch_norm_gather_stats_with_counts(
    const Tensor& input, const Tensor& mean, const Tensor& invstd, const OptionalTensor& running_mean,
    const OptionalTensor& running_var, double momentum, double eps, const Tensor& counts) {
  TORCH_CHECK(mean.dim() == 2 && mean.sizes() == invstd.sizes() && counts.numel() == mean.size(0),
              "batch_norm_gather_stats_with_counts: expected mean and invstd of one shape (ranks, C) and a count for "
              "each rank, but got ",
              mean.sizes(), ", ", invstd.sizes(), " and ", counts.sizes());
  const ScalarType dtype = mean.scalar_type();
  const Tensor n = at::reshape(cast(counts, dtype), {-1, 1});
  const Tensor total = at::sum(n);
  const Tensor weights = at::div(n, total);
  const Tensor all_mean = at::sum(at::mul(mean, weights), IntArrayRef(int64_t(0)), /*keepdim=*/false);
  const Tensor variances = at::sub(at::reciprocal(at::mul(invstd, invstd)), eps);
  const Tensor distance = at::sub(mean, all_mean);
  const Tensor all_variance = at::sum(at::mul(at::add(variances, at::mul(distance, distance)), weights),
                                      IntArrayRef(int64_t(0)), /*keepdim=*/false);
  const auto update = [momentum](const OptionalTensor& running, const Tensor& value) {
    if (is_given(running)) {
      Tensor target = at::detach(*running);
      at::add_(at::mul_(target, 1 - momentum), at::mul(cast(value, target.scalar_type()), momentum));
    }
  };
  update(running_mean, all_mean);
  update(running_var, at::mul(all_variance, at::div(total, at::sub(total, 1))));
  return {all_mean, invstd_of(all_variance, eps)};
}

static std::tuple<Tensor, Tensor> batch_norm_gather_stats(const Tensor& input, const Tensor& mean, const Tensor& invstd,
                                                          const OptionalTensor& running_mean,
                                                          const OptionalTensor& running_var, double momentum,
                                                          double eps, int64_t count) {
  Tensor counts = detail::empty_generic({mean.size(0)}, mean.scalar_type(), mean.device());
  at::fill_(counts, count);
  return batch_norm_gather_stats_with_counts(input, mean, invstd, running_mean, running_var, momentum, eps, counts);
}

// Returns (x - mean) invstd weight + bias.
static Tensor batch_norm_elemt(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                               const Tensor& mean, const Tensor& invstd, double /*eps*/) {
  check_input("batch_norm_elemt", input);
  const ScalarType dtype = accumulate_type(input);
  Tensor y = at::mul(at::sub(cast(input, dtype), per_channel(mean, input, dtype)), per_channel(invstd, input, dtype));
  if (is_given(weight)) {
    y = at::mul(y, per_channel(*weight, input, dtype));
  }
  if (is_given(bias)) {
    y = at::add(y, per_channel(*bias, input, dtype));
  }
  return cast(y, input.scalar_type());
}

// Returns the sums of dy and of dy (x - mean), and the gradients of weight and bias, (C) each. What is not asked for is
// undefined.
static std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_backward_reduce(const Tensor& grad_out,
                                                                             const Tensor& input, const Tensor& mean,
                                                                             const Tensor& invstd,
                                                                             const OptionalTensor& weight, bool input_g,
                                                                             bool weight_g, bool bias_g) {
  check_input("batch_norm_backward_reduce", input);
  const ScalarType dtype = accumulate_type(input);
  const Tensor dy = cast(grad_out, dtype);
  const Tensor sum_dy = sum_per_channel(dy);
  const Tensor sum_dy_xmu = sum_per_channel(at::mul(dy, at::sub(cast(input, dtype), per_channel(mean, input, dtype))));
  const ScalarType parameters = is_given(weight) ? weight->scalar_type() : dtype;
  return {input_g ? sum_dy : Tensor(), input_g ? sum_dy_xmu : Tensor(),
          weight_g ? cast(at::mul(sum_dy_xmu, cast(invstd, dtype)), parameters) : Tensor(),
          bias_g ? cast(sum_dy, parameters) : Tensor()};
}

// sum_dy and sum_dy_xmu: the sums over all ranks; count: the number of values of each rank. Returns the gradient of the
// input: dx = (dy - sum_dy / n - (x - mean) invstd^2 sum_dy_xmu / n) invstd weight.
static Tensor batch_norm_backward_elemt(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                        const Tensor& invstd, const OptionalTensor& weight, const Tensor& sum_dy,
                                        const Tensor& sum_dy_xmu, const Tensor& count) {
  check_input("batch_norm_backward_elemt", input);
  const ScalarType dtype = accumulate_type(input);
  const auto wide = [&](const Tensor& vector) { return per_channel(vector, input, dtype); };
  const Tensor n = cast(at::sum(count), dtype);
  const Tensor slope = at::div(at::mul(wide(sum_dy_xmu), at::mul(wide(invstd), wide(invstd))), n);
  const Tensor centered = at::sub(cast(input, dtype), wide(mean));
  const Tensor difference = at::sub(at::sub(cast(grad_out, dtype), at::div(wide(sum_dy), n)), at::mul(centered, slope));
  Tensor dx = at::mul(difference, wide(invstd));
  if (is_given(weight)) {
    dx = at::mul(dx, wide(*weight));
  }
  return cast(dx, input.scalar_type());
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("batch_norm_stats(Tensor input, float eps) -> (Tensor, Tensor)", TORCH_FN(batch_norm_stats),
                  variants::FUNCTION);
  m.def_composite(
      "batch_norm_gather_stats(Tensor input, Tensor mean, Tensor invstd, Tensor? running_mean, Tensor? running_var, "
      "float momentum, float eps, int count) -> (Tensor, Tensor)",
      TORCH_FN(batch_norm_gather_stats), variants::FUNCTION);
  m.def_composite(
      "batch_norm_gather_stats_with_counts(Tensor input, Tensor mean, Tensor invstd, Tensor? running_mean, Tensor? "
      "running_var, float momentum, float eps, Tensor counts) -> (Tensor, Tensor)",
      TORCH_FN(batch_norm_gather_stats_with_counts), variants::FUNCTION);
  m.def_composite(
      "batch_norm_elemt(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor invstd, float eps) -> Tensor",
      TORCH_FN(batch_norm_elemt), variants::FUNCTION);
  m.def_composite(
      "batch_norm_backward_reduce(Tensor grad_out, Tensor input, Tensor mean, Tensor invstd, Tensor? weight, bool "
      "input_g, bool weight_g, bool bias_g) -> (Tensor, Tensor, Tensor, Tensor)",
      TORCH_FN(batch_norm_backward_reduce), variants::FUNCTION);
  m.def_composite(
      "batch_norm_backward_elemt(Tensor grad_out, Tensor input, Tensor mean, Tensor invstd, Tensor? weight, Tensor "
      "sum_dy, Tensor sum_dy_xmu, Tensor count) -> Tensor",
      TORCH_FN(batch_norm_backward_elemt), variants::FUNCTION);
}

} // namespace reftorch::at::native
