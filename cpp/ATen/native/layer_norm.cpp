// Mirrors: aten/src/ATen/native/layer_norm.cpp
//
// Normalizes the last dimensions of a tensor to mean 0 and variance 1: y = (x - mean) rstd weight + bias, where rstd is
// 1 / sqrt(variance + eps); or, in rms_norm, divides by the root of the mean of the squares: y = x rrms weight. Left
// out: a kernel of rms_norm, which is a composite here, as it is on PyTorch's CPU.
#include <ATen/native/layer_norm.h>

#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>
#include <c10/util/accumulate.h>

#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(LayerNormKernel)
DEFINE_DISPATCH(LayerNormBackwardKernel)

using OptionalTensor = std::optional<Tensor>;

static Tensor or_undefined(const OptionalTensor& t) {
  return t.has_value() ? *t : Tensor();
}

// M rows of N elements each: `normalized_shape` gives the last dimensions, which form a row.
struct Rows {
  int64_t M, N;
};

static Rows check_layer_norm_inputs(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                                    const Tensor& bias) {
  const size_t normalized_ndim = normalized_shape.size(), ndim = input.sizes().size();
  TORCH_CHECK(normalized_ndim >= 1,
              "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
              "normalized_shape = ",
              normalized_shape);
  TORCH_CHECK(!weight.defined() || weight.sizes() == normalized_shape,
              "Expected weight to be of same shape as normalized_shape, but got weight of shape ", weight.sizes(),
              " and normalized_shape = ", normalized_shape);
  TORCH_CHECK(!bias.defined() || bias.sizes() == normalized_shape,
              "Expected bias to be of same shape as normalized_shape, but got bias of shape ", bias.sizes(),
              " and normalized_shape = ", normalized_shape);
  if (ndim < normalized_ndim || input.sizes().slice(ndim - normalized_ndim, normalized_ndim) != normalized_shape) {
    std::ostringstream expected;
    for (int64_t size : normalized_shape) {
      expected << ", " << size;
    }
    TORCH_CHECK(false, "Given normalized_shape=", normalized_shape, ", expected input with shape [*", expected.str(),
                "], but got input of size", input.sizes());
  }
  return {c10::multiply_integers(input.sizes().slice(0, ndim - normalized_ndim)),
          c10::multiply_integers(normalized_shape)};
}

static ScalarType computing_dtype(ScalarType dtype) {
  return dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype;
}

// Returns the dtype of mean and rstd. Weight and bias have the dtype of the input, or float32 for an input of 16 bits;
// mean and rstd then have the dtype of weight and bias.
static ScalarType statistics_dtype(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor& first = weight.defined() ? weight : bias;
  const ScalarType dtype = first.defined() ? first.scalar_type() : input.scalar_type();
  for (const Tensor* t : {&weight, &bias}) {
    TORCH_CHECK(!t->defined() || dtype == input.scalar_type() || t->scalar_type() == kFloat,
                "mixed dtype (CPU): expect parameter to have scalar type of Float");
  }
  TORCH_CHECK(dtype == input.scalar_type() || computing_dtype(input.scalar_type()) != input.scalar_type(),
              "mixed dtype (CPU): all inputs must share same datatype.");
  const bool known = input.is_floating_point(); // for other dtypes the kernel raises, after the checks of the shapes
  TORCH_CHECK(!known || !bias.defined() || bias.scalar_type() == dtype, "expected scalar type ", c10::toString(dtype),
              " but found ", c10::toString(bias.scalar_type()));
  return dtype;
}

static Tensor in_dtype(const Tensor& t, ScalarType dtype) {
  return !t.defined() || t.scalar_type() == dtype ? t : cast_to_dtype(t, dtype);
}

static Tensor prepared(const Tensor& t, ScalarType dtype) {
  return t.defined() ? in_dtype(t, dtype).contiguous() : t;
}

static Tensor empty_of(const Tensor& like, IntArrayRef sizes, ScalarType dtype) {
  return detail::empty_generic(sizes, dtype, like.device());
}

// The shape of mean and rstd: the normalized dimensions have size 1.
static DimVector statistics_shape(const Tensor& input, IntArrayRef normalized_shape) {
  DimVector shape(input.sizes());
  std::fill(shape.end() - static_cast<ptrdiff_t>(normalized_shape.size()), shape.end(), 1);
  return shape;
}

static std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                                                            const OptionalTensor& weight_opt,
                                                            const OptionalTensor& bias_opt, double eps) {
  const Tensor weight = or_undefined(weight_opt), bias = or_undefined(bias_opt);
  const ScalarType statistics = statistics_dtype(input, weight, bias);
  const Rows rows = check_layer_norm_inputs(input, normalized_shape, weight, bias);
  const ScalarType computing = computing_dtype(input.scalar_type());
  const DimVector shape = statistics_shape(input, normalized_shape);
  const Tensor output = empty_of(input, input.sizes(), input.scalar_type());
  const Tensor mean = empty_of(input, shape, computing), rstd = empty_of(input, shape, computing);
  LayerNormKernel(input.device().type(), output, mean, rstd, input.contiguous(), prepared(weight, computing),
                  prepared(bias, computing), rows.M, rows.N, eps);
  return {output, in_dtype(mean, statistics), in_dtype(rstd, statistics)};
}

static std::tuple<Tensor, Tensor, Tensor> native_layer_norm_backward(
    const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
    const OptionalTensor& weight_opt, const OptionalTensor& bias_opt, const std::vector<bool>& output_mask) {
  const Tensor weight = or_undefined(weight_opt), bias = or_undefined(bias_opt);
  const Rows rows = check_layer_norm_inputs(input, normalized_shape, weight, bias);
  TORCH_CHECK(grad_out.sizes() == input.sizes() && mean.numel() == rows.M && rstd.numel() == rows.M,
              "native_layer_norm_backward: expected grad_out of shape ", input.sizes(), " and mean and rstd of ",
              rows.M, " elements, but got ", grad_out.sizes(), ", ", mean.sizes(), " and ", rstd.sizes());
  const ScalarType dtype = input.scalar_type(), computing = computing_dtype(dtype);
  const Tensor grad_input = output_mask[0] ? empty_of(input, input.sizes(), dtype) : Tensor();
  const Tensor grad_weight = output_mask[1] ? empty_of(input, normalized_shape, computing) : Tensor();
  const Tensor grad_bias = output_mask[2] ? empty_of(input, normalized_shape, computing) : Tensor();
  LayerNormBackwardKernel(input.device().type(), grad_input, grad_weight, grad_bias, prepared(grad_out, dtype),
                          input.contiguous(), prepared(mean, computing), prepared(rstd, computing),
                          prepared(weight, computing), rows.M, rows.N);
  const ScalarType parameter = weight.defined() ? weight.scalar_type() : bias.defined() ? bias.scalar_type() : dtype;
  return {grad_input, in_dtype(grad_weight, parameter), in_dtype(grad_bias, parameter)};
}

static Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const OptionalTensor& weight,
                         const OptionalTensor& bias, double eps, bool cudnn_enable) {
  return std::get<0>(at::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

// Returns the result and rrms = 1 / sqrt(mean(x^2) + eps), whose normalized dimensions have size 1. By default, eps is
// the epsilon of the computing dtype. The sizes are checked in rms_norm; here weight is broadcast, as in PyTorch.
static std::tuple<Tensor, Tensor> _fused_rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                                                  const OptionalTensor& weight, std::optional<double> eps) {
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"rms_norm\" not implemented for '", input.scalar_type(),
                              "'");
  const ScalarType computing = computing_dtype(input.scalar_type());
  const double smallest = computing == kDouble ? std::numeric_limits<double>::epsilon()
                                               : static_cast<double>(std::numeric_limits<float>::epsilon());
  const Tensor x = at::contiguous(input.scalar_type() == computing ? input : at::to(input, computing));
  DimVector dims;
  for (int64_t d = -static_cast<int64_t>(normalized_shape.size()); d < 0; d++) {
    dims.push_back(d);
  }
  Tensor squares = at::mean(at::pow(x, Scalar(2)), dims, /*keepdim=*/true);
  const Tensor rrms = at::rsqrt(at::add_(squares, at::detail::wrapped_scalar_tensor(eps.value_or(smallest))));
  Tensor result = at::mul(x, rrms);
  result = weight.has_value() && weight->defined() ? at::mul(result, *weight) : result;
  return {result.scalar_type() == input.scalar_type() ? result : at::to(result, input.scalar_type()), rrms};
}

static Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const OptionalTensor& weight,
                       std::optional<double> eps) {
  TORCH_CHECK_VALUE(input.dim() >= static_cast<int64_t>(normalized_shape.size()), "Input tensor must have at least ",
                    normalized_shape.size(), " dimensions, but got ", input.dim());
  check_layer_norm_inputs(input, normalized_shape, or_undefined(weight), Tensor());
  return std::get<0>(at::_fused_rms_norm(input, normalized_shape, weight, eps));
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def(
      "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
      "(Tensor, Tensor, Tensor)",
      TORCH_FN(native_layer_norm), kernels(LayerNormKernel), variants::FUNCTION);
  m.def(
      "native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, Tensor rstd, "
      "Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
      TORCH_FN(native_layer_norm_backward), kernels(LayerNormBackwardKernel), variants::NN);
  m.def_composite(
      "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
      "float eps=1e-05, bool cudnn_enable=True) -> Tensor",
      TORCH_FN(layer_norm), variants::FUNCTION);
  m.def_composite(
      "_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
      TORCH_FN(_fused_rms_norm), variants::FUNCTION);
  m.def_composite("rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
                  TORCH_FN(rms_norm), variants::FUNCTION);
}

} // namespace reftorch::at::native
