// Mirrors: aten/src/ATen/native/cuda/DilatedMaxPool2d.cu, aten/src/ATen/native/cuda/AdaptiveMaxPooling2d.cu,
// aten/src/ATen/native/cuda/FractionalMaxPool2d.cu, aten/src/ATen/native/cuda/MaxUnpooling.cu
//
// max_pool with the places of the largest elements: one thread for each window. Where elements return to such places,
// in backward and in max_unpool, one thread takes the elements of a plane in turn, because several may have one place.
// Left out: atomic additions, which would let more threads work.
#include <ATen/native/MaxPoolFunctors.h>

#include <ATen/native/cuda/KernelUtils.cuh>

namespace reftorch::at::native {
namespace {

// The windows of element i of the output, (planes, *output).
__device__ void windows_of_element(const PoolShape& s, int64_t i, PoolWindow* windows) {
  windows[0] = s.window(0, i / s.output[2] / s.output[1] % s.output[0]);
  windows[1] = s.window(1, i / s.output[2] % s.output[1]);
  windows[2] = s.window(2, i % s.output[2]);
}

// output, indices (planes, *output), input (planes, *input)
template <typename scalar_t>
__global__ void max_pool_kernel(scalar_t* output, int64_t* indices, const scalar_t* input, PoolShape s, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    const scalar_t* x = input + i / s.output_pixels() * s.input_pixels();
    PoolWindow windows[3];
    windows_of_element(s, i, windows);
    const auto best = max_pool::largest_in_window(x, s, windows[0], windows[1], windows[2]);
    output[i] = static_cast<scalar_t>(best.value);
    indices[i] = best.place;
  }
}

// random_samples (planes, dims): for two dimensions of the width, then of the height; for three of depth, height, width
template <typename scalar_t>
__global__ void fractional_max_pool_kernel(scalar_t* output, int64_t* indices, const scalar_t* input,
                                           const scalar_t* random_samples, int64_t dims, PoolShape s, int64_t n) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(i, n) {
    const int64_t plane = i / s.output_pixels();
    const scalar_t* sample = random_samples + plane * dims;
    PoolWindow windows[3];
    windows_of_element(s, i, windows);
    if (dims == 3) {
      windows[0] = s.fractional_window(0, i / s.output[2] / s.output[1] % s.output[0], opmath_t(sample[0]));
    }
    windows[1] = s.fractional_window(1, i / s.output[2] % s.output[1], opmath_t(sample[1]));
    windows[2] = s.fractional_window(2, i % s.output[2], opmath_t(sample[dims == 3 ? 2 : 0]));
    const auto best =
        max_pool::largest_in_window(input + plane * s.input_pixels(), s, windows[0], windows[1], windows[2]);
    output[i] = static_cast<scalar_t>(best.value);
    indices[i] = best.place;
  }
}

// to (planes, *input), from and indices (planes, *output). Each element of `from` is added, or written, at its index.
template <bool adds, typename scalar_t>
__global__ void scatter_to_indices_kernel(scalar_t* to, const scalar_t* from, const int64_t* indices, PoolShape s) {
  using opmath_t = opmath_type<scalar_t>;
  const int64_t to_pixels = s.input_pixels(), from_pixels = s.output_pixels();
  CUDA_KERNEL_LOOP(p, s.planes) {
    scalar_t* plane = to + p * to_pixels;
    for (int64_t i = 0; i < to_pixels; i++) {
      plane[i] = scalar_t(0);
    }
    for (int64_t i = p * from_pixels; i < (p + 1) * from_pixels; i++) {
      CUDA_KERNEL_ASSERT(indices[i] >= 0 && indices[i] < to_pixels && "Found an invalid max index");
      scalar_t& element = plane[indices[i]];
      element = adds ? static_cast<scalar_t>(opmath_t(element) + opmath_t(from[i])) : from[i];
    }
  }
}

void max_pool_kernel_cuda(const Tensor& output, const Tensor& indices, const Tensor& input, const PoolShape& shape) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), "max_pool_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(input, output.numel(), max_pool_kernel<scalar_t>, output.data_ptr<scalar_t>(),
                    indices.data_ptr<int64_t>(), input.data_ptr<scalar_t>(), shape, output.numel());
  });
}

void fractional_max_pool_kernel_cuda(const Tensor& output, const Tensor& indices, const Tensor& input,
                                     const Tensor& random_samples, const PoolShape& shape) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), "fractional_max_pool_out_cuda_frame", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(input, output.numel(), fractional_max_pool_kernel<scalar_t>, output.data_ptr<scalar_t>(),
                    indices.data_ptr<int64_t>(), input.data_ptr<scalar_t>(), random_samples.data_ptr<scalar_t>(),
                    random_samples.sizes()[2], shape, output.numel());
  });
}

template <bool adds>
void scatter_to_indices(const char* name, const Tensor& to, const Tensor& from, const Tensor& indices,
                        const PoolShape& shape) {
  dispatch<FloatingTypesAndReduced>(to.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(to, to.numel() == 0 ? 0 : shape.planes, scatter_to_indices_kernel<adds, scalar_t>,
                    to.data_ptr<scalar_t>(), from.data_ptr<scalar_t>(), indices.data_ptr<int64_t>(), shape);
  });
}

void max_pool_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad_output, const Tensor& indices,
                                   const PoolShape& shape) {
  scatter_to_indices</*adds=*/true>("max_pool_backward_cuda", grad_input, grad_output, indices, shape);
}

void max_unpool_kernel_cuda(const Tensor& output, const Tensor& input, const Tensor& indices, const PoolShape& shape) {
  scatter_to_indices</*adds=*/false>("max_unpool_cuda", output, input, indices, shape);
}

} // namespace

REGISTER_CUDA_DISPATCH(max_pool_stub, max_pool_kernel_cuda)
REGISTER_CUDA_DISPATCH(fractional_max_pool_stub, fractional_max_pool_kernel_cuda)
REGISTER_CUDA_DISPATCH(max_pool_backward_stub, max_pool_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(max_unpool_stub, max_unpool_kernel_cuda)

} // namespace reftorch::at::native
