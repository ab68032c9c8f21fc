// Mirrors: aten/src/ATen/native/Convolution.cpp
//
// Convolutions of one, two or three dimensions and their transposed form: checks, shapes, and the ops by which people
// call them. conv2d and its relatives bring their arguments into the form of `convolution`, which autograd records.
// Left out: the choice among libraries (_convolution and its flags), and names for single backends.
#include <ATen/native/Convolution.h>

#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/ForDims.h>
#include <ATen/native/TensorFactories.h>

#include <limits>
#include <sstream>

namespace reftorch::at::native {

DEFINE_DISPATCH(convolution_stub)
DEFINE_DISPATCH(convolution_backward_input_stub)
DEFINE_DISPATCH(convolution_backward_weight_stub)

using OptionalTensor = std::optional<Tensor>;

namespace {

Tensor defined_bias(const OptionalTensor& bias) {
  return bias.has_value() ? *bias : Tensor();
}

// --- checks of the arguments -----------------------------------------------------------------------------------------

// The arguments of a convolution, with one number for each dimension.
struct ConvParams {
  DimVector stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;
};

// Returns `values`, or their only element once for each dimension.
DimVector expand_param(IntArrayRef values, const char* name, int64_t dims) {
  TORCH_CHECK(values.size() == 1 || static_cast<int64_t>(values.size()) == dims, "expected ", name,
              " to be a single integer value or a list of ", dims,
              " values to match the convolution dimensions, but got ", name, "=", values);
  return values.size() == 1 ? DimVector(static_cast<size_t>(dims), values[0]) : DimVector(values);
}

bool any_below(IntArrayRef values, int64_t limit) {
  return std::any_of(values.begin(), values.end(), [limit](int64_t value) { return value < limit; });
}

// The number of pixels over which a kernel with gaps extends.
int64_t extent_of_kernel(int64_t kernel, int64_t dilation) {
  return checked_multiply_add(dilation, kernel - 1, 1);
}

// The sizes without those of the first two dimensions.
IntArrayRef pixel_sizes(IntArrayRef sizes) {
  return sizes.slice(2, sizes.size() - 2);
}

std::string by_x(IntArrayRef sizes) {
  std::ostringstream text;
  for (size_t i = 0; i < sizes.size(); i++) {
    text << (i == 0 ? "" : " x ") << sizes[i];
  }
  return text.str();
}

void check_output_padding(const ConvParams& p) {
  static const char* const kNames[] = {"depth", "height", "width"};
  const size_t dims = p.stride.size();
  for (size_t d = 0; d < dims; d++) {
    if (p.output_padding[d] < p.stride[d] || p.output_padding[d] < p.dilation[d]) {
      continue;
    }
    std::ostringstream got;
    const auto list = [&](const char* what, IntArrayRef values) {
      for (size_t i = 0; i < dims; i++) {
        got << " " << what << "_" << kNames[3 - dims + i] << ": " << values[i];
      }
    };
    list("output_padding", p.output_padding);
    list("stride", p.stride);
    list("dilation", p.dilation);
    TORCH_CHECK(false, "output padding must be smaller than either stride or dilation, but got", got.str());
  }
}

// Checks the arguments against the sizes of input (N, G C, *) and weight (G M, C, *), or (G M, C, *) for a transposed
// convolution of input (N, G M, *).
void check_shape_forward(const Tensor& input, IntArrayRef weight, const Tensor& bias, const ConvParams& p) {
  TORCH_CHECK(!any_below(p.padding, 0), "negative padding is not supported");
  TORCH_CHECK(!any_below(p.output_padding, 0), "negative output_padding is not supported");
  TORCH_CHECK(!any_below(p.stride, 1), "non-positive stride is not supported");
  TORCH_CHECK(!any_below(p.dilation, 1), "dilation should be greater than zero, but got ", IntArrayRef(p.dilation));
  constexpr int64_t kMostPadding = std::numeric_limits<int64_t>::max() / 2;
  for (size_t d = 0; d < p.padding.size(); d++) {
    TORCH_CHECK(p.padding[d] <= kMostPadding, "Given padding=", p.padding[d], " at dimension ", d,
                " , expected padding to be at most ", kMostPadding);
  }
  const IntArrayRef in = input.sizes();
  TORCH_CHECK(weight.size() == in.size(), "Expected ", weight.size(), "-dimensional input for ", weight.size(),
              "-dimensional weight ", weight, ", but got ", in.size(), "-dimensional input of size ", in, " instead");
  TORCH_CHECK(weight[0] >= p.groups, "Given groups=", p.groups, ", expected weight to be at least ", p.groups,
              " at dimension 0, but got weight of size ", weight, " instead");
  TORCH_CHECK(weight[0] % p.groups == 0, "Given groups=", p.groups, ", expected weight to be divisible by ", p.groups,
              " at dimension 0, but got weight of size [", weight, "] instead");
  const int64_t in_channels = p.transposed ? weight[0] : checked_multiply_add(weight[1], p.groups, 0);
  const int64_t out_channels = p.transposed ? checked_multiply_add(weight[1], p.groups, 0) : weight[0];
  TORCH_CHECK(in[1] == in_channels, "Given ", p.transposed ? "transposed=" : "groups=", p.transposed ? 1 : p.groups,
              ", weight of size ", weight, ", expected input", in, " to have ", in_channels, " channels, but got ",
              in[1], " channels instead");
  TORCH_CHECK(!bias.defined() || (bias.dim() == 1 && bias.sizes()[0] == out_channels), "Given ",
              p.transposed ? "transposed=1, " : "", "weight of size ", weight,
              ", expected bias to be 1-dimensional with ", out_channels, " elements, but got bias of size ",
              bias.sizes(), " instead");
  bool fits = true;
  DimVector padded, kernel;
  for (size_t d = 2; d < in.size(); d++) {
    TORCH_CHECK(weight[d] > 0, "kernel size should be greater than zero, but got kernel size ", pixel_sizes(weight));
    padded.push_back(checked_multiply_add(2, p.padding[d - 2], in[d]));
    kernel.push_back(extent_of_kernel(weight[d], p.dilation[d - 2]));
    fits = fits && padded.back() >= kernel.back();
  }
  TORCH_CHECK(p.transposed || fits, "Calculated padded input size per channel: (", by_x(padded), "). Kernel size: (",
              by_x(kernel), "). Kernel size can't be greater than actual input size");
  if (p.transposed) {
    check_output_padding(p);
  }
}

void check_dtypes(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(), "expected scalar type ", toString(input.scalar_type()),
              " but found ", toString(weight.scalar_type()));
  TORCH_CHECK(!bias.defined() || bias.scalar_type() == input.scalar_type(), "Input type (",
              c10::dtypeName(input.scalar_type()), ") and bias type (", c10::dtypeName(bias.scalar_type()),
              ") should be the same");
}

// --- shapes ----------------------------------------------------------------------------------------------------------

// The sizes of the result of a forward call.
DimVector conv_output_size(IntArrayRef input, IntArrayRef weight, const ConvParams& p) {
  DimVector output{input[0], p.transposed ? weight[1] * p.groups : weight[0]};
  for (size_t d = 2; d < input.size(); d++) {
    const int64_t kernel = extent_of_kernel(weight[d], p.dilation[d - 2]), padding = p.padding[d - 2];
    if (p.transposed) {
      const int64_t all = checked_multiply_add(input[d] - 1, p.stride[d - 2], kernel);
      const int64_t with_border = checked_multiply_add(1, all, p.output_padding[d - 2]);
      output.push_back(checked_multiply_add(-2, padding, with_border));
    } else {
      output.push_back((checked_multiply_add(2, padding, input[d]) - kernel) / p.stride[d - 2] + 1);
    }
  }
  const IntArrayRef pixels = pixel_sizes(output);
  TORCH_CHECK(!any_below(pixels, 1) || any_below(input, 1), "Given input size per channel: (", by_x(pixel_sizes(input)),
              "). Calculated output size per channel: (", by_x(pixels), "). Output size is too small");
  return output;
}

// The shape of the convolution that leads from `input` to `output`; for a transposed convolution, from its output to
// its input.
ConvShape shape_of(IntArrayRef input, IntArrayRef output, IntArrayRef weight, const ConvParams& p) {
  ConvShape shape;
  shape.batch = input[0];
  shape.groups = p.groups;
  shape.in_channels = weight[1];
  shape.out_channels = weight[0] / p.groups;
  const size_t dims = input.size() - 2, missing = 3 - dims;
  for (size_t d = 0; d < dims; d++) {
    shape.input[missing + d] = input[d + 2];
    shape.output[missing + d] = output[d + 2];
    shape.kernel[missing + d] = weight[d + 2];
    shape.stride[missing + d] = p.stride[d];
    shape.padding[missing + d] = p.padding[d];
    shape.dilation[missing + d] = p.dilation[d];
  }
  return shape;
}

bool is_reduced(ScalarType dtype) {
  return dtype == kHalf || dtype == kBFloat16;
}

// A dense operand of a kernel. The kernels compute 16-bit floats as floats.
Tensor operand(const Tensor& t) {
  if (!t.defined()) {
    return t;
  }
  return (is_reduced(t.scalar_type()) ? cast_to_dtype(t, kFloat) : t).contiguous();
}

Tensor empty_for(IntArrayRef sizes, const Tensor& like) {
  const ScalarType dtype = is_reduced(like.scalar_type()) ? kFloat : like.scalar_type();
  return detail::empty_generic(sizes, dtype, like.device());
}

// The channels of a result lie last in memory where those of the input or of the weight do.
MemoryFormat format_of_result(const Tensor& input, const Tensor& weight) {
  const bool last = input.dim() == 4 && (detail::suggest_memory_format(input) == MemoryFormat::ChannelsLast ||
                                         detail::suggest_memory_format(weight) == MemoryFormat::ChannelsLast);
  return last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
}

Tensor finished(const Tensor& result, ScalarType dtype, MemoryFormat format) {
  return (result.scalar_type() == dtype ? result : cast_to_dtype(result, dtype)).contiguous(format);
}

ConvParams params_of(const Tensor& weight, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                     bool transposed, IntArrayRef output_padding, int64_t groups) {
  const int64_t dims = weight.dim() - 2;
  TORCH_CHECK(dims > 0, "weight should have at least three dimensions");
  TORCH_CHECK(groups > 0, "non-positive groups is not supported");
  return {expand_param(stride, "stride", dims),
          expand_param(padding, "padding", dims),
          expand_param(dilation, "dilation", dims),
          expand_param(output_padding, "output_padding", dims),
          transposed,
          groups};
}

} // namespace

// --- the ops that autograd records -----------------------------------------------------------------------------------

static Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias_opt, IntArrayRef stride,
                          IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                          int64_t groups) {
  const Tensor bias = defined_bias(bias_opt);
  const ConvParams p = params_of(weight, stride, padding, dilation, transposed, output_padding, groups);
  check_shape_forward(input, weight.sizes(), bias, p);
  TORCH_CHECK(weight.dim() <= 5, "unsupported ConvNd parameters");
  check_dtypes(input, weight, bias);
  DimVector sizes = conv_output_size(input.sizes(), weight.sizes(), p);
  const MemoryFormat format = format_of_result(input, weight);
  if (input.numel() == 0) {
    TORCH_CHECK(input.sizes()[0] == 0 || input.sizes()[1] == 0,
                "Only zero batch or zero channel inputs are supported, but got input shape: ", input.sizes());
    sizes[1] = input.sizes()[1] == 0 ? 0 : sizes[1];
    return empty_impl(sizes, input.scalar_type(), input.device(), /*pin_memory=*/std::nullopt, format);
  }
  const Tensor output = empty_for(sizes, input);
  if (transposed) {
    convolution_backward_input_stub(input.device().type(), output, operand(input), operand(weight), operand(bias),
                                    shape_of(sizes, input.sizes(), weight.sizes(), p));
  } else {
    convolution_stub(input.device().type(), output, operand(input), operand(weight), operand(bias),
                     shape_of(input.sizes(), sizes, weight.sizes(), p));
  }
  return finished(output, input.scalar_type(), format);
}

static std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight, std::optional<IntArrayRef> bias_sizes,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
    int64_t groups, const std::vector<bool>& output_mask) {
  const ConvParams p = params_of(weight, stride, padding, dilation, transposed, output_padding, groups);
  check_shape_forward(input, weight.sizes(), Tensor(), p);
  TORCH_CHECK(weight.dim() <= 5, "unsupported ConvNd parameters");
  check_dtypes(input, weight, Tensor());
  check_dtypes(input, grad_output, Tensor());
  DimVector sizes = conv_output_size(input.sizes(), weight.sizes(), p);
  sizes[1] = input.sizes()[1] == 0 ? 0 : sizes[1];
  TORCH_CHECK(grad_output.sizes() == IntArrayRef(sizes), "convolution_backward: expected grad_output of shape ",
              IntArrayRef(sizes), ", which is the shape of the convolution's result, but got ", grad_output.sizes());
  const ScalarType dtype = input.scalar_type();
  const MemoryFormat format = format_of_result(input, weight);
  const c10::DeviceType device = input.device().type();
  const bool nothing = input.numel() == 0;
  const Tensor grad = nothing ? grad_output : operand(grad_output);
  Tensor grad_input, grad_weight, grad_bias;
  if (output_mask[0]) {
    if (nothing) {
      grad_input = empty_impl(input.sizes(), dtype, input.device(), /*pin_memory=*/std::nullopt, format);
    } else if (transposed) {
      grad_input = empty_for(input.sizes(), input);
      convolution_stub(device, grad_input, grad, operand(weight), Tensor(),
                       shape_of(sizes, input.sizes(), weight.sizes(), p));
    } else {
      grad_input = empty_for(input.sizes(), input);
      convolution_backward_input_stub(device, grad_input, grad, operand(weight), Tensor(),
                                      shape_of(input.sizes(), sizes, weight.sizes(), p));
    }
    grad_input = finished(grad_input, dtype, format);
  }
  if (output_mask[1]) {
    grad_weight = empty_for(weight.sizes(), weight);
    if (nothing) {
      zero_impl(grad_weight);
    } else if (transposed) { // the input of a transposed convolution plays the output
      convolution_backward_weight_stub(device, grad_weight, operand(input), grad,
                                       shape_of(sizes, input.sizes(), weight.sizes(), p));
    } else {
      convolution_backward_weight_stub(device, grad_weight, grad, operand(input),
                                       shape_of(input.sizes(), sizes, weight.sizes(), p));
    }
    grad_weight = finished(grad_weight, dtype, format);
  }
  if (output_mask[2]) {
    DimVector all_but_channels{0};
    for (int64_t d = 2; d < grad_output.dim(); d++) {
      all_but_channels.push_back(d);
    }
    grad_bias = at::sum(grad_output, all_but_channels, /*keepdim=*/false);
  }
  return {grad_input, grad_weight, grad_bias};
}

// --- the ops that people call ----------------------------------------------------------------------------------------

// Returns the input with a batch dimension, of size 1 where there is none, and whether there is one.
static std::pair<Tensor, bool> batchify(const Tensor& input, int64_t dims, const char* op) {
  const bool is_batched = input.dim() == dims + 2;
  TORCH_CHECK(is_batched || input.dim() == dims + 1, "Expected ", dims + 1, "D (unbatched) or ", dims + 2,
              "D (batched) input to ", op, ", but got input of size: ", input.sizes());
  return {is_batched ? input : at::unsqueeze(input, 0), is_batched};
}

static const char* const kConv[] = {"conv1d", "conv2d", "conv3d"};
static const char* const kConvTranspose[] = {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};

template <int dims>
static Tensor conv(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const auto [batch, is_batched] = batchify(input, dims, kConv[dims - 1]);
  const Tensor output =
      at::convolution(batch, weight, bias, stride, padding, dilation, /*transposed=*/false, {0}, groups);
  return is_batched ? output : at::squeeze(output, 0);
}

template <int dims>
static Tensor conv_transpose(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntArrayRef stride,
                             IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  const auto [batch, is_batched] = batchify(input, dims, kConvTranspose[dims - 1]);
  const Tensor output =
      at::convolution(batch, weight, bias, stride, padding, dilation, /*transposed=*/true, output_padding, groups);
  return is_batched ? output : at::squeeze(output, 0);
}

// Pads so that the result has the sizes of the input. The kernel pads both ends alike; where the padding of the two
// ends differs by one, the input gets a further pixel at its end.
static Tensor convolution_same(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                               IntArrayRef stride, IntArrayRef dilation, int64_t groups) {
  const int64_t dims = weight.dim() - 2;
  TORCH_CHECK(dims > 0, "weight should have at least three dimensions");
  TORCH_CHECK(groups > 0, "non-positive groups is not supported");
  TORCH_CHECK(!any_below(pixel_sizes(weight.sizes()), 1), "weight should have positive sizes, but got ",
              weight.sizes());
  TORCH_CHECK(static_cast<int64_t>(stride.size()) == dims || stride.size() == 1, "stride cannot broadcast to ", dims,
              " dimensions");
  TORCH_CHECK(static_cast<int64_t>(dilation.size()) == dims || dilation.size() == 1, "dilation cannot broadcast to ",
              dims, " dimensions");
  TORCH_CHECK(std::all_of(stride.begin(), stride.end(), [](int64_t s) { return s == 1; }),
              "padding='same' is not supported for strided convolutions");
  const DimVector gaps = expand_param(dilation, "dilation", dims);
  DimVector both, pad(static_cast<size_t>(2 * dims), 0);
  bool differs = false;
  for (int64_t d = 0; d < dims; d++) {
    const int64_t total = checked_multiply_add(gaps[d], weight.sizes()[2 + d] - 1, 0);
    both.push_back(std::max<int64_t>(total, 0) / 2);
    pad[2 * (dims - 1 - d) + 1] = std::max<int64_t>(total, 0) % 2;
    differs = differs || total % 2 != 0;
  }
  if (differs) {
    TORCH_WARN_ONCE(
        "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the "
        "input be created");
  }
  const Tensor padded = differs ? at::constant_pad_nd(input, pad, 0) : input;
  return at::convolution(padded, weight, bias, stride, both, dilation, /*transposed=*/false, {0}, groups);
}

template <int dims>
static Tensor conv_padding(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntArrayRef stride,
                           const std::string& padding, IntArrayRef dilation, int64_t groups) {
  const auto [batch, is_batched] = batchify(input, dims, kConv[dims - 1]);
  Tensor output;
  if (padding == "same") {
    output = convolution_same(batch, weight, bias, stride, dilation, groups);
  } else {
    TORCH_CHECK(padding == "valid", "Invalid padding string: '", padding, "'");
    output = at::convolution(batch, weight, bias, stride, {0}, dilation, /*transposed=*/false, {0}, groups);
  }
  return is_batched ? output : at::squeeze(output, 0);
}

// The convolution of aten/src/ATen/native/ConvolutionTBC.cpp, whose tensors have the time first.
// self: (T, B, C); weight: (K, C, F); bias: (F). Returns (T + 2 pad - K + 1, B, F). A negative padding takes steps
// away.
static Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  TORCH_CHECK(self.dim() == 3, "Input must have 3 dims: time, batch, in_channel");
  TORCH_CHECK(weight.dim() == 3, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.");
  TORCH_CHECK(bias.dim() == 1, "Bias must be 1-D");
  TORCH_CHECK(self.sizes()[2] == weight.sizes()[1],
              "Input dim 2 (input channels) is not == dim 1 in the weight tensor (input channels)");
  TORCH_CHECK(weight.sizes()[2] == bias.sizes()[0],
              "Bias size must equal dim 2 in the weight tensor (output channels).");
  const int64_t steps = checked_multiply_add(2, pad, self.sizes()[0]) - weight.sizes()[0] + 1;
  TORCH_CHECK(steps >= 0, "Trying to create tensor with negative dimension ", steps, ": the kernel has ",
              weight.sizes()[0], " steps of time, and the padded input ", steps + weight.sizes()[0] - 1);
  const DimVector sizes{steps, self.sizes()[1], weight.sizes()[2]};
  const Tensor like_self = at::to(bias, self.scalar_type());
  const Tensor result = at::clone(at::expand(like_self, sizes), MemoryFormat::Contiguous);
  for (int64_t k = 0; k < weight.sizes()[0]; k++) { // the step that tap k lays on the result's first is k - pad
    const int64_t from = std::max<int64_t>(k - pad, 0), to = std::max<int64_t>(pad - k, 0);
    const int64_t count = std::min(self.sizes()[0] + pad - k, steps) - to;
    if (count > 0) {
      const Tensor products = at::matmul(at::narrow(self, 0, from, count), at::select(weight, 0, k));
      Tensor place = at::narrow(result, 0, to, count);
      at::add_(place, products);
    }
  }
  return result;
}

// The op that traces and tools of PyTorch name. There its last four arguments choose among the algorithms of cuDNN; the
// kernels here have one algorithm, so these arguments have no effect.
static Tensor _convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                           int64_t groups, bool /*benchmark*/, bool /*deterministic*/, bool /*cudnn_enabled*/,
                           bool /*allow_tf32*/) {
  return at::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
}

// Registers the ops for one number of dimensions.
template <int dims>
static void register_conv(Library& m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_composite(for_dims(dims,
                           "conv#d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[#] stride=1, SymInt[#] "
                           "padding=0, SymInt[#] dilation=1, SymInt groups=1) -> Tensor"),
                  TORCH_FN(conv<dims>), FUNCTION);
  m.def_composite(for_dims(dims,
                           "conv#d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[#] stride=1, str "
                           "padding='valid', SymInt[#] dilation=1, SymInt groups=1) -> Tensor"),
                  TORCH_FN(conv_padding<dims>), FUNCTION);
  const std::string name = dims == 1 ? "conv_transpose1d" : "conv_transpose#d.input";
  m.def_composite(
      for_dims(dims, name + "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[#] stride=1, SymInt[#] "
                            "padding=0, SymInt[#] output_padding=0, SymInt groups=1, SymInt[#] dilation=1) -> Tensor"),
      TORCH_FN(conv_transpose<dims>), FUNCTION);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", TORCH_FN(conv_tbc), FUNCTION);
  m.def(
      "convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
      "bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
      TORCH_FN(convolution), kernels(convolution_stub, convolution_backward_input_stub), FUNCTION);
  m.def(
      "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, "
      "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] "
      "output_mask) -> (Tensor, Tensor, Tensor)",
      TORCH_FN(convolution_backward),
      kernels(convolution_stub, convolution_backward_input_stub, convolution_backward_weight_stub), FUNCTION);
  m.def_composite(
      "_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
      "bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool "
      "cudnn_enabled, bool allow_tf32) -> Tensor",
      TORCH_FN(_convolution), FUNCTION);
  register_conv<1>(m);
  register_conv<2>(m);
  register_conv<3>(m);
}

} // namespace reftorch::at::native
