// Mirrors: aten/src/ATen/native/cuda/SoftMax.cu
//
// softmax and log_softmax along one dimension, forward and backward. A group of threads computes a slice, and shares
// the largest element and the sum. Left out: slices that stay in registers or in shared memory between the passes,
// results of another dtype than the input.
#include <ATen/native/SoftMax.h>

#include <ATen/native/cuda/Reduce.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

template <typename T>
struct Largest { // NaN is the largest of all
  C10_HOST_DEVICE T operator()(T a, T b) const {
    return b > a || b != b ? b : a;
  }
};

// The slices of a tensor (outer, n, inner), which the threads of a grid take in turn, a group of threads a slice. If
// the elements of a slice are not neighbours in memory, those of neighbouring slices are (see ThreadLayout).
struct Slices {
  DimShape shape;
  ThreadLayout layout;

  explicit Slices(DimShape shape) : shape(shape), layout(shape.inner == 1, shape.outer * shape.inner, shape.n) {}
  C10_HOST_DEVICE int64_t count() const {
    return shape.outer * shape.inner;
  }

  // Calls f(first, i0) for each slice of the calling thread: where the slice begins, and the first element of the
  // thread. The elements of a slice are `shape.inner` apart, those of a thread `layout.group` elements. All threads of
  // a block take as many turns, so that they meet at the barriers. A thread without a slice has no elements.
  template <typename F>
  __device__ void for_each(const F& f) const {
    const int64_t step = int64_t(gridDim.x) * layout.outputs();
    for (int64_t begin = int64_t(blockIdx.x) * layout.outputs(); begin < count(); begin += step) {
      const int64_t slice = begin + layout.output();
      f(slice / shape.inner * shape.n * shape.inner + slice % shape.inner,
        slice < count() ? int64_t(layout.rank()) : shape.n);
    }
  }

  // Combines the values of the threads of a slice.
  template <typename T, typename Combine>
  __device__ T combine(T value, const Combine& combine) const {
    return group_reduce(value, layout.group, combine, layout.apart);
  }
};

// out_i = e^x_i / sum_j e^x_j, or its logarithm. The largest element is subtracted first, so that no exponential
// overflows.
template <bool log, typename scalar_t>
__global__ void softmax_slices_kernel(scalar_t* output, const scalar_t* input, Slices slices) {
  using opmath_t = opmath_type<scalar_t>;
  const int64_t n = slices.shape.n, inner = slices.shape.inner;
  const int group = slices.layout.group;
  slices.for_each([&](int64_t first, int64_t i0) {
    const auto x = [&](int64_t i) -> opmath_t { return input[first + i * inner]; };
    opmath_t largest = lower_bound<opmath_t>(), sum = 0;
    for (int64_t i = i0; i < n; i += group) {
      largest = Largest<opmath_t>()(largest, x(i));
    }
    largest = slices.combine(largest, Largest<opmath_t>());
    for (int64_t i = i0; i < n; i += group) {
      sum += std::exp(x(i) - largest);
    }
    sum = slices.combine(sum, Sum<opmath_t>());
    const opmath_t log_sum = std::log(sum);
    for (int64_t i = i0; i < n; i += group) {
      const opmath_t shifted = x(i) - largest;
      output[first + i * inner] = static_cast<scalar_t>(log ? shifted - log_sum : std::exp(shifted) / sum);
    }
  });
}

// softmax: grad_in = (grad - sum(grad * y)) * y. log_softmax: grad_in = grad - e^y sum(grad).
template <bool log, typename scalar_t>
__global__ void softmax_slices_backward_kernel(scalar_t* grad_input, const scalar_t* grad, const scalar_t* output,
                                               Slices slices) {
  using opmath_t = opmath_type<scalar_t>;
  const int64_t n = slices.shape.n, inner = slices.shape.inner;
  const int group = slices.layout.group;
  slices.for_each([&](int64_t first, int64_t i0) {
    opmath_t sum = 0;
    for (int64_t i = i0; i < n; i += group) {
      const opmath_t g = grad[first + i * inner], y = output[first + i * inner];
      sum += log ? g : g * y;
    }
    sum = slices.combine(sum, Sum<opmath_t>());
    for (int64_t i = i0; i < n; i += group) {
      const opmath_t g = grad[first + i * inner], y = output[first + i * inner];
      grad_input[first + i * inner] = static_cast<scalar_t>(log ? g - std::exp(y) * sum : (g - sum) * y);
    }
  });
}

template <typename scalar_t, typename Kernel, typename... Pointers>
void launch_over_slices(Kernel kernel, const Tensor& output, DimShape shape, Pointers... pointers) {
  const Slices slices(shape);
  const size_t shared_bytes = slices.layout.group > 1 ? kThreads * sizeof(opmath_type<scalar_t>) : 0;
  const c10::cuda::CUDAGuard guard(output.device().index());
  c10::cuda::launch(kernel, cuda::grid_size(slices.count() * slices.layout.group, kThreads), kThreads, shared_bytes,
                    c10::cuda::getCurrentCUDAStream(), output.data_ptr<scalar_t>(), pointers..., slices);
}

template <bool log>
void forward(const char* name, const Tensor& output, const Tensor& input, DimShape shape) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_over_slices<scalar_t>(softmax_slices_kernel<log, scalar_t>, output, shape,
                                 static_cast<const scalar_t*>(input.data_ptr<scalar_t>()));
  });
}

template <bool log>
void backward(const char* name, const Tensor& grad_input, const Tensor& grad, const Tensor& output, DimShape shape) {
  dispatch<FloatingTypesAndReduced>(output.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_over_slices<scalar_t>(softmax_slices_backward_kernel<log, scalar_t>, grad_input, shape,
                                 static_cast<const scalar_t*>(grad.data_ptr<scalar_t>()),
                                 static_cast<const scalar_t*>(output.data_ptr<scalar_t>()));
  });
}

void softmax_kernel_cuda(const Tensor& output, const Tensor& input, DimShape shape) {
  forward</*log=*/false>("softmax_cuda", output, input, shape);
}

void log_softmax_kernel_cuda(const Tensor& output, const Tensor& input, DimShape shape) {
  forward</*log=*/true>("log_softmax_cuda", output, input, shape);
}

void softmax_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad, const Tensor& output, DimShape shape) {
  backward</*log=*/false>("softmax_backward_cuda", grad_input, grad, output, shape);
}

void log_softmax_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad, const Tensor& output,
                                      DimShape shape) {
  backward</*log=*/true>("log_softmax_backward_cuda", grad_input, grad, output, shape);
}

} // namespace

REGISTER_CUDA_DISPATCH(softmax_kernel, softmax_kernel_cuda)
REGISTER_CUDA_DISPATCH(log_softmax_kernel, log_softmax_kernel_cuda)
REGISTER_CUDA_DISPATCH(softmax_backward_kernel, softmax_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(log_softmax_backward_kernel, log_softmax_backward_kernel_cuda)

} // namespace reftorch::at::native
