// Mirrors: aten/src/ATen/native/cpu/GridSamplerKernel.cpp
//
// The arithmetic of a place is in GridSamplerFunctors.h; this file goes through the places, and the threads share the
// images of the batch.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/GridSamplerFunctors.h>

namespace reftorch::at::native {
namespace {

void grid_sampler_kernel(const Tensor& output, const Tensor& input, const Tensor& grid,
                         const GridSamplerOptions& options) {
  const grid_sample::Sizes sizes = grid_sample::sizes_of(input, grid);
  dispatch<FloatingTypes>(input.scalar_type(), "grid_sampler_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    parallel_for(0, sizes.N, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t n = lo; n < hi; n++) {
        for (int64_t o = 0; o < sizes.places; o++) {
          grid_sample::sample_place(output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), grid.data_ptr<scalar_t>(),
                                    n, o, sizes, options);
        }
      }
    });
  });
}

void grid_sampler_backward_kernel(const Tensor& grad_input, const Tensor& grad_grid, const Tensor& grad_output,
                                  const Tensor& input, const Tensor& grid, const GridSamplerOptions& options) {
  const grid_sample::Sizes sizes = grid_sample::sizes_of(input, grid);
  dispatch<FloatingTypes>(input.scalar_type(), "grid_sampler_backward_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scalar_t* to_input = grad_input.defined() ? grad_input.data_ptr<scalar_t>() : nullptr;
    parallel_for(0, sizes.N, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t n = lo; n < hi; n++) {
        for (int64_t o = 0; o < sizes.places; o++) {
          grid_sample::sample_place_backward(to_input, grad_grid.data_ptr<scalar_t>(), grad_output.data_ptr<scalar_t>(),
                                             input.data_ptr<scalar_t>(), grid.data_ptr<scalar_t>(), n, o, sizes,
                                             options, [](scalar_t* element, scalar_t value) { *element += value; });
        }
      }
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(grid_sampler_stub, grid_sampler_kernel)
REGISTER_CPU_DISPATCH(grid_sampler_backward_stub, grid_sampler_backward_kernel)

} // namespace reftorch::at::native
