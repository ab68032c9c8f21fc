// Mirrors: aten/src/ATen/native/cuda/GridSampler.cu
//
// One thread for each place of the grid; the arithmetic of a place is in GridSamplerFunctors.h. In the backward,
// several places may read one pixel of the input, so its gradient is added up with atomic additions, in any order.
#include <ATen/native/GridSamplerFunctors.h>

#include <ATen/native/cuda/KernelUtils.cuh>

namespace reftorch::at::native {
namespace {

template <typename T>
struct AtomicAdd {
  __device__ void operator()(T* element, T value) const {
    atomicAdd(element, value);
  }
};

// input: (N, C, D H W); grid: (N, places, dims); output: (N, C, places)
template <typename T>
__global__ void grid_sampler_kernel(T* output, const T* input, const T* grid, grid_sample::Sizes sizes,
                                    GridSamplerOptions options) {
  CUDA_KERNEL_LOOP(i, sizes.N * sizes.places) {
    grid_sample::sample_place(output, input, grid, i / sizes.places, i % sizes.places, sizes, options);
  }
}

// grad_input may be null; it is filled with zeros.
template <typename T>
__global__ void grid_sampler_backward_kernel(T* grad_input, T* grad_grid, const T* grad_output, const T* input,
                                             const T* grid, grid_sample::Sizes sizes, GridSamplerOptions options) {
  CUDA_KERNEL_LOOP(i, sizes.N * sizes.places) {
    grid_sample::sample_place_backward(grad_input, grad_grid, grad_output, input, grid, i / sizes.places,
                                       i % sizes.places, sizes, options, AtomicAdd<T>());
  }
}

void grid_sampler_kernel_cuda(const Tensor& output, const Tensor& input, const Tensor& grid,
                              const GridSamplerOptions& options) {
  const grid_sample::Sizes sizes = grid_sample::sizes_of(input, grid);
  dispatch<FloatingTypes>(input.scalar_type(), "grid_sampler_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(input, sizes.N * sizes.places, grid_sampler_kernel<scalar_t>, output.data_ptr<scalar_t>(),
                    input.data_ptr<scalar_t>(), grid.data_ptr<scalar_t>(), sizes, options);
  });
}

void grid_sampler_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad_grid, const Tensor& grad_output,
                                       const Tensor& input, const Tensor& grid, const GridSamplerOptions& options) {
  const grid_sample::Sizes sizes = grid_sample::sizes_of(input, grid);
  dispatch<FloatingTypes>(input.scalar_type(), "grid_sampler_backward_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(input, sizes.N * sizes.places, grid_sampler_backward_kernel<scalar_t>,
                    data_or_null<scalar_t>(grad_input), grad_grid.data_ptr<scalar_t>(),
                    grad_output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), grid.data_ptr<scalar_t>(), sizes,
                    options);
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(grid_sampler_stub, grid_sampler_kernel_cuda)
REGISTER_CUDA_DISPATCH(grid_sampler_backward_stub, grid_sampler_backward_kernel_cuda)

} // namespace reftorch::at::native
