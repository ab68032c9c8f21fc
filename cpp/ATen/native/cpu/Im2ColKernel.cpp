// Mirrors: aten/src/ATen/native/Im2Col.cpp (im2col_out_cpu_template), aten/src/ATen/native/Col2Im.cpp
//
// Runs unfold and fold of ConvolutionRungs.h over all images of a batch.
#include <ATen/native/Im2Col.h>
#include <ATen/native/cpu/ConvolutionRungs.h>

namespace reftorch::at::native {
namespace {

// columns (N, C * kernel, pixels), image (N, C, *input)
void im2col_kernel(const Tensor& columns, const Tensor& image, const ConvShape& s) {
  dispatch<FloatingTypesAndReduced::And<bool>>(image.scalar_type(), "im2col_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* x = image.data_ptr<scalar_t>();
    scalar_t* out = columns.data_ptr<scalar_t>();
    const int64_t rows = s.kernel_size(), pixels = s.output_pixels();
    parallel_for(0, s.batch * s.in_channels, grain_of(rows * pixels), [&](int64_t lo, int64_t hi) {
      conv::unfold(out + lo * rows * pixels, x + lo * s.input_pixels(), s, hi - lo, 0, pixels);
    });
  });
}

template <typename T>
void fold_images(T* x, const T* columns, const ConvShape& s) {
  const int64_t rows = s.kernel_size(), pixels = s.output_pixels();
  parallel_for(0, s.batch * s.in_channels, grain_of(rows * pixels), [&](int64_t lo, int64_t hi) {
    std::fill_n(x + lo * s.input_pixels(), (hi - lo) * s.input_pixels(), T(0));
    conv::fold(x + lo * s.input_pixels(), columns + lo * rows * pixels, s, hi - lo, 0, pixels);
  });
}

// Bools and 16-bit floats are added up as floats.
template <typename T>
void fold_as_floats(T* x, const T* columns, const ConvShape& s) {
  const int64_t in = s.batch * s.in_channels * s.kernel_size() * s.output_pixels();
  const int64_t out = s.batch * s.in_channels * s.input_pixels();
  Scratch<float> column_floats(in), sums(out);
  std::transform(columns, columns + in, column_floats.begin(), [](T value) { return float(value); });
  fold_images(sums.begin(), column_floats.begin(), s);
  std::transform(sums.begin(), sums.end(), x, [](float value) { return static_cast<T>(value); });
}

void col2im_kernel(const Tensor& columns, const Tensor& image, const ConvShape& s) {
  dispatch<FloatingTypesAndReduced::And<bool>>(image.scalar_type(), "col2im_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    if constexpr (std::is_floating_point_v<scalar_t>) {
      fold_images(image.data_ptr<scalar_t>(), columns.data_ptr<const scalar_t>(), s);
    } else {
      fold_as_floats(image.data_ptr<scalar_t>(), columns.data_ptr<const scalar_t>(), s);
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(im2col_stub, im2col_kernel)
REGISTER_CPU_DISPATCH(col2im_stub, col2im_kernel)

} // namespace reftorch::at::native
