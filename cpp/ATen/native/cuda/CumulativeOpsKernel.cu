// Mirrors: aten/src/ATen/native/cuda/ScanUtils.cuh, aten/src/ATen/native/cuda/ScanKernels.cpp
//
// Note [A scan in a block]
// Problem: element i of a scan depends on all elements before it, so one thread would have to walk along the line.
// Trick: the threads of a block take kThreads elements of a line at a time. In step 1, 2, 4, ... each thread joins its
// value with that of the thread `step` places to the left; after all steps each thread has joined all values to its
// left. The last value carries over to the next kThreads elements. The join must be associative. Left out: several
// blocks for one line.
#include <ATen/Dispatch.h>
#include <ATen/native/NanLast.h>
#include <ATen/native/ReduceOps.h>

#include <ATen/native/cuda/Reduce.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

// Ops: acc_t; load(place, i): element i of a line, at a place in memory; join(left, right); store(place, result).
// Tensors are (outer, n, inner).
template <typename Ops>
__global__ void scan_kernel(Ops ops, int64_t lines, int64_t n, int64_t inner) {
  using acc_t = typename Ops::acc_t;
  CUDA_DYNAMIC_SHARED(acc_t, shared);
  const int t = static_cast<int>(threadIdx.x);
  for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    const int64_t first = line / inner * n * inner + line % inner;
    acc_t carry{};
    for (int64_t begin = 0; begin < n; begin += blockDim.x) {
      const int64_t i = begin + t;
      if (i < n) {
        store(&shared[t], ops.load(first + i * inner, i));
      }
      __syncthreads();
      for (int step = 1; step < static_cast<int>(blockDim.x); step *= 2) {
        const bool joins = t >= step && i < n;
        acc_t joined{};
        if (joins) {
          joined = ops.join(shared[t - step], shared[t]);
        }
        __syncthreads();
        if (joins) {
          shared[t] = joined;
        }
        __syncthreads();
      }
      if (i < n) {
        ops.store(first + i * inner, begin > 0 ? ops.join(carry, shared[t]) : shared[t]);
      }
      const int64_t left = n - begin;
      const acc_t& last = shared[left < int64_t(blockDim.x) ? left - 1 : int64_t(blockDim.x) - 1];
      carry = begin > 0 ? ops.join(carry, last) : last;
      __syncthreads(); // the next elements overwrite the shared ones
    }
  }
}

template <typename Ops>
void launch_scan(const Tensor& self, DimShape shape, const Ops& ops) {
  const int64_t lines = shape.outer * shape.inner;
  if (lines == 0 || shape.n == 0) {
    return;
  }
  const c10::cuda::CUDAGuard guard(self.device().index());
  c10::cuda::launch(scan_kernel<Ops>, cuda::grid_size(lines * kThreads, kThreads), kThreads,
                    kThreads * sizeof(typename Ops::acc_t), c10::cuda::getCurrentCUDAStream(), ops, lines, shape.n,
                    shape.inner);
}

// Floats are accumulated in double, as on the CPU.
template <typename scalar_t, typename Join>
struct ScanOps {
  using acc_t = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, double>;
  scalar_t* out;
  const scalar_t* in;
  Join join;
  __device__ acc_t load(int64_t place, int64_t /*i*/) const {
    return acc_t(opmath_type<scalar_t>(in[place]));
  }
  __device__ void store(int64_t place, acc_t value) const {
    out[place] = static_cast<scalar_t>(opmath_type<scalar_t>(value));
  }
};

struct Product {
  template <typename T>
  C10_HOST_DEVICE T operator()(T a, T b) const {
    return a * b;
  }
};

struct Total {
  template <typename T>
  C10_HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

// log(e^a + e^b); the larger exponential is factored out, so that no exponential overflows.
struct LogAddExp {
  C10_HOST_DEVICE double operator()(double a, double b) const {
    if (a != a || b != b) {
      return a + b;
    }
    const double low = a < b ? a : b, high = a < b ? b : a;
    return low != high || std::isfinite(low) ? high + std::log1p(std::exp(low - high)) : a; // equal infinities
  }
};

template <typename scalar_t, typename Join>
void scan(const Tensor& result, const Tensor& self, DimShape shape) {
  launch_scan(self, shape, ScanOps<scalar_t, Join>{result.data_ptr<scalar_t>(), self.data_ptr<scalar_t>(), Join()});
}

void cumsum_kernel_cuda(const Tensor& result, const Tensor& self, DimShape shape) {
  dispatch<AllNumbers>(self.scalar_type(), "cumsum_cuda",
                       [&](auto type) { scan<typename decltype(type)::type, Total>(result, self, shape); });
}

void cumprod_kernel_cuda(const Tensor& result, const Tensor& self, DimShape shape) {
  dispatch<AllNumbers>(self.scalar_type(), "cumprod_cuda",
                       [&](auto type) { scan<typename decltype(type)::type, Product>(result, self, shape); });
}

void logcumsumexp_kernel_cuda(const Tensor& result, const Tensor& self, DimShape shape) {
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "logcumsumexp_cuda", [&](auto type) {
    scan<typename decltype(type)::type, LogAddExp>(result, self, shape);
  });
}

// An element of a line and its index. NaN replaces every number, and a later NaN an earlier one.
template <typename scalar_t>
struct Placed {
  opmath_type<scalar_t> value;
  int64_t index;
};

template <typename scalar_t, bool largest>
struct ExtremumOps {
  using acc_t = Placed<scalar_t>;
  scalar_t* values;
  int64_t* indices;
  const scalar_t* in;
  __device__ acc_t load(int64_t place, int64_t i) const {
    return {opmath_type<scalar_t>(c10::load(in + place)), i};
  }
  __device__ acc_t join(const acc_t& left, const acc_t& right) const {
    const bool replaces = largest ? right.value >= left.value : right.value <= left.value;
    return right.value != right.value || (left.value == left.value && replaces) ? right : left;
  }
  __device__ void store(int64_t place, const acc_t& result) const {
    values[place] = static_cast<scalar_t>(result.value);
    indices[place] = result.index;
  }
};

template <bool largest>
void scan_extremum(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape, const char* name) {
  dispatch<AllTypesAndBool>(self.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_scan(self, shape,
                ExtremumOps<scalar_t, largest>{values.data_ptr<scalar_t>(), indices.data_ptr<int64_t>(),
                                               self.data_ptr<scalar_t>()});
  });
}

void cummax_kernel_cuda(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  scan_extremum<true>(values, indices, self, shape, "cummax_cuda");
}

void cummin_kernel_cuda(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  scan_extremum<false>(values, indices, self, shape, "cummin_cuda");
}

} // namespace

REGISTER_CUDA_DISPATCH(cumsum_stub, cumsum_kernel_cuda)
REGISTER_CUDA_DISPATCH(cumprod_stub, cumprod_kernel_cuda)
REGISTER_CUDA_DISPATCH(logcumsumexp_stub, logcumsumexp_kernel_cuda)
REGISTER_CUDA_DISPATCH(cummax_stub, cummax_kernel_cuda)
REGISTER_CUDA_DISPATCH(cummin_stub, cummin_kernel_cuda)

} // namespace reftorch::at::native
