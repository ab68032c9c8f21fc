// Mirrors: aten/src/ATen/native/Im2Col.cpp, aten/src/ATen/native/Col2Im.cpp
//
// The windows of images as columns of a matrix, and the transposed map, which adds columns up to images. Each of the
// two is the derivative of the other. Left out: nothing.
#include <ATen/native/Im2Col.h>

#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(im2col_stub)
DEFINE_DISPATCH(col2im_stub)

namespace {

struct Windows {
  IntArrayRef kernel, dilation, padding, stride;
};

void check_pair(const char* name, IntArrayRef values) {
  TORCH_CHECK(values.size() == 2, "It is expected ", name, " equals to 2, but got size ", values.size());
}

void check_windows(const Windows& w) {
  check_pair("kernel_size", w.kernel);
  check_pair("dilation", w.dilation);
  check_pair("padding", w.padding);
  check_pair("stride", w.stride);
  TORCH_CHECK(w.kernel[0] > 0 && w.kernel[1] > 0,
              "kernel size should be greater than zero, but got kernel_height: ", w.kernel[0],
              " kernel_width: ", w.kernel[1]);
  TORCH_CHECK(w.dilation[0] > 0 && w.dilation[1] > 0,
              "dilation should be greater than zero, but got dilation_height: ", w.dilation[0],
              " dilation_width: ", w.dilation[1]);
  TORCH_CHECK(w.padding[0] >= 0 && w.padding[1] >= 0,
              "padding should be non-negative, but got pad_height: ", w.padding[0], " pad_width: ", w.padding[1]);
  TORCH_CHECK(w.stride[0] > 0 && w.stride[1] > 0,
              "stride should be greater than zero, but got stride_height: ", w.stride[0],
              " stride_width: ", w.stride[1]);
}

// The number of windows along dimension d of an image with this size: not positive if the window is larger.
int64_t count_windows(int64_t size, const Windows& w, int d) {
  const int64_t padded = checked_multiply_add(2, w.padding[d], size);
  const int64_t window = checked_multiply_add(w.dilation[d], w.kernel[d] - 1, 1);
  const int64_t room = padded - window; // both are positive, so the difference is in range
  return (room >= 0 ? room / w.stride[d] : -((w.stride[d] - 1 - room) / w.stride[d])) + 1;
}

struct Pair {
  int64_t first, second;
};
std::ostream& operator<<(std::ostream& out, const Pair& pair) {
  return out << "(" << pair.first << ", " << pair.second << ")";
}
Pair pair_of(IntArrayRef values) {
  return {values[0], values[1]};
}

// The shape of a convolution with the same windows over images (batch, channels, height, width).
ConvShape shape_of_windows(int64_t batch, int64_t channels, IntArrayRef image, IntArrayRef blocks, const Windows& w) {
  ConvShape shape;
  shape.batch = batch;
  shape.in_channels = channels;
  for (int d = 0; d < 2; d++) {
    shape.input[d + 1] = image[d];
    shape.output[d + 1] = blocks[d];
    shape.kernel[d + 1] = w.kernel[d];
    shape.stride[d + 1] = w.stride[d];
    shape.padding[d + 1] = w.padding[d];
    shape.dilation[d + 1] = w.dilation[d];
  }
  return shape;
}

} // namespace

static Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                     IntArrayRef stride) {
  const Windows w{kernel_size, dilation, padding, stride};
  check_windows(w);
  const int64_t ndim = self.dim();
  const bool filled = self.size(1) != 0 && self.size(2) != 0;
  TORCH_CHECK((ndim == 3 && self.size(0) != 0 && filled) || (ndim == 4 && filled && self.size(3) != 0),
              "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
              "input, but got: ",
              self.sizes());
  const IntArrayRef image = self.sizes().slice(ndim - 2, 2);
  const int64_t channels = self.sizes()[ndim - 3], batch = ndim == 4 ? self.sizes()[0] : 1;
  const DimVector blocks{count_windows(image[0], w, 0), count_windows(image[1], w, 1)};
  TORCH_CHECK(blocks[0] >= 1 && blocks[1] >= 1, "Given input with spatial size ", pair_of(image),
              ", kernel_size=", pair_of(w.kernel), ", dilation=", pair_of(w.dilation), ", padding=", pair_of(w.padding),
              ", calculated shape of the array of sliding blocks as ", Pair{blocks[0], blocks[1]},
              ", but its components must be at least one.");
  DimVector sizes;
  if (ndim == 4) {
    sizes.push_back(batch);
  }
  sizes.push_back(checked_multiply_add(checked_multiply_add(w.kernel[0], w.kernel[1], 0), channels, 0));
  sizes.push_back(checked_multiply_add(blocks[0], blocks[1], 0));
  const Tensor result = detail::empty_generic(sizes, self.scalar_type(), self.device());
  im2col_stub(self.device().type(), result, self.contiguous(), shape_of_windows(batch, channels, image, blocks, w));
  return result;
}

static Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
                     IntArrayRef padding, IntArrayRef stride) {
  const Windows w{kernel_size, dilation, padding, stride};
  check_pair("output_size", output_size);
  check_windows(w);
  const int64_t ndim = self.dim();
  TORCH_CHECK(
      (ndim == 2 && self.size(0) != 0 && self.size(1) != 0) || (ndim == 3 && self.size(1) != 0 && self.size(2) != 0),
      "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
      "input, but got: ",
      self.sizes());
  const int64_t planes = self.sizes()[ndim - 2], length = self.sizes()[ndim - 1];
  const int64_t batch = ndim == 3 ? self.sizes()[0] : 1, taps = checked_multiply_add(w.kernel[0], w.kernel[1], 0);
  TORCH_CHECK(planes % taps == 0,
              "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
              "input.size(1)=",
              planes, " and kernel_size=", pair_of(w.kernel), ".");
  const DimVector blocks{count_windows(output_size[0], w, 0), count_windows(output_size[1], w, 1)};
  const int64_t expected = checked_multiply_add(blocks[0], blocks[1], 0);
  TORCH_CHECK(length == expected, "Given output_size=", pair_of(output_size), ", kernel_size=", pair_of(w.kernel),
              ", dilation=", pair_of(w.dilation), ", padding=", pair_of(w.padding), ", stride=", pair_of(w.stride),
              ", expected size of input's dimension 2 to match the calculated number of sliding blocks ", blocks[0],
              " * ", blocks[1], " = ", expected, ", but got input.size(2)=", length, ".");
  TORCH_CHECK(blocks[0] >= 1 && blocks[1] >= 1, "Given output_size=", pair_of(output_size),
              ", kernel_size=", pair_of(w.kernel), ", the calculated shape of the array of sliding blocks is ",
              Pair{blocks[0], blocks[1]}, ", which is too small (non-positive)");
  TORCH_CHECK(output_size[0] >= 1 && output_size[1] >= 1, "Expected output spatial size to be positive, but got ",
              pair_of(output_size));
  DimVector sizes;
  if (ndim == 3) {
    sizes.push_back(batch);
  }
  sizes.push_back(planes / taps);
  sizes.push_back(output_size[0]);
  sizes.push_back(output_size[1]);
  const Tensor result = detail::empty_generic(sizes, self.scalar_type(), self.device());
  col2im_stub(self.device().type(), self.contiguous(), result,
              shape_of_windows(batch, planes / taps, output_size, blocks, w));
  return result;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  const char* const im2col_schema =
      "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor";
  m.def(im2col_schema, TORCH_FN(im2col), kernels(im2col_stub), variants::NN);
  m.def_out_by_copy(im2col_schema, TORCH_FN(im2col), kernels(im2col_stub));
  const char* const col2im_schema =
      "col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) "
      "-> Tensor";
  m.def(col2im_schema, TORCH_FN(col2im), kernels(col2im_stub), variants::NN);
  m.def_out_by_copy(col2im_schema, TORCH_FN(col2im), kernels(col2im_stub));
}

} // namespace reftorch::at::native
