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

// Finds the better one of two values. NaN is better than any number. Of equal values, the one with the smaller position
// is better.
template <typename T>
struct BetterOps {
  using acc_t = ValueAndPlace<T>;
  bool largest;
  C10_HOST_DEVICE acc_t identity() const {
    return {T(0), -1};
  }
  C10_HOST_DEVICE acc_t combine(const acc_t& a, const acc_t& b) const {
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

// values and indices have the shape (outer, inner), and self has the shape (outer, n, inner).
template <typename scalar_t>
__global__ void extremum_kernel(scalar_t* values, int64_t* indices, const scalar_t* self, DimShape shape, bool largest,
                                ThreadLayout layout) {
  using opmath_t = compared_type<scalar_t>;
  const BetterOps<opmath_t> ops{largest};
  const auto take = [&](int64_t output) {
    const scalar_t* first = self + output / shape.inner * shape.n * shape.inner + output % shape.inner;
    auto best = ops.identity();
    for (int64_t i = layout.rank(); i < shape.n; i += layout.group) {
      best = ops.combine(best, {opmath_t(c10::load(first + i * shape.inner)), i});
    }
    return best;
  };
  const auto give = [&](int64_t output, const ValueAndPlace<opmath_t>& best) {
    values[output] = scalar_t(best.value);
    indices[output] = best.place;
  };
  reduce_items(layout, shape.outer * shape.inner, ops, take, give);
}

void extremum(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape, bool largest) {
  const int64_t outputs = shape.outer * shape.inner;
  if (outputs == 0) {
    return;
  }
  dispatch<AllTypesAndBool>(self.scalar_type(), largest ? "max_cuda" : "min_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const ThreadLayout layout(/*reduces_fastest_dim=*/shape.inner == 1, outputs, shape.n);
    const c10::cuda::CUDAGuard guard(self.device().index());
    launch_reduction<ValueAndPlace<compared_type<scalar_t>>>(layout, outputs, extremum_kernel<scalar_t>,
                                                             values.data_ptr<scalar_t>(), indices.data_ptr<int64_t>(),
                                                             self.data_ptr<scalar_t>(), shape, largest, layout);
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
