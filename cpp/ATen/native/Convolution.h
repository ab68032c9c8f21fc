// Mirrors: aten/src/ATen/native/ConvUtils.h
//
// The shapes of a convolution, and the stubs of its three sums. PyTorch has a stub for each library and number of
// dimensions; here one kernel serves them all.
//
// Note [Three sums of a convolution]
// Problem: a convolution has a forward pass, two gradients, a second derivative, and a transposed form with as many
// passes again. Trick: all of these are one trilinear sum. Let a term be a triple of an element o of the output, an
// element i of the input and an element w of the weight that meet: o is at the position where the kernel, placed there,
// lays w onto i. Then
//   the output            has at o the sum of input[i] * weight[w]    over the terms of o,
//   the gradient of input has at i the sum of output[o] * weight[w]   over the terms of i,
//   the gradient of weight has at w the sum of output[o] * input[i]   over the terms of w,
// where "output" in the last two lines is the gradient of the output. A transposed convolution is the second sum, taken
// forward: its input plays the output. Each sum is linear in both of its operands, so the derivatives of the three are
// again these three; see derivatives/convolution.py.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <c10/macros/Macros.h>

#include <array>

namespace reftorch::at::native {

// Returns a * b + c. Raises RuntimeError if the result does not fit an int64_t: the caller's sizes of a window can be
// any numbers.
inline int64_t checked_multiply_add(int64_t a, int64_t b, int64_t c) {
  int64_t product = 0, sum = 0;
  TORCH_CHECK(!__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(product, c, &sum),
              "a size is out of range: ", a, " * ", b, " + ", c, " is no 64-bit integer");
  return sum;
}

// The sizes of one convolution. A convolution of one or two dimensions has depth, or depth and height, 1.
struct ConvShape {
  using Dims = std::array<int64_t, 3>; // depth, height, width

  int64_t batch = 1, groups = 1;
  int64_t in_channels = 1, out_channels = 1; // of one group
  Dims input{1, 1, 1}, output{1, 1, 1}, kernel{1, 1, 1};
  Dims stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};

  C10_HOST_DEVICE static int64_t product(const Dims& dims) {
    return dims[0] * dims[1] * dims[2];
  }
  C10_HOST_DEVICE int64_t input_pixels() const {
    return product(input);
  }
  C10_HOST_DEVICE int64_t output_pixels() const {
    return product(output);
  }
  // The number of elements of the weight that make one output channel of one input channel.
  C10_HOST_DEVICE int64_t kernel_size() const {
    return product(kernel);
  }
};

// All tensors are contiguous and have one dtype. input (N, G C, *input), weight (G M, C, *kernel), bias (G M),
// output (N, G M, *output), where G, C and M are groups, in_channels and out_channels. bias may be undefined.
using convolution_fn = void (*)(const Tensor& output, const Tensor& input, const Tensor& weight, const Tensor& bias,
                                const ConvShape& shape);
// The same for the gradient of the input. A bias (G C) is added where the sum serves as a transposed convolution.
using convolution_backward_input_fn = void (*)(const Tensor& grad_input, const Tensor& grad_output,
                                               const Tensor& weight, const Tensor& bias, const ConvShape& shape);
using convolution_backward_weight_fn = void (*)(const Tensor& grad_weight, const Tensor& grad_output,
                                                const Tensor& input, const ConvShape& shape);

DECLARE_DISPATCH(convolution_fn, convolution_stub)
DECLARE_DISPATCH(convolution_backward_input_fn, convolution_backward_input_stub)
DECLARE_DISPATCH(convolution_backward_weight_fn, convolution_backward_weight_stub)

} // namespace reftorch::at::native
