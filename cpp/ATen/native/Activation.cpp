// Mirrors: aten/src/ATen/native/Activation.cpp
//
// The activation functions of networks, and the backward of each; tanh and sigmoid are in UnaryOps.cpp, and glu is in
// GatedLinearUnit.cpp. Left out: out= of rrelu_with_noise, and rrelu_with_noise_functional, which only compilers call.
#include <ATen/native/Activation.h>

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/UnaryOps.h>

#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(relu_stub)
DEFINE_DISPATCH(threshold_stub)
DEFINE_DISPATCH(leaky_relu_stub)
DEFINE_DISPATCH(leaky_relu_backward_stub)
DEFINE_DISPATCH(prelu_stub)
DEFINE_DISPATCH(prelu_backward_self_stub)
DEFINE_DISPATCH(prelu_backward_weight_stub)
DEFINE_DISPATCH(rrelu_stub)
DEFINE_DISPATCH(hardtanh_backward_stub)
DEFINE_DISPATCH(hardsigmoid_stub)
DEFINE_DISPATCH(hardsigmoid_backward_stub)
DEFINE_DISPATCH(hardswish_stub)
DEFINE_DISPATCH(hardswish_backward_stub)
DEFINE_DISPATCH(hardshrink_stub)
DEFINE_DISPATCH(softshrink_stub)
DEFINE_DISPATCH(shrink_backward_stub)
DEFINE_DISPATCH(gelu_stub)
DEFINE_DISPATCH(gelu_backward_stub)
DEFINE_DISPATCH(elu_stub)
DEFINE_DISPATCH(elu_backward_stub)
DEFINE_DISPATCH(silu_stub)
DEFINE_DISPATCH(silu_backward_stub)
DEFINE_DISPATCH(mish_stub)
DEFINE_DISPATCH(mish_backward_stub)
DEFINE_DISPATCH(softplus_stub)
DEFINE_DISPATCH(softplus_backward_stub)
DEFINE_DISPATCH(log_sigmoid_stub)
DEFINE_DISPATCH(log_sigmoid_backward_stub)

// --- shared by most of them: one pass, with the options of the op passed on to the kernel ----------------------------

template <auto& stub, typename... Options>
static void activation_out(const Tensor& self, Options... options, Tensor& out) {
  check_same_dtype(self, out);
  auto iter = TensorIterator::unary_op(out, self);
  stub(iter.device_type(), iter, options...);
  iter.cast_outputs();
}

template <auto& stub, typename... Options>
static void activation_backward_out(const Tensor& grad_output, const Tensor& self, Options... options,
                                    Tensor& grad_input) {
  auto iter = TensorIterator::binary_op(grad_input, grad_output, self);
  stub(iter.device_type(), iter, options...);
  iter.cast_outputs();
}

// The result has the dtype of self, even if grad_output has another dtype.
static Tensor mish_backward(const Tensor& grad_output, const Tensor& self) {
  Tensor grad_input = detail::empty_generic(int64_t(0), self.scalar_type(), self.device());
  activation_backward_out<mish_backward_stub>(grad_output, self, grad_input);
  return grad_input;
}

// --- relu and its variants -------------------------------------------------------------------------------------------

// out = max(self, 0); NaN stays NaN.
static void relu_out(const Tensor& self, Tensor& out) {
  TORCH_CHECK(self.scalar_type() != kBool, "Boolean inputs not supported for relu");
  auto iter = TensorIterator::unary_op(out, self);
  relu_stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// out = self where self > threshold, else value; NaN stays NaN.
static void threshold_out(const Tensor& self, const Scalar& threshold, const Scalar& value, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, self);
  threshold_stub(iter.device_type(), iter, threshold, value);
  iter.cast_outputs();
}

// `self` is either the input or the output of relu: both are positive in the same places.
static void threshold_backward_out(const Tensor& grad_output, const Tensor& self, const Scalar& threshold,
                                   Tensor& grad_input) {
  auto iter = TensorIterator::binary_op(grad_input, self, grad_output);
  threshold_stub(iter.device_type(), iter, threshold, 0);
  iter.cast_outputs();
}

// The gradient depends on the sign of the input. The result has the same sign and can stand in for the input, unless
// the slope is negative.
static void leaky_relu_backward_out(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope,
                                    bool self_is_result, Tensor& grad_input) {
  TORCH_CHECK(!self_is_result || negative_slope.toDouble() >= 0.0,
              "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported: the "
              "result does not say which elements were negative, got ",
              negative_slope, ". Hint: call the function out of place.");
  auto iter = TensorIterator::binary_op(grad_input, self, grad_output);
  leaky_relu_backward_stub(iter.device_type(), iter, negative_slope);
  iter.cast_outputs();
}

// --- prelu: positive x stay, others are w x --------------------------------------------------------------------------

// weight broadcasts to the shape of self.
static Tensor _prelu_kernel(const Tensor& self, const Tensor& weight) {
  Tensor result = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  auto iter =
      TensorIteratorConfig().add_output(result).add_input(self).add_input(weight).check_all_same_dtype(true).build();
  prelu_stub(iter.device_type(), iter);
  return result;
}

// The gradient of weight has the shape of self, and the strides of the gradient of self. The engine sums it.
static std::tuple<Tensor, Tensor> _prelu_kernel_backward(const Tensor& grad_output, const Tensor& self,
                                                         const Tensor& weight) {
  Tensor grad_self;
  auto of_self = TensorIteratorConfig()
                     .add_output(grad_self)
                     .add_input(self)
                     .add_input(weight)
                     .add_input(grad_output)
                     .check_all_same_dtype(true)
                     .build();
  prelu_backward_self_stub(of_self.device_type(), of_self);
  const auto broadcast = [&](const Tensor& t) {
    return t.sizes() == grad_self.sizes() ? t : at::expand(t, grad_self.sizes());
  };
  Tensor grad_weight = empty_like_impl(grad_self, std::nullopt, std::nullopt, std::nullopt);
  const Tensor all_self = broadcast(self), all_grad = broadcast(grad_output); // the iterator borrows its operands
  auto of_weight = TensorIteratorConfig()
                       .add_output(grad_weight)
                       .add_input(all_self)
                       .add_input(all_grad)
                       .check_all_same_dtype(true)
                       .build();
  prelu_backward_weight_stub(of_weight.device_type(), of_weight);
  return {grad_self, grad_weight};
}

// There is one w for all channels or one for each channel.
static Tensor prelu(const Tensor& self, const Tensor& weight) {
  TORCH_CHECK(self.scalar_type() == weight.scalar_type(), "prelu: Type promoting not supported. Got ",
              self.scalar_type(), " and ", weight.scalar_type());
  if (weight.numel() != 1) {
    TORCH_CHECK(self.dim() > 0, "Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
    TORCH_CHECK(weight.numel() == channels,
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
                " and channel size = ", channels, ".");
  }
  TORCH_CHECK(weight.dim() <= 1,
              "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  if (self.dim() == weight.dim()) {
    return at::_prelu_kernel(self, weight);
  }
  DimVector per_channel(self.dim(), 1);
  if (self.dim() > 1) {
    per_channel[1] = weight.numel();
  }
  return at::_prelu_kernel(self, at::reshape(weight, per_channel));
}

// --- rrelu: x where x > 0, else a x; a is drawn for each element, or is the mean of its bounds -----------------------

using OptionalGenerator = std::optional<Generator>;

static Scalar mean_of(const Scalar& lower, const Scalar& upper) {
  return (lower.toDouble() + upper.toDouble()) / 2;
}

// Writes the slopes to noise, for backward: 1 where x is positive.
static void draw_rrelu(const Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper,
                       const OptionalGenerator& generator, Tensor& out) {
  TORCH_CHECK(noise.scalar_type() == self.scalar_type(), "expected scalar type ", toString(self.scalar_type()),
              " but found ", toString(noise.scalar_type()));
  const Tensor result = out.is_contiguous() ? out : out.contiguous();
  const Tensor slopes = noise.is_contiguous() ? noise : noise.contiguous();
  rrelu_stub(self.device().type(), result, slopes, self.contiguous(), lower.toDouble(), upper.toDouble(), generator);
  if (!out.is_contiguous()) {
    at::copy_(out, result);
  }
  if (!noise.is_contiguous()) {
    at::copy_(noise, slopes);
  }
}

static void check_noise(const Tensor& self, const Tensor& noise) {
  TORCH_CHECK(self.sizes() == noise.sizes(),
              "noise tensor shape must match self tensor shape. Got self.shape = ", self.sizes(),
              " noise.shape = ", noise.sizes());
}

static Tensor rrelu_with_noise(const Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper,
                               bool training, const OptionalGenerator& generator) {
  check_noise(self, noise);
  Tensor out = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  if (training) {
    draw_rrelu(self, noise, lower, upper, generator, out);
  } else {
    activation_out<leaky_relu_stub, const Scalar&>(self, mean_of(lower, upper), out);
  }
  return out;
}

static Tensor& rrelu_with_noise_(Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
                                 const OptionalGenerator& generator) {
  check_noise(self, noise);
  if (training) {
    draw_rrelu(self, noise, lower, upper, generator, self);
  } else {
    activation_out<leaky_relu_stub, const Scalar&>(self, mean_of(lower, upper), self);
  }
  return self;
}

static Tensor rrelu_with_noise_backward(const Tensor& grad_output, const Tensor& self, const Tensor& noise,
                                        const Scalar& lower, const Scalar& upper, bool training, bool self_is_result) {
  if (training) {
    return at::mul(noise, grad_output);
  }
  Tensor grad_input;
  leaky_relu_backward_out(grad_output, self, mean_of(lower, upper), self_is_result, grad_input);
  return grad_input;
}

static void check_bounds(const Scalar& lower, const Scalar& upper) {
  TORCH_CHECK(lower.toDouble() <= upper.toDouble(), "Lower bound should be less than or equal to the upper bound");
}

static Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                    const OptionalGenerator& generator) {
  check_bounds(lower, upper);
  Tensor noise = at::empty_like(self, std::nullopt, std::nullopt, MemoryFormat::Contiguous);
  return at::rrelu_with_noise(self, noise, lower, upper, training, generator);
}

static Tensor& rrelu_(Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                      const OptionalGenerator& generator) {
  check_bounds(lower, upper);
  Tensor noise = at::empty_like(self, std::nullopt, std::nullopt, MemoryFormat::Contiguous);
  return at::rrelu_with_noise_(self, noise, lower, upper, training, generator);
}

// --- clamps ----------------------------------------------------------------------------------------------------------

static void hardtanh_out(const Tensor& self, const Scalar& min_val, const Scalar& max_val, Tensor& out) {
  TORCH_CHECK(self.scalar_type() != kBool, "Bool inputs not supported for hardtanh");
  Scalar min = min_val, max = max_val;
  if (c10::isIntegralType(self.scalar_type(), /*includeBool=*/false)) {
    min = min_val.toLong();
    max = max_val.toLong();
    TORCH_CHECK(self.scalar_type() != kByte || (min.toLong() >= 0 && max.toLong() >= 0),
                "cannot do hardtanh on an unsigned type with negative limits");
  }
  check_same_dtype(self, out);
  if (!out.defined()) { // with exactly the strides of self, also in dimensions of size 1
    out = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  }
  auto iter = TensorIterator::unary_op(out, self);
  clamp_scalar_stub(iter.device_type(), iter, min, max);
  iter.cast_outputs();
}

static Tensor relu6(const Tensor& self) {
  return at::hardtanh(self, 0, 6);
}
static Tensor& relu6_(Tensor& self) {
  return at::hardtanh_(self, 0, 6);
}

static void softshrink_out(const Tensor& self, const Scalar& lambd, Tensor& out) {
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "softshrink_check", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto largest = static_cast<double>(std::numeric_limits<scalar_t>::max());
    TORCH_CHECK(lambd.toDouble() >= 0 && lambd.toDouble() <= largest, "lambda must be in range [0, ", largest,
                "] for input dtype ", c10::toString(self.scalar_type()), ", but found ", lambd);
  });
  activation_out<softshrink_stub, const Scalar&>(self, lambd, out);
}

// --- exponentials below zero -----------------------------------------------------------------------------------------

static void elu_backward_out(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale,
                             const Scalar& input_scale, bool is_result, const Tensor& self_or_result,
                             Tensor& grad_input) {
  TORCH_CHECK(!is_result || alpha.toDouble() >= 0.0,
              "In-place elu backward calculation is triggered with a negative slope which is not supported: the result "
              "does not say which elements were negative, got ",
              alpha, ". Hint: call the function out of place.");
  auto iter = TensorIterator::binary_op(grad_input, grad_output, self_or_result);
  elu_backward_stub(iter.device_type(), iter, alpha, scale, input_scale, is_result);
  iter.cast_outputs();
}

static void celu_out(const Tensor& self, const Scalar& alpha, Tensor& out) {
  TORCH_CHECK(alpha.toDouble() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  using Option = const Scalar&;
  activation_out<elu_stub, Option, Option, Option>(self, alpha, 1, 1. / alpha.toDouble(), out);
}

// With these constants, selu keeps mean 0 and variance 1 for a standard normal input.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717, kSeluScale = 1.0507009873554804934193349852946;

static Tensor selu(const Tensor& self) {
  return at::elu(self, kSeluAlpha, kSeluScale);
}
static Tensor& selu_(Tensor& self) {
  return at::elu_(self, kSeluAlpha, kSeluScale);
}

// --- gelu ------------------------------------------------------------------------------------------------------------

static GeluType gelu_type(const std::string& approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh.");
  return approximate == "none" ? GeluType::None : GeluType::Tanh;
}

static void gelu_out(const Tensor& self, const std::string& approximate, Tensor& out) {
  activation_out<gelu_stub, GeluType>(self, gelu_type(approximate), out);
}

static void gelu_backward_out(const Tensor& grad_output, const Tensor& self, const std::string& approximate,
                              Tensor& grad_input) {
  activation_backward_out<gelu_backward_stub, GeluType>(grad_output, self, gelu_type(approximate), grad_input);
}

// --- log_sigmoid -----------------------------------------------------------------------------------------------------

// output = log(1 / (1 + e^-self)); buffer = e^-|self|, which the backward uses again.
static std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self) {
  Tensor output = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  Tensor buffer = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  log_sigmoid_stub(self.device().type(), output, buffer, self.contiguous());
  return {output, buffer};
}

static Tensor log_sigmoid_backward(const Tensor& grad_output, const Tensor& self, const Tensor& buffer) {
  Tensor grad_input = empty_like_impl(grad_output, std::nullopt, std::nullopt, std::nullopt);
  auto iter = TensorIteratorConfig()
                  .add_output(grad_input)
                  .add_input(self)
                  .add_input(buffer)
                  .add_input(grad_output)
                  .check_all_same_dtype(true)
                  .build();
  log_sigmoid_backward_stub(iter.device_type(), iter);
  return grad_input;
}

static Tensor log_sigmoid(const Tensor& self) {
  return std::get<0>(at::log_sigmoid_forward(self));
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  using Option = const Scalar&;
  constexpr int NN = variants::NN, FUNCTION = variants::FUNCTION;
  m.def_structured("relu(Tensor self) -> Tensor", TORCH_FN(relu_out), kernels(relu_stub), tags(Tag::pointwise),
                   derive::INPLACE);
  m.def_structured("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", TORCH_FN(threshold_out),
                   kernels(threshold_stub), tags(Tag::pointwise), derive::ALL, FUNCTION);
  m.def_structured("threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
                   TORCH_FN(threshold_backward_out), kernels(threshold_stub), tags(Tag::pointwise), FUNCTION,
                   derive::OUT, out_form("grad_input"));
  m.def_structured("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
                   TORCH_FN((activation_out<leaky_relu_stub, Option>)), kernels(leaky_relu_stub), tags(Tag::pointwise),
                   derive::ALL, NN);
  m.def_structured(
      "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) "
      "-> Tensor",
      TORCH_FN(leaky_relu_backward_out), kernels(leaky_relu_backward_stub), NN, derive::OUT, out_form("grad_input"));
  m.def_composite("prelu(Tensor self, Tensor weight) -> Tensor", TORCH_FN(prelu));
  m.def("_prelu_kernel(Tensor self, Tensor weight) -> Tensor", TORCH_FN(_prelu_kernel), kernels(prelu_stub), FUNCTION);
  m.def("_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
        TORCH_FN(_prelu_kernel_backward), kernels(prelu_backward_self_stub, prelu_backward_weight_stub), NN);
  m.def(
      "rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool "
      "training=False, Generator? generator=None) -> Tensor",
      TORCH_FN(rrelu_with_noise), kernels(rrelu_stub, leaky_relu_stub), NN, tags(Tag::nondeterministic_seeded));
  m.def(
      "rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool "
      "training=False, Generator? generator=None) -> Tensor(a!)",
      TORCH_FN(rrelu_with_noise_), kernels(rrelu_stub, leaky_relu_stub), NN);
  m.def(
      "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool "
      "training, bool self_is_result) -> Tensor",
      TORCH_FN(rrelu_with_noise_backward), kernels(leaky_relu_backward_stub), NN);
  m.def_composite(
      "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? "
      "generator=None) -> Tensor",
      TORCH_FN(rrelu), FUNCTION, tags(Tag::nondeterministic_seeded, Tag::pointwise));
  m.def_composite(
      "rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? "
      "generator=None) -> Tensor(a!)",
      TORCH_FN(rrelu_), FUNCTION);

  m.def_structured("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", TORCH_FN(hardtanh_out),
                   kernels(clamp_scalar_stub), tags(Tag::pointwise), derive::ALL, NN);
  m.def_structured("hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
                   TORCH_FN((activation_backward_out<hardtanh_backward_stub, Option, Option>)),
                   kernels(hardtanh_backward_stub), NN, derive::OUT, out_form("grad_input"));
  m.def_composite("relu6(Tensor self) -> Tensor", TORCH_FN(relu6), tags(Tag::pointwise), NN);
  m.def_composite("relu6_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(relu6_), NN);
  m.def_structured("hardsigmoid(Tensor self) -> Tensor", TORCH_FN(activation_out<hardsigmoid_stub>),
                   kernels(hardsigmoid_stub), tags(Tag::pointwise), derive::ALL, NN);
  m.def_structured("hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
                   TORCH_FN(activation_backward_out<hardsigmoid_backward_stub>), kernels(hardsigmoid_backward_stub), NN,
                   derive::OUT, out_form("grad_input"));
  m.def_structured("hardswish(Tensor self) -> Tensor", TORCH_FN(activation_out<hardswish_stub>),
                   kernels(hardswish_stub), derive::ALL, NN);
  m.def_structured("hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
                   TORCH_FN(activation_backward_out<hardswish_backward_stub>), kernels(hardswish_backward_stub),
                   derive::NONE, NN);
  m.def_structured("hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
                   TORCH_FN((activation_out<hardshrink_stub, Option>)), kernels(hardshrink_stub), tags(Tag::pointwise),
                   derive::OUT);
  m.def_structured("hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
                   TORCH_FN((activation_backward_out<shrink_backward_stub, Option>)), kernels(shrink_backward_stub), NN,
                   derive::OUT, out_form("grad_input"));
  m.def_structured("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", TORCH_FN(softshrink_out),
                   kernels(softshrink_stub), tags(Tag::pointwise), derive::OUT, NN);
  m.def_structured("softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
                   TORCH_FN((activation_backward_out<shrink_backward_stub, Option>)), kernels(shrink_backward_stub), NN,
                   derive::OUT, out_form("grad_input"));

  m.def_structured("gelu(Tensor self, *, str approximate='none') -> Tensor", TORCH_FN(gelu_out), kernels(gelu_stub),
                   tags(Tag::pointwise), derive::ALL, NN);
  m.def_structured("gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor",
                   TORCH_FN(gelu_backward_out), kernels(gelu_backward_stub), tags(Tag::pointwise), NN, derive::OUT,
                   out_form("grad_input"));
  m.def_structured("elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
                   TORCH_FN((activation_out<elu_stub, Option, Option, Option>)), kernels(elu_stub),
                   tags(Tag::pointwise), derive::ALL, NN);
  m.def_structured(
      "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
      "Tensor self_or_result) -> Tensor",
      TORCH_FN(elu_backward_out), kernels(elu_backward_stub), NN, derive::OUT, out_form("grad_input"));
  m.def_structured("celu(Tensor self, Scalar alpha=1.0) -> Tensor", TORCH_FN(celu_out), kernels(elu_stub),
                   tags(Tag::pointwise), derive::INPLACE, FUNCTION);
  m.def_composite("selu(Tensor self) -> Tensor", TORCH_FN(selu), tags(Tag::pointwise), FUNCTION);
  m.def_composite("selu_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(selu_), FUNCTION);
  m.def_structured("silu(Tensor self) -> Tensor", TORCH_FN(activation_out<silu_stub>), kernels(silu_stub),
                   tags(Tag::pointwise), derive::ALL, NN);
  m.def_structured("silu_backward(Tensor grad_output, Tensor self) -> Tensor",
                   TORCH_FN(activation_backward_out<silu_backward_stub>), kernels(silu_backward_stub),
                   tags(Tag::pointwise), NN, derive::OUT, out_form("grad_input"));
  m.def_structured("mish(Tensor self) -> Tensor", TORCH_FN(activation_out<mish_stub>), kernels(mish_stub),
                   tags(Tag::pointwise), derive::ALL, NN);
  m.def("mish_backward(Tensor grad_output, Tensor self) -> Tensor", TORCH_FN(mish_backward),
        kernels(mish_backward_stub), NN);
  m.def_structured("softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
                   TORCH_FN((activation_out<softplus_stub, Option, Option>)), kernels(softplus_stub),
                   tags(Tag::pointwise), derive::OUT, NN);
  m.def_structured("softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
                   TORCH_FN((activation_backward_out<softplus_backward_stub, Option, Option>)),
                   kernels(softplus_backward_stub), NN, derive::OUT, out_form("grad_input"));
  m.def("log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)", TORCH_FN(log_sigmoid_forward),
        kernels(log_sigmoid_stub), NN, out_form("output"));
  m.def("log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
        TORCH_FN(log_sigmoid_backward), kernels(log_sigmoid_backward_stub), NN, out_form("grad_input"));
  m.def_composite_with_out("log_sigmoid(Tensor self) -> Tensor", TORCH_FN(log_sigmoid), NN);
}

} // namespace reftorch::at::native
