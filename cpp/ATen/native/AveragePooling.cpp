// Mirrors: aten/src/ATen/native/AveragePool2d.cpp, aten/src/ATen/native/AveragePool3d.cpp,
// aten/src/ATen/native/AdaptiveAveragePooling.cpp, aten/src/ATen/native/AdaptiveAveragePooling3d.cpp,
// aten/src/ATen/native/Pooling.cpp
//
// The mean of each window. Left out: mkldnn and quantized pooling.
#include <ATen/native/Pool.h>

#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/ForDims.h>
#include <ATen/native/OutByCopy.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(avg_pool_stub)
DEFINE_DISPATCH(avg_pool_backward_stub)

static Tensor run_avg_pool(const Tensor& self, const PoolShape& shape, int64_t dims, bool count_include_pad,
                           std::optional<int64_t> divisor) {
  const Tensor output = empty_pooled(pooled_sizes(self, shape, dims), self.scalar_type(), self);
  avg_pool_stub(self.device().type(), output, self.contiguous(), shape, count_include_pad, divisor);
  return in_format_of(output, self);
}

static Tensor run_avg_pool_backward(const char* op, const Tensor& grad_output, const Tensor& self,
                                    const PoolShape& shape, int64_t dims, bool count_include_pad,
                                    std::optional<int64_t> divisor) {
  const DimVector sizes = pooled_sizes(self, shape, dims);
  TORCH_CHECK(grad_output.sizes() == IntArrayRef(sizes), op, ": expected grad_output of shape ", IntArrayRef(sizes),
              ", but got ", grad_output.sizes());
  TORCH_CHECK(grad_output.scalar_type() == self.scalar_type(), "expected dtype ", self.scalar_type(),
              " for `grad_output` but got dtype ", grad_output.scalar_type());
  const Tensor grad_input = empty_pooled(self.sizes(), self.scalar_type(), self);
  avg_pool_backward_stub(self.device().type(), grad_input, grad_output.contiguous(), shape, count_include_pad, divisor);
  return in_format_of(grad_input, self);
}

template <int dims>
static PoolShape avg_pool_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                bool ceil_mode, std::optional<int64_t> divisor_override) {
  const char* const op = dims == 2 ? "avg_pool2d" : "avg_pool3d";
  const PoolArguments arguments = pool_arguments(op, dims, kernel_size, stride, padding, {1}, ceil_mode);
  TORCH_CHECK(divisor_override.value_or(1) != 0, "divisor must be not zero");
  if (dims == 2) {
    self.size(-3); // raises IndexError for a tensor with fewer dimensions, as in PyTorch
  }
  return pool_shape(self, arguments, /*check_input_size=*/dims == 3);
}

template <int dims>
static Tensor avg_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                       bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  const PoolShape shape = avg_pool_shape<dims>(self, kernel_size, stride, padding, ceil_mode, divisor_override);
  return run_avg_pool(self, shape, dims, count_include_pad, divisor_override);
}

template <int dims>
static Tensor avg_pool_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                                std::optional<int64_t> divisor_override) {
  const PoolShape shape = avg_pool_shape<dims>(self, kernel_size, stride, padding, ceil_mode, divisor_override);
  return run_avg_pool_backward(dims == 2 ? "avg_pool2d_backward" : "avg_pool3d_backward", grad_output, self, shape,
                               dims, count_include_pad, divisor_override);
}

static int64_t one_int(const char* name, IntArrayRef values) {
  TORCH_CHECK(values.size() == 1, "avg_pool1d() argument '", name, "' should contain one int (got ", values.size(),
              ")");
  return values[0];
}

static Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                         bool ceil_mode, bool count_include_pad) {
  check_dims_of_1d("avg_pool1d", self);
  const int64_t kernel = one_int("kernel_size", kernel_size), pad = one_int("padding", padding);
  const int64_t step = stride.empty() ? kernel : one_int("stride", stride);
  const Tensor output = at::avg_pool2d(at::unsqueeze(self, -2), {1, kernel}, {1, step}, {0, pad}, ceil_mode,
                                       count_include_pad, std::nullopt);
  return at::squeeze(output, -2);
}

// --- windows that divide the input into equal parts ------------------------------------------------------------------

template <int dims>
static Tensor _adaptive_avg_pool(const Tensor& self, IntArrayRef output_size) {
  const std::string op = "adaptive_avg_pool" + std::to_string(dims) + "d";
  TORCH_CHECK(output_size.size() == dims, op, ": output_size must be ", dims);
  TORCH_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, "(): Expected ", dims + 1, "D or ", dims + 2,
              "D tensor, but got ", self.sizes());
  for (int64_t d = dims == 2 ? self.dim() - 2 : 1; d < self.dim(); d++) { // in 3D, no channels is an error, too
    TORCH_CHECK(self.sizes()[d] > 0, op,
                "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ", self.sizes(),
                " with dimension ", d, " being empty");
  }
  return run_avg_pool(self, adaptive_pool_shape(self, output_size), dims, false, std::nullopt);
}

template <int dims>
static Tensor _adaptive_avg_pool_backward(const Tensor& grad_output, const Tensor& self) {
  const std::string op = "adaptive_avg_pool" + std::to_string(dims) + "d_backward";
  TORCH_CHECK(dims == 3 || self.dim() == grad_output.dim(), op, ": Expected dimensions ", self.dim(),
              " for `gradOutput` but got dimensions ", grad_output.dim());
  for (int64_t d = 1; d < grad_output.dim(); d++) {
    TORCH_CHECK(grad_output.sizes()[d] > 0, op,
                "(): Expected grad_output to have non-zero size for non-batch dimensions, but grad_output has sizes ",
                grad_output.sizes(), " with dimension ", d, " being empty");
  }
  if (dims == 3) {
    self.size(-4); // raises IndexError for a tensor with fewer dimensions, as in PyTorch
  }
  TORCH_CHECK((self.dim() == dims + 1 || self.dim() == dims + 2) && grad_output.dim() == self.dim(), op,
              "(): Expected ", dims + 1, "D or ", dims + 2, "D grad_output and input, but got ", grad_output.sizes(),
              " and ", self.sizes());
  const IntArrayRef output_size = grad_output.sizes().slice(grad_output.dim() - dims, dims);
  return run_avg_pool_backward(op.c_str(), grad_output, self, adaptive_pool_shape(self, output_size), dims, false,
                               std::nullopt);
}

// The mean of all pixels is a plain mean, whose kernel is faster.
template <int dims>
static Tensor adaptive_avg_pool(const Tensor& self, IntArrayRef output_size) {
  TORCH_CHECK(output_size.size() == dims, "adaptive_avg_pool", dims, "d: output_size must be ", dims);
  for (int64_t size : output_size) {
    TORCH_CHECK(size >= 0, "adaptive_avg_pool", dims, "d: elements of output_size must be greater than or equal to 0 ",
                "but received ", output_size);
  }
  const bool to_one = std::all_of(output_size.begin(), output_size.end(), [](int64_t size) { return size == 1; });
  if (to_one) {
    const Tensor mean = dims == 2 ? at::mean(self, IntArrayRef({-1, -2}), /*keepdim=*/true)
                                  : at::mean(self, IntArrayRef({-1, -2, -3}), /*keepdim=*/true);
    const bool channels_last =
        dims == 2 && self.dim() == 4 && detail::suggest_memory_format(self) == MemoryFormat::ChannelsLast;
    if (!channels_last) {
      return mean;
    }
    const int64_t channels = self.sizes()[1];
    return at::as_strided(mean, mean.sizes(), {channels, 1, channels, channels});
  }
  return dims == 2 ? at::_adaptive_avg_pool2d(self, output_size) : at::_adaptive_avg_pool3d(self, output_size);
}

static Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  check_dims_of_1d("adaptive_avg_pool1d", self);
  TORCH_CHECK(output_size.size() == 1, "adaptive_avg_pool1d() argument 'output_size' should contain one int (got ",
              output_size.size(), ")");
  return at::squeeze(at::adaptive_avg_pool2d(at::unsqueeze(self, -2), {1, output_size[0]}), -2);
}

// Registers the ops that exist for two and for three dimensions.
template <int dims>
static void register_avg_pool(Library& m) {
  constexpr int FUNCTION = variants::FUNCTION, NN = variants::NN;
  def_with_out_by_copy(m,
                       for_dims(dims,
                                "avg_pool#d(Tensor self, int[#] kernel_size, int[#] stride=[], int[#] padding=0, bool "
                                "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"),
                       TORCH_FN(avg_pool<dims>), kernels(avg_pool_stub), NN);
  m.def(for_dims(dims,
                 "avg_pool#d_backward(Tensor grad_output, Tensor self, int[#] kernel_size, int[#] stride, int[#] "
                 "padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor"),
        TORCH_FN(avg_pool_backward<dims>), kernels(avg_pool_backward_stub), NN, out_form("grad_input"));
  m.def_composite_with_out(for_dims(dims, "adaptive_avg_pool#d(Tensor self, SymInt[#] output_size) -> Tensor"),
                           TORCH_FN(adaptive_avg_pool<dims>), NN);
  m.def(for_dims(dims, "_adaptive_avg_pool#d(Tensor self, SymInt[#] output_size) -> Tensor"),
        TORCH_FN(_adaptive_avg_pool<dims>), kernels(avg_pool_stub), FUNCTION);
  m.def(for_dims(dims, "_adaptive_avg_pool#d_backward(Tensor grad_output, Tensor self) -> Tensor"),
        TORCH_FN(_adaptive_avg_pool_backward<dims>), kernels(avg_pool_backward_stub), NN);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_composite(
      "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, bool "
      "count_include_pad=True) -> Tensor",
      TORCH_FN(avg_pool1d), FUNCTION);
  m.def_composite("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", TORCH_FN(adaptive_avg_pool1d),
                  FUNCTION);
  register_avg_pool<2>(m);
  register_avg_pool<3>(m);
}

} // namespace reftorch::at::native
