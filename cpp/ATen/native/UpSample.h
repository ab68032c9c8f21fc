// Mirrors: aten/src/ATen/native/UpSample.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

#include <optional>
#include <vector>

namespace reftorch::at::native {

// How an element of the output is computed from elements of the input: a copy of the nearest one (by OpenCV's rule, or
// by the middle of the pixel), a straight line between two, a cubic curve through four, or a filter as wide as the
// pixel of the output ("AA", antialias).
enum class UpSampleMode { Nearest, NearestExact, Linear, Cubic, LinearAA, CubicAA, LanczosAA };

// The options of a call that the kernel needs.
struct UpSampleOptions {
  UpSampleMode mode;
  bool align_corners; // whether the first and last pixels of input and output coincide, or the borders do
  std::vector<std::optional<double>> scales; // for each dimension, how much larger the output is, if the caller said so
};

// input: (N, C, *) and output: (N, C, *) are contiguous; 16-bit floats are computed in float.
using upsample_fn = void (*)(const Tensor& output, const Tensor& input, const UpSampleOptions& options);
// grad_output has the shape of the output, grad_input that of the input; the kernel writes every element.
using upsample_backward_fn = void (*)(const Tensor& grad_input, const Tensor& grad_output,
                                      const UpSampleOptions& options);
DECLARE_DISPATCH(upsample_fn, upsample_stub)
DECLARE_DISPATCH(upsample_backward_fn, upsample_backward_stub)

} // namespace reftorch::at::native
