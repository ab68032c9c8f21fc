// Mirrors: aten/src/ATen/native/cuda/RangeFactories.cu
//
// Each element is computed from its index and not from its neighbour, so that rounding errors do not add up.
#include <ATen/native/RangeFactories.h>
#include <ATen/native/cuda/Loops.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

// Computes out[i] = f(i). `out` is contiguous.
template <typename scalar_t, typename F>
__global__ void index_kernel(scalar_t* out, int64_t n, F f) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    out[i] = f(i);
  }
}

template <typename scalar_t, typename F>
void gpu_kernel_with_index(const Tensor& out, const F& f) {
  if (out.numel() == 0) {
    return;
  }
  const c10::cuda::CUDAGuard guard(out.device().index());
  c10::cuda::launch(index_kernel<scalar_t, F>, cuda::grid_size(out.numel(), kThreads), kThreads, 0,
                    c10::cuda::getCurrentCUDAStream(), out.data_ptr<scalar_t>(), out.numel(), f);
}

template <typename scalar_t>
struct ArangeFunctor {
  using acc_t = std::conditional_t<std::is_integral_v<scalar_t>, uint64_t, double>; // step * i may overflow int64
  acc_t start, step;
  C10_HOST_DEVICE scalar_t operator()(int64_t i) const {
    return static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(start + step * static_cast<acc_t>(i)));
  }
};

void arange_kernel_cuda(const Tensor& out, const Scalar& start_scalar, const Scalar& step_scalar) {
  dispatch<AllNumbers>(out.scalar_type(), "arange_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using acc_t = typename ArangeFunctor<scalar_t>::acc_t;
    using number_t = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, double>;
    const auto start = static_cast<acc_t>(start_scalar.to<number_t>());
    const auto step = static_cast<acc_t>(step_scalar.to<number_t>());
    gpu_kernel_with_index<scalar_t>(out, ArangeFunctor<scalar_t>{start, step});
  });
}

// The second half counts back from `end`, so that both ends are exact.
template <typename scalar_t>
struct LinspaceFunctor {
  using step_t = std::conditional_t<std::is_integral_v<scalar_t>, double, opmath_type<scalar_t>>;
  step_t start, end, step;
  int64_t steps;
  C10_HOST_DEVICE scalar_t operator()(int64_t i) const {
    return static_cast<scalar_t>(i < steps / 2 ? std::fma(step, static_cast<step_t>(i), start)
                                               : std::fma(-step, static_cast<step_t>(steps - i - 1), end));
  }
};

// `out` has at least two elements.
void linspace_kernel_cuda(const Tensor& out, const Scalar& start_scalar, const Scalar& end_scalar) {
  dispatch<AllNumbers>(out.scalar_type(), "linspace_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using step_t = typename LinspaceFunctor<scalar_t>::step_t;
    const step_t start = start_scalar.to<scalar_t>(), end = end_scalar.to<scalar_t>();
    const int64_t steps = out.numel();
    const step_t step = (end - start) / static_cast<step_t>(steps - 1);
    gpu_kernel_with_index<scalar_t>(out, LinspaceFunctor<scalar_t>{start, end, step, steps});
  });
}

template <typename scalar_t>
struct LogspaceFunctor {
  using step_t = typename LinspaceFunctor<scalar_t>::step_t;
  step_t start, end, step, base;
  int64_t steps;
  C10_HOST_DEVICE scalar_t operator()(int64_t i) const {
    return static_cast<scalar_t>(std::pow(
        base, i < steps / 2 ? start + step * static_cast<step_t>(i) : end - step * static_cast<step_t>(steps - i - 1)));
  }
};

// `out` has at least two elements.
void logspace_kernel_cuda(const Tensor& out, const Scalar& start_scalar, const Scalar& end_scalar, double base) {
  dispatch<AllNumbers>(out.scalar_type(), "logspace_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using step_t = typename LogspaceFunctor<scalar_t>::step_t;
    const step_t start = start_scalar.to<scalar_t>(), end = end_scalar.to<scalar_t>();
    const int64_t steps = out.numel();
    const step_t step = (end - start) / static_cast<step_t>(steps - 1);
    gpu_kernel_with_index<scalar_t>(out, LogspaceFunctor<scalar_t>{start, end, step, static_cast<step_t>(base), steps});
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(arange_stub, arange_kernel_cuda)
REGISTER_CUDA_DISPATCH(linspace_stub, linspace_kernel_cuda)
REGISTER_CUDA_DISPATCH(logspace_stub, logspace_kernel_cuda)

} // namespace reftorch::at::native
