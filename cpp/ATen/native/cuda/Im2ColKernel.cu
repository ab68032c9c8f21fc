// Mirrors: aten/src/ATen/native/cuda/im2col.cuh
//
// im2col: one thread for each element of the columns. col2im: one thread for each pixel of the image, which adds up the
// elements of the columns that come from the pixel, so that no two threads add to the same place.
#include <ATen/native/Im2Col.h>

#include <ATen/native/cuda/KernelUtils.cuh>

#include <type_traits>

namespace reftorch::at::native {
namespace {

// columns (N C, *kernel, *output), image (N C, *input); zero where the kernel lies on the padding.
template <typename scalar_t>
__global__ void im2col_kernel(scalar_t* columns, const scalar_t* image, ConvShape s, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    int64_t o = i % s.output_pixels(), k = i / s.output_pixels() % s.kernel_size(), pixel = 0, size = 1;
    bool inside = true;
    for (int d = 2; d >= 0; d--) {
      const int64_t at = o % s.output[d] * s.stride[d] - s.padding[d] + k % s.kernel[d] * s.dilation[d];
      inside = inside && at >= 0 && at < s.input[d];
      pixel += at * size;
      o /= s.output[d], k /= s.kernel[d], size *= s.input[d];
    }
    const int64_t plane = i / s.output_pixels() / s.kernel_size();
    columns[i] = inside ? image[plane * s.input_pixels() + pixel] : scalar_t(0);
  }
}

// Bools and 16-bit floats are added up as floats.
template <typename scalar_t>
using col2im_sum = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;

template <typename scalar_t>
__global__ void col2im_kernel(scalar_t* image, const scalar_t* columns, ConvShape s, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    const scalar_t* plane = columns + i / s.input_pixels() * s.kernel_size() * s.output_pixels();
    col2im_sum<scalar_t> sum = 0;
    for (int64_t k = 0; k < s.kernel_size(); k++) { // the output position from which element k lies on the pixel
      int64_t pixel = i % s.input_pixels(), rest = k, o = 0, size = 1;
      bool meets = true;
      for (int d = 2; d >= 0; d--) {
        const int64_t distance = pixel % s.input[d] + s.padding[d] - rest % s.kernel[d] * s.dilation[d];
        meets = meets && distance >= 0 && distance % s.stride[d] == 0 && distance / s.stride[d] < s.output[d];
        o += distance / s.stride[d] * size;
        pixel /= s.input[d], rest /= s.kernel[d], size *= s.output[d];
      }
      sum += meets ? col2im_sum<scalar_t>(plane[k * s.output_pixels() + o]) : col2im_sum<scalar_t>(0);
    }
    image[i] = static_cast<scalar_t>(sum);
  }
}

void im2col_kernel_cuda(const Tensor& columns, const Tensor& image, const ConvShape& shape) {
  dispatch<FloatingTypesAndReduced::And<bool>>(image.scalar_type(), "im2col_out_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(image, columns.numel(), im2col_kernel<scalar_t>, columns.data_ptr<scalar_t>(),
                    image.data_ptr<scalar_t>(), shape, columns.numel());
  });
}

void col2im_kernel_cuda(const Tensor& columns, const Tensor& image, const ConvShape& shape) {
  dispatch<FloatingTypesAndReduced::And<bool>>(image.scalar_type(), "col2im_out_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(image, image.numel(), col2im_kernel<scalar_t>, image.data_ptr<scalar_t>(),
                    columns.data_ptr<scalar_t>(), shape, image.numel());
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(im2col_stub, im2col_kernel_cuda)
REGISTER_CUDA_DISPATCH(col2im_stub, col2im_kernel_cuda)

} // namespace reftorch::at::native
