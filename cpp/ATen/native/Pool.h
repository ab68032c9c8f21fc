// Mirrors: aten/src/ATen/native/Pool.h, aten/src/ATen/native/AdaptivePooling.h
//
// The windows of pooling, and the checks that max and average pooling share. PyTorch has kernels for two and for three
// dimensions; here two dimensions are three with depth 1.
#pragma once

#include <ATen/native/Convolution.h>
#include <c10/macros/Macros.h>

#include <cmath>
#include <optional>

namespace reftorch::at::native {

// The elements begin, begin + step, ... below end of the input, which one element of the output sees along one
// dimension, without those on the padding.
struct PoolWindow {
  int64_t begin, end, step;
  int64_t count; // what a mean is divided by

  C10_HOST_DEVICE bool empty() const {
    return begin >= end;
  }
};

// The sizes of one pooling.
struct PoolShape {
  using Dims = ConvShape::Dims; // depth, height, width

  int64_t planes = 1; // batch * channels
  Dims input{1, 1, 1}, output{1, 1, 1};
  Dims kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};
  bool adaptive = false; // the windows divide the input into `output` parts; kernel and the rest do not count

  C10_HOST_DEVICE int64_t input_pixels() const {
    return ConvShape::product(input);
  }
  C10_HOST_DEVICE int64_t output_pixels() const {
    return ConvShape::product(output);
  }

  // Returns the window of element o of the output along dimension d.
  C10_HOST_DEVICE PoolWindow window(int d, int64_t o, bool count_include_pad = false) const {
    if (adaptive) { // [floor(o in / out), ceil((o + 1) in / out)), without a product that could overflow
      const int64_t whole = input[d] / output[d], rest = input[d] % output[d];
      const int64_t begin = o * whole + static_cast<int64_t>(static_cast<__int128>(o) * rest / output[d]);
      const __int128 end_of_rest = (static_cast<__int128>(o + 1) * rest + output[d] - 1) / output[d];
      const int64_t end = (o + 1) * whole + static_cast<int64_t>(end_of_rest);
      return {begin, end, 1, end - begin};
    }
    const int64_t first = o * stride[d] - padding[d], last = first + (kernel[d] - 1) * dilation[d] + 1;
    const int64_t begin = first >= 0 ? first : first + ((-first - 1) / dilation[d] + 1) * dilation[d];
    const int64_t end = last < input[d] ? last : input[d];
    const int64_t end_of_padding = last < input[d] + padding[d] ? last : input[d] + padding[d];
    const int64_t on_input = end > begin ? end - begin : 0;
    return {begin, end, dilation[d], count_include_pad ? end_of_padding - first : on_input};
  }

  // Returns the window of element o along dimension d if the windows lie at pseudorandom distances, whose mean is the
  // size of the input by that of the output; sample in [0, 1) chooses among such sequences.
  template <typename opmath_t>
  C10_HOST_DEVICE PoolWindow fractional_window(int d, int64_t o, opmath_t sample) const {
    const int64_t room = input[d] - kernel[d];
    const opmath_t distance = output[d] > 1 ? opmath_t(room) / opmath_t(output[d] - 1) : opmath_t(0);
    const opmath_t place = std::trunc((opmath_t(o) + sample) * distance) - std::trunc(sample * distance);
    const bool known = place >= 0 && place <= opmath_t(room); // false for a sample that is NaN
    const int64_t begin = o == output[d] - 1 ? room : known ? static_cast<int64_t>(place) : place > 0 ? room : 0;
    return {begin, begin + kernel[d], 1, kernel[d]};
  }
};

// The arguments of a pooling of `dims` dimensions, with one number for each dimension.
struct PoolArguments {
  DimVector kernel, stride, padding, dilation;
  bool ceil_mode;
};

// Raises RuntimeError where a list has neither one element nor `dims`. An empty stride is the kernel size.
TORCH_API PoolArguments pool_arguments(const char* op, int64_t dims, IntArrayRef kernel, IntArrayRef stride,
                                       IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);
// Returns the sizes of a pooling of self (N, C, *) or (C, *), after checks with PyTorch's messages. check_input_size
// refuses windows that are larger than the input without its padding: PyTorch does this for avg_pool3d alone.
TORCH_API PoolShape pool_shape(const Tensor& self, const PoolArguments& arguments, bool check_input_size = false);
// Returns the sizes of a pooling into `output_size` windows.
TORCH_API PoolShape adaptive_pool_shape(const Tensor& self, IntArrayRef output_size);
// Returns the sizes of the result: those of self, with the pixels of shape.output in the last `dims` dimensions.
TORCH_API DimVector pooled_sizes(const Tensor& self, const PoolShape& shape, int64_t dims);
// Returns a contiguous tensor for a kernel to write to.
TORCH_API Tensor empty_pooled(IntArrayRef sizes, ScalarType dtype, const Tensor& like);
// Returns `result` in the memory format of self: with the channels last where they lie last in self.
TORCH_API Tensor in_format_of(const Tensor& result, const Tensor& self);
// Raises RuntimeError unless self has two or three dimensions. The 1-d ops call this function before they call a 2-d op
// with height 1.
TORCH_API void check_dims_of_1d(const char* op, const Tensor& self);

// All tensors are contiguous. input: (planes, *input); output: (planes, *output). indices, int64, has the shape of
// output: each index is the position of the window's largest element in the plane of input.
using max_pool_fn = void (*)(const Tensor& output, const Tensor& indices, const Tensor& input, const PoolShape& shape);
// random_samples (planes, dims) says where the windows of a plane begin.
using fractional_max_pool_fn = void (*)(const Tensor& output, const Tensor& indices, const Tensor& input,
                                        const Tensor& random_samples, const PoolShape& shape);
// to[plane][indices[plane][i]] = from[plane][i], and += for the backward; the other elements of `to` are 0. The planes
// of `to` have shape.input pixels, those of `from` and indices shape.output. Raises RuntimeError for an index out of
// range.
using scatter_to_indices_fn = void (*)(const Tensor& to, const Tensor& from, const Tensor& indices,
                                       const PoolShape& shape);
// Divides the sum of each window by divisor_override, or else by the number of its elements. Elements on the padding
// count if count_include_pad is true.
using avg_pool_fn = void (*)(const Tensor& output, const Tensor& input, const PoolShape& shape, bool count_include_pad,
                             std::optional<int64_t> divisor_override);

DECLARE_DISPATCH(max_pool_fn, max_pool_stub)
DECLARE_DISPATCH(fractional_max_pool_fn, fractional_max_pool_stub)
DECLARE_DISPATCH(scatter_to_indices_fn, max_pool_backward_stub)
DECLARE_DISPATCH(scatter_to_indices_fn, max_unpool_stub)
DECLARE_DISPATCH(avg_pool_fn, avg_pool_stub)
DECLARE_DISPATCH(avg_pool_fn, avg_pool_backward_stub) // grad_input, grad_output

} // namespace reftorch::at::native
