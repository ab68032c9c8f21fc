// Mirrors: aten/src/ATen/native/group_norm.cpp
//
// Gives each group of channels mean 0 and variance 1. A group of one image is one row of the kernel that layer_norm has
// too; the weights, one number for each channel, are multiplied and added afterwards. The results have the memory
// format of the input, after a copy where the channels lie last. Left out: a kernel of its own.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/Pool.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/layer_norm.h>
#include <c10/util/accumulate.h>

namespace reftorch::at::native {
namespace {

using OptionalTensor = std::optional<Tensor>;

bool is_there(const OptionalTensor& t) {
  return t.has_value() && t->defined();
}

ScalarType computing_dtype_of_groups(const Tensor& input) {
  return input.scalar_type() == kHalf || input.scalar_type() == kBFloat16 ? kFloat : input.scalar_type();
}

Tensor cast_to(const Tensor& t, ScalarType dtype) {
  return t.scalar_type() == dtype ? t : cast_to_dtype(t, dtype);
}

// A number for each channel, (C), beside images (N, C, HxW).
Tensor per_channel(const Tensor& t, ScalarType dtype) {
  return at::reshape(cast_to(t, dtype), {1, t.numel(), 1});
}

void check_group_norm_inputs(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, int64_t C,
                             int64_t num_groups) {
  TORCH_CHECK(num_groups > 0, "Expected num groups to be greater than 0, got ", num_groups);
  TORCH_CHECK(C % num_groups == 0,
              "Expected number of channels in input to be divisible by num_groups, but got input of shape ",
              input.sizes(), " and num_groups=", num_groups);
  const auto check = [&](const OptionalTensor& t, const char* name) {
    TORCH_CHECK(!is_there(t) || (t->dim() == 1 && t->numel() == C), "Expected ", name,
                " to be a vector of size equal to the number of channels in input, but got ", name, " of shape ",
                is_there(t) ? t->sizes() : IntArrayRef(), " and input of shape ", input.sizes());
  };
  check(weight, "weight");
  check(bias, "bias");
}

void check_group_dtypes(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias) {
  for (const OptionalTensor* t : {&weight, &bias}) {
    const bool mixed = computing_dtype_of_groups(input) != input.scalar_type();
    TORCH_CHECK(!is_there(*t) || (*t)->scalar_type() == input.scalar_type() || (mixed && (*t)->scalar_type() == kFloat),
                mixed ? "mixed dtype (CPU): expect parameter to have scalar type of Float"
                      : "mixed dtype (CPU): all inputs must share same datatype.");
  }
}

// input: (N, C, *) with N C HxW elements; returns the result, and mean and rstd of each group, (N, group).
std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const OptionalTensor& weight,
                                                     const OptionalTensor& bias, int64_t N, int64_t C, int64_t HxW,
                                                     int64_t group, double eps) {
  check_group_norm_inputs(input, weight, bias, C, group);
  check_group_dtypes(input, weight, bias);
  TORCH_CHECK(input.numel() == N * C * HxW, "native_group_norm: expected an input of N * C * HxW = ", N * C * HxW,
              " elements, but got ", input.sizes());
  const ScalarType dtype = computing_dtype_of_groups(input);
  const ScalarType statistics = is_there(weight) ? weight->scalar_type() : input.scalar_type();
  const Tensor x = cast_to(input, dtype).contiguous();
  const Tensor normal = detail::empty_generic({N, C, HxW}, dtype, input.device());
  const Tensor mean = detail::empty_generic({N, group}, dtype, input.device());
  const Tensor rstd = detail::empty_generic({N, group}, dtype, input.device());
  LayerNormKernel(input.device().type(), normal, mean, rstd, x, Tensor(), Tensor(), N * group, C / group * HxW, eps);
  Tensor result = is_there(weight) ? at::mul(normal, per_channel(*weight, dtype)) : normal;
  result = is_there(bias) ? at::add(result, per_channel(*bias, dtype)) : result;
  result = cast_to(at::reshape(result, input.sizes()), input.scalar_type());
  return {in_format_of(result, input), cast_to(mean, statistics), cast_to(rstd, statistics)};
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm_backward(const Tensor& grad_out, const Tensor& input,
                                                              const Tensor& mean, const Tensor& rstd,
                                                              const OptionalTensor& weight, int64_t N, int64_t C,
                                                              int64_t HxW, int64_t group,
                                                              const std::vector<bool>& output_mask) {
  check_group_norm_inputs(input, weight, std::nullopt, C, group);
  TORCH_CHECK(input.numel() == N * C * HxW && grad_out.numel() == input.numel() && mean.numel() == N * group &&
                  rstd.numel() == N * group,
              "native_group_norm_backward: expected grad_out and input of N * C * HxW = ", N * C * HxW,
              " elements, and mean and rstd of ", N * group, " elements, but got ", grad_out.sizes(), ", ",
              input.sizes(), ", ", mean.sizes(), " and ", rstd.sizes());
  const ScalarType dtype = computing_dtype_of_groups(input);
  const Tensor x = at::reshape(cast_to(input, dtype), {N, C, HxW}).contiguous();
  const Tensor grad = at::reshape(cast_to(grad_out, dtype), {N, C, HxW}).contiguous();
  const Tensor means = cast_to(mean, dtype).contiguous(), rstds = cast_to(rstd, dtype).contiguous();
  const ScalarType of_parameters = is_there(weight) ? weight->scalar_type() : input.scalar_type();
  Tensor grad_input, grad_weight, grad_bias;
  if (output_mask[0]) {
    const Tensor of_normal = is_there(weight) ? at::mul(grad, per_channel(*weight, dtype)) : grad;
    const Tensor result = detail::empty_generic({N, C, HxW}, dtype, input.device());
    LayerNormBackwardKernel(input.device().type(), result, Tensor(), Tensor(), of_normal, x, means, rstds, Tensor(),
                            N * group, C / group * HxW);
    grad_input = in_format_of(cast_to(at::reshape(result, input.sizes()), input.scalar_type()), input);
  }
  if (output_mask[1]) {
    const DimVector groups{N, group, C / group * HxW}, one_each{N, group, 1};
    const Tensor centered = at::sub(at::reshape(x, groups), at::reshape(means, one_each));
    const Tensor normal = at::reshape(at::mul(centered, at::reshape(rstds, one_each)), {N, C, HxW});
    grad_weight = cast_to(at::sum(at::mul(grad, normal), IntArrayRef({0, 2})), of_parameters);
  }
  if (output_mask[2]) {
    grad_bias = cast_to(at::sum(grad, IntArrayRef({0, 2})), of_parameters);
  }
  return {grad_input, grad_weight, grad_bias};
}

// input: (N, C, *)
Tensor group_norm(const Tensor& input, int64_t num_groups, const OptionalTensor& weight, const OptionalTensor& bias,
                  double eps, bool cudnn_enabled) {
  const int64_t N = input.size(0), C = input.size(1); // raise IndexError for an input with fewer dimensions
  const IntArrayRef sizes = input.sizes();
  check_group_norm_inputs(input, weight, bias, C, num_groups);
  const int64_t pixels = c10::multiply_integers(sizes.slice(2, sizes.size() - 2));
  return std::get<0>(at::native_group_norm(input, weight, bias, N, C, pixels, num_groups, eps));
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def(
      "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float "
      "eps) -> (Tensor, Tensor, Tensor)",
      TORCH_FN(native_group_norm), kernels(LayerNormKernel), FUNCTION);
  m.def(
      "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, "
      "SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
      TORCH_FN(native_group_norm_backward), kernels(LayerNormBackwardKernel), variants::NN);
  m.def_composite(
      "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
      "cudnn_enabled=True) -> Tensor",
      TORCH_FN(group_norm), FUNCTION);
}

} // namespace reftorch::at::native
