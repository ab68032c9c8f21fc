// Mirrors: aten/src/ATen/native/GridSampler.h, aten/src/ATen/native/GridSamplerUtils.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

enum class GridSamplerInterpolation : int64_t { Bilinear = 0, Nearest = 1, Bicubic = 2 };
// The value of a place outside of the input: zero, the nearest pixel of the border, or a pixel of the mirrored input.
enum class GridSamplerPadding : int64_t { Zeros = 0, Border = 1, Reflection = 2 };

struct GridSamplerOptions {
  GridSamplerInterpolation interpolation;
  GridSamplerPadding padding;
  bool align_corners; // whether -1 and 1 are the middles of the first and last pixels, or their outer borders
};

// All tensors are contiguous, of one dtype, float or double. input: (N, C, H, W) or (N, C, D, H, W);
// grid: (N, h, w, 2) with pairs (x, y), or (N, d, h, w, 3) with (x, y, z); output: (N, C, h, w) or (N, C, d, h, w).
using grid_sampler_fn = void (*)(const Tensor& output, const Tensor& input, const Tensor& grid,
                                 const GridSamplerOptions& options);
// grad_input may be undefined; the caller has filled it with zeros. The kernel writes every element of grad_grid.
using grid_sampler_backward_fn = void (*)(const Tensor& grad_input, const Tensor& grad_grid, const Tensor& grad_output,
                                          const Tensor& input, const Tensor& grid, const GridSamplerOptions& options);
DECLARE_DISPATCH(grid_sampler_fn, grid_sampler_stub)
DECLARE_DISPATCH(grid_sampler_backward_fn, grid_sampler_backward_stub)

} // namespace reftorch::at::native
