// Mirrors: aten/src/ATen/native/cuda/ReduceMaxValuesKernel.cu, aten/src/ATen/native/cuda/ReduceMinValuesKernel.cu, aten/src/ATen/native/cuda/TensorModeKernel.cu
//
// The largest and smallest values, over any dimensions, or with their positions along one dimension.
#include <ATen/native/ReduceOps.h>
#include <ATen/native/cuda/Reduce.cuh>

namespace reftorch::at::native {
namespace {

void max_values_kernel_cuda(TensorIterator& iter) {
  dispatch<AllTypesAndBool>(iter.dtype(), "max_values_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_reduce_kernel<scalar_t, scalar_t>(iter, MaxOps<scalar_t, compared_type<scalar_t>>());
  });
}

void min_values_kernel_cuda(TensorIterator& iter) {
  dispatch<AllTypesAndBool>(iter.dtype(), "min_values_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_reduce_kernel<scalar_t, scalar_t>(iter, MinOps<scalar_t, compared_type<scalar_t>>());
  });
}

// A value and its position along the dimension. A position of -1 means that no element was seen yet.
template <typename T>
struct ValueAndPlace {
  T value;
  int64_t place;
};

// Returns the better of two values. NaN is better than any number. Of equal values, the one with the smaller position
// is better.
template <typename T>
struct BetterOf {
  bool largest;
  C10_HOST_DEVICE ValueAndPlace<T> operator()(ValueAndPlace<T> a, ValueAndPlace<T> b) const {
    if (a.place < 0 || b.place < 0) {
      return a.place < 0 ? b : a;
    }
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    const bool equal = (a_nan && b_nan) || a.value == b.value;
    if (equal) {
      return a.place < b.place ? a : b;
    }
    const bool a_wins = a_nan || (!b_nan && (largest ? a.value > b.value : a.value < b.value));
    return a_wins ? a : b;
  }
};

// values and indices have the shape (outer, inner), and self has the shape (outer, n, inner). `group` threads work on
// one output.
template <typename scalar_t>
__global__ void extremum_kernel(scalar_t* values, int64_t* indices, const scalar_t* self, DimShape shape, bool largest,
                                int group) {
  using opmath_t = compared_type<scalar_t>;
  const BetterOf<opmath_t> better{largest};
  const int64_t step = int64_t(gridDim.x) * blockDim.x / group;
  int64_t output = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / group;
  for (; output < shape.outer * shape.inner; output += step) {
    const scalar_t* first = self + output / shape.inner * shape.n * shape.inner + output % shape.inner;
    ValueAndPlace<opmath_t> best{opmath_t(0), -1};
    for (int64_t i = threadIdx.x % group; i < shape.n; i += group) {
      best = better(best, {opmath_t(c10::load(first + i * shape.inner)), i});
    }
    if (group > 1) {
      best = group_reduce(best, group, better);
    }
    if (threadIdx.x % group == 0) {
      values[output] = scalar_t(best.value);
      indices[output] = best.place;
    }
  }
}

void extremum(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape, bool largest) {
  const int64_t outputs = shape.outer * shape.inner;
  if (outputs == 0) {
    return;
  }
  dispatch<AllTypesAndBool>(self.scalar_type(), largest ? "max_cuda" : "min_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const int group = shape.n <= kFewElements ? 1 : kThreads;
    const size_t shared_bytes = group > 1 ? kThreads * sizeof(ValueAndPlace<compared_type<scalar_t>>) : 0;
    const c10::cuda::CUDAGuard guard(self.device().index());
    c10::cuda::launch(extremum_kernel<scalar_t>, cuda::grid_size(outputs * group, kThreads), kThreads, shared_bytes,
                      c10::cuda::getCurrentCUDAStream(), values.data_ptr<scalar_t>(), indices.data_ptr<int64_t>(),
                      self.data_ptr<scalar_t>(), shape, largest, group);
  });
}

void max_kernel_cuda(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  extremum(values, indices, self, shape, /*largest=*/true);
}

void min_kernel_cuda(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  extremum(values, indices, self, shape, /*largest=*/false);
}

} // namespace

REGISTER_CUDA_DISPATCH(max_values_stub, max_values_kernel_cuda)
REGISTER_CUDA_DISPATCH(min_values_stub, min_values_kernel_cuda)
REGISTER_CUDA_DISPATCH(max_stub, max_kernel_cuda)
REGISTER_CUDA_DISPATCH(min_stub, min_kernel_cuda)

} // namespace reftorch::at::native
