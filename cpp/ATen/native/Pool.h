// Mirrors: aten/src/ATen/native/Pool.h, aten/src/ATen/native/AdaptivePooling.h
//
// The windows of pooling, and the checks that max and average pooling share. PyTorch has kernels for two and for three
// dimensions; here two dimensions are three with depth 1.
#pragma once

#include <ATen/native/Convolution.h>

#include <optional>

namespace reftorch::at::native {

// The sizes of one pooling.
struct PoolShape {
  using Dims = ConvShape::Dims; // depth, height, width

  int64_t planes = 1; // batch * channels
  Dims input{1, 1, 1}, output{1, 1, 1};
  Dims kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};
  bool adaptive = false; // the windows divide the input into `output` parts; kernel and the rest do not count

  int64_t input_pixels() const {
    return ConvShape::product(input);
  }
  int64_t output_pixels() const {
    return ConvShape::product(output);
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
// For the 1-d ops, which are 2-d ops of height 1: raises RuntimeError unless self has two or three dimensions.
TORCH_API void check_dims_of_1d(const char* op, const Tensor& self);

// All tensors are contiguous. input (planes, *input), output (planes, *output), indices the same in int64_t: the place
// within the plane of input.
using max_pool_fn = void (*)(const Tensor& output, const Tensor& indices, const Tensor& input, const PoolShape& shape);
// random_samples (planes, dims) says where the windows of a plane begin.
using fractional_max_pool_fn = void (*)(const Tensor& output, const Tensor& indices, const Tensor& input,
                                        const Tensor& random_samples, const PoolShape& shape);
// to[plane][indices[plane][i]] = from[plane][i], and += for the backward; the other elements of `to` are 0. The planes
// of `to` have shape.input pixels, those of `from` and indices shape.output. Raises RuntimeError for an index out of
// range.
using scatter_to_indices_fn = void (*)(const Tensor& to, const Tensor& from, const Tensor& indices,
                                       const PoolShape& shape);
// Without divisor_override each window is divided by the number of its elements; those on the padding count if
// count_include_pad is true.
using avg_pool_fn = void (*)(const Tensor& output, const Tensor& input, const PoolShape& shape, bool count_include_pad,
                             std::optional<int64_t> divisor_override);

DECLARE_DISPATCH(max_pool_fn, max_pool_stub)
DECLARE_DISPATCH(fractional_max_pool_fn, fractional_max_pool_stub)
DECLARE_DISPATCH(scatter_to_indices_fn, max_pool_backward_stub)
DECLARE_DISPATCH(scatter_to_indices_fn, max_unpool_stub)
DECLARE_DISPATCH(avg_pool_fn, avg_pool_stub)
DECLARE_DISPATCH(avg_pool_fn, avg_pool_backward_stub) // grad_input, grad_output

} // namespace reftorch::at::native
