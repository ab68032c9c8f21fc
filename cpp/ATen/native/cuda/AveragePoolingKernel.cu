// Mirrors: aten/src/ATen/native/cuda/AveragePool2d.cu, aten/src/ATen/native/cuda/AdaptiveAveragePooling.cu and kin
//
// The mean of each window: one thread for each window. In the backward, each element of the input has a thread, which
// adds up the shares of the windows that see the element, so that no two threads add to the same place. Left out: loops
// of their own for tensors whose channels lie last in memory.
#include <ATen/native/Pool.h>

#include <ATen/native/cuda/KernelUtils.cuh>

#include <optional>

namespace reftorch::at::native {
namespace {

// What the sum of a window is divided by.
struct Divisor {
  bool count_include_pad;
  int64_t given; // 0 for the number of elements

  Divisor(bool count_include_pad, std::optional<int64_t> given)
      : count_include_pad(count_include_pad), given(given.value_or(0)) {}
  __device__ int64_t of(const PoolWindow& depths, const PoolWindow& rows, const PoolWindow& columns) const {
    return given != 0 ? given : depths.count * rows.count * columns.count;
  }
};

// output (planes, *output), input (planes, *input)
template <typename scalar_t>
__global__ void avg_pool_kernel(scalar_t* output, const scalar_t* input, PoolShape s, Divisor divisor, int64_t n) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(i, n) {
    const scalar_t* x = input + i / s.output_pixels() * s.input_pixels();
    const PoolWindow depths = s.window(0, i / s.output[2] / s.output[1] % s.output[0], divisor.count_include_pad);
    const PoolWindow rows = s.window(1, i / s.output[2] % s.output[1], divisor.count_include_pad);
    const PoolWindow columns = s.window(2, i % s.output[2], divisor.count_include_pad);
    opmath_t sum = 0;
    for (int64_t d = depths.begin; d < depths.end; d++) {
      for (int64_t h = rows.begin; h < rows.end; h++) {
        for (int64_t w = columns.begin; w < columns.end; w++) {
          sum += opmath_t(x[(d * s.input[1] + h) * s.input[2] + w]);
        }
      }
    }
    const bool seen = !depths.empty() && !rows.empty() && !columns.empty();
    output[i] = static_cast<scalar_t>(seen ? sum / opmath_t(divisor.of(depths, rows, columns)) : opmath_t(0));
  }
}

// The elements first, ..., last - 1 of the output whose windows may see element i of the input along dimension d.
struct WindowsThatSee {
  int64_t first, last;

  __device__ WindowsThatSee(const PoolShape& s, int d, int64_t i) {
    if (s.adaptive) { // one more at each end than those whose windows contain i, whatever the rounding is
      const double each = double(s.output[d]) / double(s.input[d]);
      first = int64_t(double(i) * each) - 1;
      last = int64_t(double(i + 1) * each) + 2;
    } else {
      const int64_t place = i + s.padding[d];
      first = place < s.kernel[d] ? 0 : (place - s.kernel[d]) / s.stride[d] + 1;
      last = place / s.stride[d] + 1;
    }
    first = first > 0 ? first : 0;
    last = last < s.output[d] ? last : s.output[d];
  }
};

__device__ bool sees(const PoolWindow& window, int64_t i) {
  return i >= window.begin && i < window.end;
}

template <typename scalar_t>
__global__ void avg_pool_backward_kernel(scalar_t* grad_input, const scalar_t* grad_output, PoolShape s,
                                         Divisor divisor, int64_t n) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(i, n) {
    const scalar_t* dy = grad_output + i / s.input_pixels() * s.output_pixels();
    const int64_t d = i / s.input[2] / s.input[1] % s.input[0], h = i / s.input[2] % s.input[1], w = i % s.input[2];
    const WindowsThatSee depths(s, 0, d), rows(s, 1, h), columns(s, 2, w);
    opmath_t sum = 0;
    for (int64_t od = depths.first; od < depths.last; od++) {
      const PoolWindow depth = s.window(0, od, divisor.count_include_pad);
      for (int64_t oh = rows.first; oh < rows.last; oh++) {
        const PoolWindow row = s.window(1, oh, divisor.count_include_pad);
        for (int64_t ow = columns.first; ow < columns.last; ow++) {
          const PoolWindow column = s.window(2, ow, divisor.count_include_pad);
          if (sees(depth, d) && sees(row, h) && sees(column, w)) {
            sum += opmath_t(dy[(od * s.output[1] + oh) * s.output[2] + ow]) / opmath_t(divisor.of(depth, row, column));
          }
        }
      }
    }
    grad_input[i] = static_cast<scalar_t>(sum);
  }
}

void avg_pool_kernel_cuda(const Tensor& output, const Tensor& input, const PoolShape& shape, bool count_include_pad,
                          std::optional<int64_t> divisor_override) {
  const char* name = shape.adaptive ? "adaptive_avg_pool2d_cuda" : "avg_pool2d_out_cuda_frame";
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(input, output.numel(), avg_pool_kernel<scalar_t>, output.data_ptr<scalar_t>(),
                    input.data_ptr<scalar_t>(), shape, Divisor(count_include_pad, divisor_override), output.numel());
  });
}

void avg_pool_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad_output, const PoolShape& shape,
                                   bool count_include_pad, std::optional<int64_t> divisor_override) {
  const char* name = shape.adaptive ? "adaptive_avg_pool2d_backward_cuda" : "avg_pool2d_backward_out_cuda_frame";
  dispatch<FloatingTypesAndReduced>(grad_input.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(grad_input, grad_input.numel(), avg_pool_backward_kernel<scalar_t>, grad_input.data_ptr<scalar_t>(),
                    grad_output.data_ptr<scalar_t>(), shape, Divisor(count_include_pad, divisor_override),
                    grad_input.numel());
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(avg_pool_stub, avg_pool_kernel_cuda)
REGISTER_CUDA_DISPATCH(avg_pool_backward_stub, avg_pool_backward_kernel_cuda)

} // namespace reftorch::at::native
