// Mirrors: aten/src/ATen/native/Normalization.cpp
//
// Normalization of each channel over a batch: y = (x - mean) invstd weight + bias, where invstd is
// 1 / sqrt(variance + eps). Left out: the choice among libraries (_batch_norm_impl_index), the functional forms for
// compilers, and the statistics of several devices.
#include <ATen/native/Normalization.h>

#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/TypePromotion.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(batch_norm_stats_stub)
DEFINE_DISPATCH(batch_norm_transform_stub)
DEFINE_DISPATCH(batch_norm_update_stub)
DEFINE_DISPATCH(batch_norm_invstd_stub)
DEFINE_DISPATCH(batch_norm_backward_stub)

using OptionalTensor = std::optional<Tensor>;

namespace {

Tensor given(const OptionalTensor& t) {
  return t.has_value() ? *t : Tensor();
}

ScalarType computing_type(ScalarType dtype) {
  return dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype;
}

Tensor converted(const Tensor& t, ScalarType dtype) {
  return !t.defined() ? t : (t.scalar_type() == dtype ? t : cast_to_dtype(t, dtype)).contiguous();
}

// The parameters have the dtype of the input, or all float32 for an input of 16 bits. Returns the dtype of the saved
// statistics, which is that of the parameters.
ScalarType parameter_dtype(const Tensor& input, std::initializer_list<Tensor> parameters) {
  const Tensor* first = nullptr;
  for (const Tensor& t : parameters) {
    first = first == nullptr && t.defined() ? &t : first;
  }
  if (first == nullptr || !input.is_floating_point()) { // for other dtypes the kernel raises
    return input.scalar_type();
  }
  const ScalarType dtype = first->scalar_type();
  if (dtype != input.scalar_type()) {
    for (const Tensor& t : parameters) {
      TORCH_CHECK(!t.defined() || t.scalar_type() == kFloat,
                  "mixed dtype (CPU): expect parameter to have scalar type of Float");
    }
    TORCH_CHECK(computing_type(input.scalar_type()) != input.scalar_type(),
                "mixed dtype (CPU): all inputs must share same datatype.");
  }
  for (const Tensor& t : parameters) {
    TORCH_CHECK(!t.defined() || t.scalar_type() == dtype, "expected scalar type ", toString(dtype), " but found ",
                toString(t.scalar_type()));
  }
  return dtype;
}

void check_elements(const char* name, const Tensor& t, int64_t channels) {
  TORCH_CHECK(!t.defined() || t.numel() == channels, name, " should contain ", channels, " elements not ",
              t.defined() ? t.numel() : 0);
}

// How the memory of a dense operand is read, and the format of that memory.
struct Reading {
  MemoryFormat format;
  ChannelLayout layout;
};

Reading reading_of(const Tensor& input) {
  const int64_t channels = input.sizes()[1], batch = input.sizes()[0];
  const bool channels_last = input.dim() == 4 && detail::suggest_memory_format(input) == MemoryFormat::ChannelsLast;
  const int64_t pixels = channels == 0 || batch == 0 ? 0 : input.numel() / channels / batch;
  if (channels_last) {
    return {MemoryFormat::ChannelsLast, {batch * pixels, channels, 1}};
  }
  return {MemoryFormat::Contiguous, {batch, channels, pixels}};
}

// A dense copy of t in the given format, or t itself; 16-bit floats become floats.
Tensor dense_operand(const Tensor& t, const Reading& reading) {
  const ScalarType dtype = computing_type(t.scalar_type());
  return (t.scalar_type() == dtype ? t : cast_to_dtype(t, dtype)).contiguous(reading.format);
}

Tensor empty_in(const Tensor& like, const Reading& reading) {
  return empty_impl(like.sizes(), computing_type(like.scalar_type()), like.device(), /*pin_memory=*/std::nullopt,
                    reading.format);
}

Tensor rounded(const Tensor& t, ScalarType dtype) {
  return !t.defined() || t.scalar_type() == dtype ? t : cast_to_dtype(t, dtype);
}

Tensor channel_vector(int64_t channels, ScalarType dtype, const Tensor& like) {
  return detail::empty_generic({channels}, dtype, like.device());
}

Tensor invstd_of(const Tensor& variance, double eps) {
  const Tensor invstd = channel_vector(variance.numel(), variance.scalar_type(), variance);
  batch_norm_invstd_stub(variance.device().type(), invstd, variance, eps);
  return invstd;
}

} // namespace

static std::tuple<Tensor, Tensor, Tensor> native_batch_norm(const Tensor& input, const OptionalTensor& weight_opt,
                                                            const OptionalTensor& bias_opt,
                                                            const OptionalTensor& running_mean_opt,
                                                            const OptionalTensor& running_var_opt, bool training,
                                                            double momentum, double eps) {
  const Tensor weight = given(weight_opt), bias = given(bias_opt);
  const Tensor running_mean = given(running_mean_opt), running_var = given(running_var_opt);
  const int64_t channels = input.dim() < 2 ? 0 : input.sizes()[1];
  check_elements("running_mean", running_mean, channels);
  check_elements("running_var", running_var, channels);
  check_elements("weight", weight, channels);
  check_elements("bias", bias, channels);
  TORCH_CHECK(training || running_mean.defined(), "running_mean must be defined in evaluation mode");
  TORCH_CHECK(training || running_var.defined(), "running_var must be defined in evaluation mode");
  maybe_wrap_dim(1, input.dim()); // raises IndexError for an input without channels, after PyTorch's other checks
  TORCH_CHECK_VALUE(running_mean.defined() == running_var.defined(),
                    "running_mean and running_var must either both be None or neither be None");
  const ScalarType dtype = input.scalar_type(), computing = computing_type(dtype);
  const ScalarType parameters = parameter_dtype(input, {weight, bias, running_mean, running_var});
  TORCH_CHECK(!training || input.numel() > 0,
              "input tensor must have at least one element, but got input_sizes = ", input.sizes());
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"batch_norm\" not implemented for '", dtype, "'");
  const c10::DeviceType device = input.device().type();
  const Reading reading = reading_of(input);
  const Tensor x = dense_operand(input, reading), y = empty_in(input, reading);
  Tensor mean, invstd;
  if (training) {
    mean = channel_vector(channels, computing, input);
    const Tensor variance = channel_vector(channels, computing, input);
    batch_norm_stats_stub(device, mean, variance, x, reading.layout);
    batch_norm_update_stub(device, running_mean, running_var, mean, variance, momentum, input.numel() / channels);
    invstd = invstd_of(variance, eps);
  } else {
    mean = converted(running_mean, computing);
    invstd = invstd_of(converted(running_var, computing), eps);
  }
  batch_norm_transform_stub(device, y, x, mean, invstd, converted(weight, computing), converted(bias, computing),
                            reading.layout);
  if (!training) { // nothing is saved, because the running statistics are there
    return {rounded(y, dtype), channel_vector(0, parameters, input), channel_vector(0, parameters, input)};
  }
  return {rounded(y, dtype), rounded(mean, parameters), rounded(invstd, parameters)};
}

static std::tuple<Tensor, Tensor, Tensor> native_batch_norm_backward(
    const Tensor& grad_out, const Tensor& input, const OptionalTensor& weight_opt,
    const OptionalTensor& running_mean_opt, const OptionalTensor& running_var_opt, const OptionalTensor& save_mean_opt,
    const OptionalTensor& save_invstd_opt, bool train, double eps, const std::vector<bool>& output_mask) {
  const Tensor weight = given(weight_opt), running_mean = given(running_mean_opt), running_var = given(running_var_opt);
  const Tensor save_mean = given(save_mean_opt), save_invstd = given(save_invstd_opt);
  const int64_t channels = input.size(1);
  TORCH_CHECK(grad_out.sizes() == input.sizes(), "native_batch_norm_backward: expected grad_out of shape ",
              input.sizes(), ", but got ", grad_out.sizes());
  check_elements("weight", weight, channels);
  const Tensor &mean = train ? save_mean : running_mean, &spread = train ? save_invstd : running_var;
  TORCH_CHECK(mean.defined() && spread.defined() && mean.numel() == channels && spread.numel() == channels,
              "native_batch_norm_backward: expected ",
              train ? "save_mean and save_invstd" : "running_mean and running_var", " of ", channels, " elements");
  const ScalarType dtype = input.scalar_type(), computing = computing_type(dtype);
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"batch_norm_backward\" not implemented for '", dtype, "'");
  TORCH_CHECK(grad_out.scalar_type() == dtype, "expected scalar type ", toString(dtype), " but found ",
              toString(grad_out.scalar_type()));
  const ScalarType parameters = parameter_dtype(input, {weight, running_mean, running_var, save_mean, save_invstd});
  const Reading reading = reading_of(input);
  const Tensor dx = output_mask[0] ? empty_in(input, reading) : Tensor();
  const Tensor grad_weight = output_mask[1] ? channel_vector(channels, computing, input) : Tensor();
  const Tensor grad_bias = output_mask[2] ? channel_vector(channels, computing, input) : Tensor();
  const Tensor invstd = train ? converted(save_invstd, computing) : invstd_of(converted(running_var, computing), eps);
  batch_norm_backward_stub(input.device().type(), dx, grad_weight, grad_bias, dense_operand(grad_out, reading),
                           dense_operand(input, reading), converted(mean, computing), invstd,
                           converted(weight, computing), train, reading.layout);
  return {rounded(dx, dtype), rounded(grad_weight, parameters), rounded(grad_bias, parameters)};
}

static Tensor batch_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                         const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training,
                         double momentum, double eps, bool cudnn_enabled) {
  if (input.dim() >= 2 && input.numel() == 0) { // the result of nothing stays connected to the parameters
    const int64_t channels = input.size(1);
    check_elements("running_mean", given(running_mean), channels);
    check_elements("running_var", given(running_var), channels);
    check_elements("weight", given(weight), channels);
    check_elements("bias", given(bias), channels);
    Tensor result = at::clone(input);
    if (weight.has_value() && weight->defined() && channels > 0) {
      result = at::mul(result, at::select(*weight, 0, 0));
    }
    if (bias.has_value() && bias->defined() && channels > 0) {
      result = at::add(result, at::select(*bias, 0, 0));
    }
    return result;
  }
  return std::get<0>(at::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

// Each channel of each example is a channel of a batch of one example.
static Tensor instance_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                            const OptionalTensor& running_mean_opt, const OptionalTensor& running_var_opt,
                            bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
  const Tensor running_mean = given(running_mean_opt), running_var = given(running_var_opt);
  TORCH_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
              "Expected running_mean and running_var to be defined when use_input_stats is false");
  const int64_t batch = input.size(0), channels = input.size(1);
  const auto repeated = [batch](const OptionalTensor& t) -> OptionalTensor {
    return t.has_value() && t->defined() ? OptionalTensor(at::repeat(*t, IntArrayRef(batch))) : std::nullopt;
  };
  DimVector shape(input.sizes());
  shape[0] = 1;
  shape[1] = batch * channels;
  const OptionalTensor means = repeated(running_mean), variances = repeated(running_var);
  const Tensor out = at::batch_norm(at::view(input.contiguous(), shape), repeated(weight), repeated(bias), means,
                                    variances, use_input_stats, momentum, eps, cudnn_enabled);
  // The running statistics are those of the examples, averaged.
  const auto average_into = [&](const Tensor& running, const OptionalTensor& values) {
    if (running.defined()) {
      Tensor target = at::detach(running);
      at::copy_(target, at::mean(at::view(at::detach(*values), {batch, channels}), IntArrayRef(int64_t(0)),
                                 /*keepdim=*/false));
    }
  };
  average_into(running_mean, means);
  average_into(running_var, variances);
  return at::view(out, input.sizes());
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def(
      "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
      TORCH_FN(native_batch_norm),
      kernels(batch_norm_stats_stub, batch_norm_transform_stub, batch_norm_update_stub, batch_norm_invstd_stub),
      variants::FUNCTION);
  m.def_out_by_copy(
      "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "training, float momentum, float eps) -> (Tensor out, Tensor save_mean, Tensor save_invstd)",
      TORCH_FN(native_batch_norm),
      kernels(batch_norm_stats_stub, batch_norm_transform_stub, batch_norm_update_stub, batch_norm_invstd_stub));
  m.def(
      "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? "
      "running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, "
      "Tensor, Tensor)",
      TORCH_FN(native_batch_norm_backward), kernels(batch_norm_backward_stub, batch_norm_invstd_stub), variants::NN);
  m.def_composite(
      "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
      TORCH_FN(batch_norm), variants::FUNCTION);
  m.def_composite(
      "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
      TORCH_FN(instance_norm), variants::FUNCTION);
}

} // namespace reftorch::at::native
