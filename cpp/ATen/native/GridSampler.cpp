// Mirrors: aten/src/ATen/native/GridSampler.cpp
//
// Reads an image at the places that a grid names, between the pixels too: the core of spatial transformers. Left out:
// the kernels of cuDNN, and second derivatives, which PyTorch does not have either.
#include <ATen/native/GridSampler.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(grid_sampler_stub)
DEFINE_DISPATCH(grid_sampler_backward_stub)

namespace {

GridSamplerOptions checked_options(int64_t interpolation, int64_t padding, bool align_corners) {
  TORCH_CHECK(interpolation >= 0 && interpolation <= 2 && padding >= 0 && padding <= 2,
              "grid_sampler(): expected interpolation_mode and padding_mode from 0 to 2, but got ", interpolation,
              " and ", padding);
  return {static_cast<GridSamplerInterpolation>(interpolation), static_cast<GridSamplerPadding>(padding),
          align_corners};
}

void check_grid_sampler(const Tensor& input, const Tensor& grid, int64_t dims, const GridSamplerOptions& options) {
  TORCH_CHECK(input.device() == grid.device(), "grid_sampler(): expected input and grid to be on same device, but ",
              "input is on ", input.device(), " and grid is on ", grid.device());
  TORCH_CHECK(input.size(0) == grid.size(0),
              "grid_sampler(): expected grid and input to have same batch size, but got input with sizes ",
              input.sizes(), " and grid with sizes ", grid.sizes());
  TORCH_CHECK(grid.sizes().back() == input.dim() - 2, "grid_sampler(): expected grid to have size ", input.dim() - 2,
              " in last dimension, but got grid with sizes ", grid.sizes());
  for (int64_t d = 2; d < input.dim(); d++) {
    TORCH_CHECK(input.size(d) > 0,
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes ",
                input.sizes(), " with dimension ", d, " being empty");
  }
  TORCH_CHECK(input.dim() == dims + 2 && grid.dim() == dims + 2, "grid_sampler(): expected ", dims + 2,
              "D input and grid with same number of dimensions, but got input with sizes ", input.sizes(),
              " and grid with sizes ", grid.sizes());
  TORCH_CHECK(dims == 2 || options.interpolation != GridSamplerInterpolation::Bicubic,
              "grid_sampler(): bicubic interpolation only supports 4D input");
  TORCH_CHECK(input.scalar_type() == grid.scalar_type(), "expected scalar type ", toString(input.scalar_type()),
              " but found ", toString(grid.scalar_type()));
}

bool has_16_bits(const Tensor& t) {
  return t.scalar_type() == kHalf || t.scalar_type() == kBFloat16;
}

// The kernels compute 16-bit floats as floats.
Tensor computable(const Tensor& t) {
  return (has_16_bits(t) ? cast_to_dtype(t, kFloat) : t).contiguous();
}

Tensor result_like(const Tensor& like, IntArrayRef sizes) {
  return detail::empty_generic(sizes, has_16_bits(like) ? kFloat : like.scalar_type(), like.device());
}

Tensor back_to(const Tensor& t, ScalarType dtype) {
  return t.scalar_type() == dtype ? t : cast_to_dtype(t, dtype);
}

// Returns the sizes of the result: (N, C, h, w) or (N, C, d, h, w).
DimVector sampled_sizes(const Tensor& input, const Tensor& grid) {
  DimVector sizes{input.sizes()[0], input.sizes()[1]};
  for (int64_t d = 1; d < grid.dim() - 1; d++) {
    sizes.push_back(grid.sizes()[d]);
  }
  return sizes;
}

template <int dims>
Tensor grid_sampler_nd(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                       bool align_corners) {
  const GridSamplerOptions options = checked_options(interpolation_mode, padding_mode, align_corners);
  check_grid_sampler(input, grid, dims, options);
  const DimVector sizes = sampled_sizes(input, grid);
  const Tensor output = result_like(input, sizes);
  grid_sampler_stub(input.device().type(), output, computable(input), computable(grid), options);
  return back_to(output, input.scalar_type());
}

template <int dims>
std::tuple<Tensor, Tensor> grid_sampler_nd_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                                    int64_t interpolation_mode, int64_t padding_mode,
                                                    bool align_corners, const std::vector<bool>& output_mask) {
  const GridSamplerOptions options = checked_options(interpolation_mode, padding_mode, align_corners);
  check_grid_sampler(input, grid, dims, options);
  const DimVector sizes = sampled_sizes(input, grid);
  TORCH_CHECK(grad_output.sizes() == IntArrayRef(sizes), "grid_sampler_backward: expected grad_output of shape ",
              IntArrayRef(sizes), ", which is the shape of the result, but got ", grad_output.sizes());
  TORCH_CHECK(grad_output.scalar_type() == input.scalar_type(), "expected scalar type ", toString(input.scalar_type()),
              " but found ", toString(grad_output.scalar_type()));
  const Tensor grad_input = output_mask[0] ? result_like(input, input.sizes()) : Tensor();
  if (grad_input.defined()) {
    zero_impl(grad_input);
  }
  const Tensor grad_grid = result_like(grid, grid.sizes());
  grid_sampler_backward_stub(input.device().type(), grad_input, grad_grid, computable(grad_output), computable(input),
                             computable(grid), options);
  return {grad_input.defined() ? back_to(grad_input, input.scalar_type()) : grad_input,
          back_to(grad_grid, grid.scalar_type())};
}

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                    bool align_corners) {
  const GridSamplerOptions options = checked_options(interpolation_mode, padding_mode, align_corners);
  check_grid_sampler(input, grid, input.dim() == 5 ? 3 : 2, options);
  return input.dim() == 5 ? at::grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners)
                          : at::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners);
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def(
      "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> "
      "Tensor",
      TORCH_FN(grid_sampler_nd<2>), kernels(grid_sampler_stub), FUNCTION);
  m.def(
      "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> "
      "Tensor",
      TORCH_FN(grid_sampler_nd<3>), kernels(grid_sampler_stub), FUNCTION);
  m.def(
      "grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
      "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
      TORCH_FN(grid_sampler_nd_backward<2>), kernels(grid_sampler_backward_stub, zero_stub), variants::NN);
  m.def(
      "grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
      "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
      TORCH_FN(grid_sampler_nd_backward<3>), kernels(grid_sampler_backward_stub, zero_stub), variants::NN);
  m.def_composite(
      "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> "
      "Tensor",
      TORCH_FN(grid_sampler), FUNCTION);
}

} // namespace reftorch::at::native
