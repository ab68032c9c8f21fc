// Mirrors: aten/src/ATen/native/im2col.h
#pragma once

#include <ATen/native/Convolution.h>

namespace reftorch::at::native {

// image (N, C, *input) and columns (N, C * kernel, pixels of the output), both contiguous and of one dtype; C is
// shape.in_channels, and shape.groups is 1. im2col writes columns, col2im adds them up in image.
using im2col_fn = void (*)(const Tensor& columns, const Tensor& image, const ConvShape& shape);
DECLARE_DISPATCH(im2col_fn, im2col_stub)
DECLARE_DISPATCH(im2col_fn, col2im_stub)

} // namespace reftorch::at::native
