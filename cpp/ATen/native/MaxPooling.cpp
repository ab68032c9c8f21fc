// Mirrors: aten/src/ATen/native/MaxPooling.cpp, aten/src/ATen/native/DilatedMaxPool2d.cpp,
// aten/src/ATen/native/DilatedMaxPool3d.cpp, aten/src/ATen/native/AdaptiveMaxPooling2d.cpp,
// aten/src/ATen/native/FractionalMaxPool2d.cpp, aten/src/ATen/native/MaxUnpooling.cpp, aten/src/ATen/native/Pool.h
//
// The largest element of each window and its place, and the map back, which writes elements to places. Left out: mkldnn
// and quantized pooling.
#include <ATen/native/Pool.h>

#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/ForDims.h>
#include <ATen/native/OutByCopy.h>
#include <ATen/native/TensorFactories.h>

#include <sstream>

namespace reftorch::at::native {

DEFINE_DISPATCH(max_pool_stub)
DEFINE_DISPATCH(fractional_max_pool_stub)
DEFINE_DISPATCH(max_pool_backward_stub)
DEFINE_DISPATCH(max_unpool_stub)

// --- windows: shared with AveragePooling.cpp -------------------------------------------------------------------------

static DimVector pool_argument(const char* op, const char* name, const char* how, IntArrayRef values, int64_t dims) {
  static const char* const kNumbers[] = {"one int", "two ints", "three ints"};
  const bool fits = values.size() == 1 || static_cast<int64_t>(values.size()) == dims;
  TORCH_CHECK(fits, op, ": ", name, " must either be ", how, "a single int, or a tuple of ", kNumbers[dims - 1]);
  return values.size() == 1 ? DimVector(static_cast<size_t>(dims), values[0]) : DimVector(values);
}

PoolArguments pool_arguments(const char* op, int64_t dims, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef dilation, bool ceil_mode) {
  PoolArguments a;
  a.kernel = pool_argument(op, "kernel_size", "", kernel, dims);
  a.stride = stride.empty() ? a.kernel : pool_argument(op, "stride", "omitted, ", stride, dims);
  a.padding = pool_argument(op, "padding", "", padding, dims);
  a.dilation = pool_argument(op, "dilation", "", dilation, dims);
  a.ceil_mode = ceil_mode;
  return a;
}

// The number of windows along one dimension. In ceil_mode a last window may hang over the end, if it begins on the
// input or on the padding before it.
static int64_t pooling_output_size(int64_t input, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                                   bool ceil_mode) {
  TORCH_CHECK(stride != 0, "stride should not be zero");
  TORCH_CHECK(padding >= 0, "pad must be non-negative, but got pad: ", padding);
  const int64_t extent = checked_multiply_add(kernel - 1, dilation, 1);
  TORCH_CHECK(padding <= extent / 2, "pad should be at most half of effective kernel size, but got pad=", padding,
              ", kernel_size=", kernel, " and dilation=", dilation);
  const int64_t padded = checked_multiply_add(2, padding, input);
  const int64_t room = checked_multiply_add(-1, extent, checked_multiply_add(1, padded, ceil_mode ? stride - 1 : 0));
  const int64_t quotient = room / stride - (room % stride != 0 && (room < 0) != (stride < 0) ? 1 : 0);
  const bool last_begins_outside = ceil_mode && checked_multiply_add(quotient, stride, 0) >= input + padding;
  return quotient + 1 - (last_begins_outside ? 1 : 0);
}

static std::string by_letter_x(int64_t channels, IntArrayRef pixels) {
  std::ostringstream text;
  text << "(" << channels;
  for (int64_t size : pixels) {
    text << "x" << size;
  }
  text << ")";
  return text.str();
}

// "kH: 2 kW: 2": the values with the letters of their dimensions.
static std::string with_letters(const char* name, IntArrayRef values) {
  static const char* const kLetters[] = {"T", "H", "W"};
  std::ostringstream text;
  for (size_t d = 0; d < values.size(); d++) {
    text << (d == 0 ? "" : " ") << name << kLetters[3 - values.size() + d] << ": " << values[d];
  }
  return text.str();
}

static bool any_not_positive(IntArrayRef values) {
  return std::any_of(values.begin(), values.end(), [](int64_t value) { return value <= 0; });
}

PoolShape pool_shape(const Tensor& self, const PoolArguments& a, bool check_input_size) {
  const size_t dims = a.kernel.size();
  const int64_t first = self.dim() - static_cast<int64_t>(dims); // of the pixels
  TORCH_CHECK(first == 1 || first == 2, "non-empty ", dims + 1, "D or ", dims + 2,
              "D (batch mode) tensor expected for input");
  const IntArrayRef pixels = self.sizes().slice(first, dims);
  DimVector output;
  for (size_t d = 0; d < dims; d++) {
    output.push_back(
        pooling_output_size(pixels[d], a.kernel[d], a.stride[d], a.padding[d], a.dilation[d], a.ceil_mode));
  }
  TORCH_CHECK(!any_not_positive(a.kernel), "kernel size should be greater than zero, but got ",
              with_letters("k", a.kernel));
  TORCH_CHECK(!any_not_positive(a.stride), "stride should be greater than zero, but got ", with_letters("d", a.stride));
  TORCH_CHECK(!any_not_positive(a.dilation), "dilation should be greater than zero, but got ",
              with_letters("dilation", a.dilation));
  TORCH_CHECK(!any_not_positive(self.sizes().slice(first - 1, dims + 1)), "Expected ", dims + 1, "D or ", dims + 2,
              "D (batch mode) tensor with optional 0 dim batch size for input, but got:", self.sizes());
  for (size_t d = 0; check_input_size && d < dims; d++) {
    TORCH_CHECK(pixels[d] >= a.kernel[d], "input image (", with_letters("", pixels), ") smaller than kernel size (",
                with_letters("k", a.kernel), ")");
  }
  for (size_t d = 0; d < dims; d++) {
    TORCH_CHECK(a.kernel[d] / 2 >= a.padding[d], "pad should be smaller than or equal to half of kernel size, but got ",
                with_letters("pad", a.padding), ", ", with_letters("k", a.kernel));
  }
  const int64_t channels = self.sizes()[first - 1];
  TORCH_CHECK(!any_not_positive(output), "Given input size: ", by_letter_x(channels, pixels),
              ". Calculated output size: ", by_letter_x(channels, output), ". Output size is too small");
  PoolShape shape;
  shape.planes = channels * (first == 2 ? self.sizes()[0] : 1);
  for (size_t d = 0, place = 3 - dims; d < dims; d++, place++) {
    shape.input[place] = pixels[d];
    shape.output[place] = output[d];
    shape.kernel[place] = a.kernel[d];
    shape.stride[place] = a.stride[d];
    shape.padding[place] = a.padding[d];
    shape.dilation[place] = a.dilation[d];
  }
  return shape;
}

PoolShape adaptive_pool_shape(const Tensor& self, IntArrayRef output_size) {
  const size_t dims = output_size.size();
  const int64_t first = self.dim() - static_cast<int64_t>(dims);
  PoolShape shape;
  shape.adaptive = true;
  shape.planes = self.sizes()[first - 1] * (first == 2 ? self.sizes()[0] : 1);
  for (size_t d = 0, place = 3 - dims; d < dims; d++, place++) {
    shape.input[place] = self.sizes()[first + static_cast<int64_t>(d)];
    shape.output[place] = output_size[d];
  }
  return shape;
}

DimVector pooled_sizes(const Tensor& self, const PoolShape& shape, int64_t dims) {
  DimVector sizes(self.sizes());
  std::copy(shape.output.end() - dims, shape.output.end(), sizes.end() - dims);
  return sizes;
}

Tensor empty_pooled(IntArrayRef sizes, ScalarType dtype, const Tensor& like) {
  return detail::empty_generic(sizes, dtype, like.device());
}

Tensor in_format_of(const Tensor& result, const Tensor& self) {
  return result.dim() == 4 ? result.contiguous(detail::suggest_memory_format(self)) : result;
}

void check_dims_of_1d(const char* op, const Tensor& self) {
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3, "Expected 2 to 3 dimensions, but got ", self.dim(),
              "-dimensional tensor for argument #1 'self' (while checking arguments for ", op, ")");
}

// --- the largest element of each window ------------------------------------------------------------------------------

using TwoTensors = std::tuple<Tensor, Tensor>;

static TwoTensors run_max_pool(const Tensor& self, const PoolShape& shape, int64_t dims) {
  const DimVector sizes = pooled_sizes(self, shape, dims);
  const Tensor output = empty_pooled(sizes, self.scalar_type(), self), indices = empty_pooled(sizes, kLong, self);
  max_pool_stub(self.device().type(), output, indices, self.contiguous(), shape);
  return {in_format_of(output, self), in_format_of(indices, self)};
}

// grad_output and indices have the shape of the pooled self.
static Tensor run_max_pool_backward(const char* op, const Tensor& grad_output, const Tensor& self,
                                    const Tensor& indices, const PoolShape& shape, int64_t dims) {
  const DimVector sizes = pooled_sizes(self, shape, dims);
  TORCH_CHECK(grad_output.sizes() == IntArrayRef(sizes) && indices.sizes() == IntArrayRef(sizes), op,
              ": expected grad_output and indices of shape ", IntArrayRef(sizes), ", but got ", grad_output.sizes(),
              " and ", indices.sizes());
  TORCH_CHECK(indices.scalar_type() == kLong, op, ": expected indices of dtype Long, but got ", indices.scalar_type());
  TORCH_CHECK(grad_output.scalar_type() == self.scalar_type(), "expected dtype ", self.scalar_type(),
              " for `grad_output` but got dtype ", grad_output.scalar_type());
  const Tensor grad_input = empty_pooled(self.sizes(), self.scalar_type(), self);
  max_pool_backward_stub(self.device().type(), grad_input, grad_output.contiguous(), indices.contiguous(), shape);
  return in_format_of(grad_input, self);
}

template <int dims>
static TwoTensors max_pool_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                        IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const char* const op = dims == 2 ? "max_pool2d" : "max_pool3d";
  return run_max_pool(
      self, pool_shape(self, pool_arguments(op, dims, kernel_size, stride, padding, dilation, ceil_mode)), dims);
}

template <int dims>
static Tensor max_pool_with_indices_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                             IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                             bool ceil_mode, const Tensor& indices) {
  const char* const op = dims == 2 ? "max_pool2d" : "max_pool3d";
  const PoolShape shape = pool_shape(self, pool_arguments(op, dims, kernel_size, stride, padding, dilation, ceil_mode));
  return run_max_pool_backward(op, grad_output, self, indices, shape, dims);
}

template <int dims>
static Tensor max_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                       IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(dims == 2 ? at::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)
                               : at::max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

static int64_t only_int(const char* name, IntArrayRef values) {
  TORCH_CHECK(values.size() == 1, "max_pool1d() ", name,
              " must be an int, list of ints or tuple of ints of size 1 but got size ", values.size());
  return values[0];
}

static TwoTensors max_pool1d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                          IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const bool filled = (self.dim() == 2 && self.size(0) != 0 && self.size(1) != 0) ||
                      (self.dim() == 3 && self.size(1) != 0 && self.size(2) != 0);
  TORCH_CHECK(filled,
              "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
              "got:",
              self.sizes());
  const int64_t kernel = only_int("kernel_size", kernel_size),
                step = stride.empty() ? kernel : only_int("stride", stride);
  const int64_t pad = only_int("padding", padding), gap = only_int("dilation", dilation);
  TORCH_CHECK(kernel > 0, "max_pool1d() kernel_size must be greater than zero, but got ", kernel);
  TORCH_CHECK(step > 0, "max_pool1d() stride must be greater than zero, but got ", step);
  TORCH_CHECK(pad >= 0, "max_pool1d() padding must be non-negative, but got ", pad);
  TORCH_CHECK(pad <= kernel / 2, "max_pool1d() padding should be at most half of kernel size, but got padding=", pad,
              " and kernel_size=", kernel);
  TORCH_CHECK(gap > 0, "max_pool1d() dilation must be greater than zero, but got ", gap);
  const int64_t size = pooling_output_size(self.size(-1), kernel, step, pad, gap, ceil_mode);
  TORCH_CHECK(size > 0, "max_pool1d() Invalid computed output size: ", size);
  const TwoTensors result =
      at::max_pool2d_with_indices(at::unsqueeze(self, -2), {1, kernel}, {1, step}, {0, pad}, {1, gap}, ceil_mode);
  return {at::squeeze(std::get<0>(result), -2), at::squeeze(std::get<1>(result), -2)};
}

static Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                         IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

// --- windows that divide the input into equal parts ------------------------------------------------------------------

template <int dims>
static TwoTensors adaptive_max_pool(const Tensor& self, IntArrayRef output_size) {
  const std::string op = "adaptive_max_pool" + std::to_string(dims) + "d";
  TORCH_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, "(): Expected ", dims + 1, "D or ", dims + 2,
              "D tensor, but got: ", self.sizes());
  for (int64_t d = 1; d < self.dim(); d++) { // the first dimension may be empty, also where that are the channels
    TORCH_CHECK(self.sizes()[d] > 0, op,
                "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ", self.sizes(),
                " with dimension ", d, " being empty");
  }
  TORCH_CHECK(output_size.size() == dims, op, "(): internal error: output_size.size() must be ", dims);
  return run_max_pool(self, adaptive_pool_shape(self, output_size), dims);
}

template <int dims>
static Tensor adaptive_max_pool_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) {
  const std::string op = "adaptive_max_pool" + std::to_string(dims) + "d_backward";
  for (int64_t d = 1; d < grad_output.dim(); d++) {
    TORCH_CHECK(grad_output.sizes()[d] > 0, op,
                "(): Expected grad_output to have non-zero size for non-batch dimensions, but grad_output has sizes ",
                grad_output.sizes(), " with dimension ", d, " being empty");
  }
  TORCH_CHECK((self.dim() == dims + 1 || self.dim() == dims + 2) && grad_output.dim() == self.dim(), op,
              "(): Expected ", dims + 1, "D or ", dims + 2, "D grad_output and input, but got ", grad_output.sizes(),
              " and ", self.sizes());
  const IntArrayRef output_size = grad_output.sizes().slice(grad_output.dim() - dims, dims);
  return run_max_pool_backward(op.c_str(), grad_output, self, indices, adaptive_pool_shape(self, output_size), dims);
}

static TwoTensors adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size) {
  check_dims_of_1d("adaptive_max_pool1d", self);
  TORCH_CHECK(output_size.size() == 1, "adaptive_max_pool1d() argument 'output_size' should contain one int (got ",
              output_size.size(), ")");
  const TwoTensors result = at::adaptive_max_pool2d(at::unsqueeze(self, -2), {1, output_size[0]});
  return {at::squeeze(std::get<0>(result), -2), at::squeeze(std::get<1>(result), -2)};
}

// --- windows at random places ----------------------------------------------------------------------------------------

template <int dims>
static PoolShape fractional_pool_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
                                       bool is_backward = false) {
  static const char* const kNames[] = {"time", "height", "width"};
  const std::string op = dims == 2 ? "fractional_max_pool2d()" : "fractional_max_pool3d_out()";
  TORCH_CHECK(kernel_size.size() == dims, op, ": kernel_size must be a single int or ", dims, " ints");
  TORCH_CHECK(output_size.size() == dims, op, ": output_size must be a single int or ", dims, " ints");
  TORCH_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, ": Expected ", dims + 1, "D or ", dims + 2,
              "D tensor, but got: ", self.sizes());
  for (int64_t d = self.dim() - dims - 1; d < self.dim(); d++) {
    TORCH_CHECK(self.sizes()[d] > 0, op, ": Expected input to have non-zero size for non-batch dimensions, but got ",
                self.sizes(), " with dimension ", d, " being empty.");
  }
  PoolShape shape = adaptive_pool_shape(self, output_size);
  shape.adaptive = false;
  for (int d = 0, place = 3 - dims; d < dims; d++, place++) {
    TORCH_CHECK(kernel_size[d] > 0 && output_size[d] >= 0, op,
                ": kernel_size should be greater than zero and output_size non-negative, but got ", kernel_size,
                " and ", output_size);
    // In three dimensions PyTorch's forward asks for one place more than in two, and its backward does not.
    const int64_t room = shape.input[place] - (dims == 3 && !is_backward);
    TORCH_CHECK(checked_multiply_add(1, output_size[d], kernel_size[d] - 1) <= room, op, ": pool ", kNames[place], " ",
                kernel_size[d], " too large relative to input ", kNames[place], " ", shape.input[place]);
    shape.kernel[place] = kernel_size[d];
  }
  return shape;
}

template <int dims>
static TwoTensors fractional_max_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
                                      const Tensor& random_samples) {
  const PoolShape shape = fractional_pool_shape<dims>(self, kernel_size, output_size);
  TORCH_CHECK(random_samples.scalar_type() == self.scalar_type(),
              "Expect _random_samples to have the same dtype as input");
  TORCH_CHECK(random_samples.dim() == 3, "Expect _random_samples to have 3 dimensions, got ", random_samples.dim());
  const int64_t batch = self.dim() == dims + 2 ? self.sizes()[0] : 1, channels = self.sizes()[self.dim() - dims - 1];
  const IntArrayRef samples = random_samples.sizes();
  TORCH_CHECK(samples[0] >= batch, "Expect _random_samples.size(0) no less then input batch size.");
  TORCH_CHECK(samples[1] == channels, "Expect _random_samples.size(1) equals to input channel size.");
  TORCH_CHECK(samples[2] == dims, "Expect _random_samples.size(2) equals to ", dims, "; got ", samples[2], ".");
  const DimVector sizes = pooled_sizes(self, shape, dims);
  const Tensor output = empty_pooled(sizes, self.scalar_type(), self), indices = empty_pooled(sizes, kLong, self);
  fractional_max_pool_stub(self.device().type(), output, indices, self.contiguous(), random_samples.contiguous(),
                           shape);
  return {output, indices};
}

template <int dims>
static Tensor fractional_max_pool_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                           IntArrayRef output_size, const Tensor& indices) {
  self.size(0); // both raise IndexError for a tensor with fewer dimensions, as in PyTorch
  self.size(1);
  return run_max_pool_backward("fractional_max_pool_backward", grad_output, self, indices,
                               fractional_pool_shape<dims>(self, kernel_size, output_size, /*is_backward=*/true), dims);
}

// --- max_unpool: each element returns to the place that its index names; the rest is 0 -------------------------------

template <int dims>
static Tensor run_max_unpool(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  const std::string op = "max_unpooling" + std::to_string(dims) + "d";
  TORCH_CHECK(indices.scalar_type() == kLong,
              "elements in indices should be type int64 but got: ", indices.scalar_type());
  TORCH_CHECK(output_size.size() == dims, "There should be exactly ", dims == 2 ? "two" : "three", " elements (",
              dims == 2 ? "" : "depth, ", "height, width) in output_size, but got ", output_size.size(), " elements.");
  TORCH_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "Input to ", op, " should be a ", dims + 1, "d or ",
              dims + 2, "d Tensor, but got a tensor with ", self.dim(), " dimensions.");
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"max_unpool", dims, "d\" not implemented for '",
                              self.scalar_type(), "'");
  TORCH_CHECK(self.sizes() == indices.sizes(), "Expected shape of indices to be same as that of the input tensor (",
              self.sizes(), ") but got indices tensor with shape: ", indices.sizes());
  for (int64_t d = self.dim() - dims - 1; d < self.dim(); d++) {
    TORCH_CHECK(self.sizes()[d] > 0, op,
                "_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, but got ",
                self.sizes(), " with dimension ", d, " being empty.");
  }
  const IntArrayRef pixels = self.sizes().slice(self.dim() - dims, dims);
  PoolShape shape = adaptive_pool_shape(self, pixels);
  DimVector sizes(self.sizes());
  for (int d = 0, place = 3 - dims; d < dims; d++, place++) {
    shape.input[place] = output_size[d];
    sizes[self.dim() - dims + d] = output_size[d];
  }
  const Tensor result = empty_pooled(sizes, self.scalar_type(), self);
  if (result.numel() == 0) { // there is no place, and PyTorch takes any
    return result;
  }
  max_unpool_stub(self.device().type(), result, self.contiguous(), indices.contiguous(), shape);
  return in_format_of(result, self);
}

static Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  return run_max_unpool<2>(self, indices, output_size);
}

// The places are in indices, so stride and padding are checked and have no effect.
static Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                           IntArrayRef padding) {
  TORCH_CHECK(stride.size() == 3,
              "There should be exactly three elements (depth, height, width) in stride, but got: ", stride.size(),
              " elements.");
  TORCH_CHECK(padding.size() == 3,
              "There should be exactly three elements (depth, height, width) in padding, but got: ", padding.size(),
              " elements.");
  TORCH_CHECK(!any_not_positive(stride), "strides should be greater than zero, but got stride: ", stride);
  return run_max_unpool<3>(self, indices, output_size);
}

// Registers the ops that exist for two and for three dimensions.
template <int dims>
static void register_max_pool(Library& m) {
  constexpr int FUNCTION = variants::FUNCTION, NN = variants::NN;
  m.def_composite(for_dims(dims,
                           "max_pool#d(Tensor self, int[#] kernel_size, int[#] stride=[], int[#] padding=0, int[#] "
                           "dilation=1, bool ceil_mode=False) -> Tensor"),
                  TORCH_FN(max_pool<dims>), FUNCTION);
  def_with_indices_out_by_copy(
      m,
      for_dims(dims,
               "max_pool#d_with_indices(Tensor self, int[#] kernel_size, int[#] stride=[], "
               "int[#] padding=0, int[#] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
      "out", TORCH_FN(max_pool_with_indices<dims>), kernels(max_pool_stub), NN);
  m.def(for_dims(dims,
                 "max_pool#d_with_indices_backward(Tensor grad_output, Tensor self, int[#] kernel_size, int[#] stride, "
                 "int[#] padding, int[#] dilation, bool ceil_mode, Tensor indices) -> Tensor"),
        TORCH_FN(max_pool_with_indices_backward<dims>), kernels(max_pool_backward_stub), NN, out_form("grad_input"));
  def_with_indices_out_by_copy(
      m, for_dims(dims, "adaptive_max_pool#d(Tensor self, int[#] output_size) -> (Tensor, Tensor)"), "out",
      TORCH_FN(adaptive_max_pool<dims>), kernels(max_pool_stub), NN);
  m.def(for_dims(dims, "adaptive_max_pool#d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"),
        TORCH_FN(adaptive_max_pool_backward<dims>), kernels(max_pool_backward_stub), NN, out_form("grad_input"));
  def_with_indices_out_by_copy(m,
                               for_dims(dims,
                                        "fractional_max_pool#d(Tensor self, int[#] kernel_size, int[#] output_size, "
                                        "Tensor random_samples) -> (Tensor, Tensor)"),
                               "output", TORCH_FN(fractional_max_pool<dims>), kernels(fractional_max_pool_stub), NN);
  m.def(for_dims(dims,
                 "fractional_max_pool#d_backward(Tensor grad_output, Tensor self, int[#] kernel_size, int[#] "
                 "output_size, Tensor indices) -> Tensor"),
        TORCH_FN(fractional_max_pool_backward<dims>), kernels(max_pool_backward_stub), NN, out_form("grad_input"));
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION, NN = variants::NN;
  m.def_composite(
      "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, "
      "bool ceil_mode=False) -> (Tensor, Tensor)",
      TORCH_FN(max_pool1d_with_indices), FUNCTION);
  m.def_composite(
      "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool "
      "ceil_mode=False) -> Tensor",
      TORCH_FN(max_pool1d), FUNCTION);
  m.def_composite("adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
                  TORCH_FN(adaptive_max_pool1d), FUNCTION);
  register_max_pool<2>(m);
  register_max_pool<3>(m);
  def_with_out_by_copy(m, "max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
                       TORCH_FN(max_unpool2d), kernels(max_unpool_stub), NN);
  def_with_out_by_copy(
      m, "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor",
      TORCH_FN(max_unpool3d), kernels(max_unpool_stub), NN);
}

} // namespace reftorch::at::native
