// Mirrors: aten/src/ATen/native/cuda/Unique.cu, aten/src/ATen/native/cuda/UniqueCub.cu
#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/native/NanLast.h>
#include <ATen/native/Unique.h>

#include <ATen/native/cuda/Sort.cuh>

namespace reftorch::at::native {
namespace {

// Compares two rows of a matrix (n, width), element by element.
template <typename scalar_t>
struct RowBefore {
  const scalar_t* data;
  int64_t width;
  __device__ bool operator()(int64_t /*row*/, int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; i++) {
      const scalar_t x = c10::load(data + a * width + i), y = c10::load(data + b * width + i);
      if (less_nan_last(x, y)) {
        return true;
      }
      if (less_nan_last(y, x)) {
        return false;
      }
    }
    return false;
  }
};

Tensor order_rows_kernel_cuda(const Tensor& self) {
  const int64_t n = self.size(0);
  Tensor order;
  dispatch<AllTypesAndBool>(self.scalar_type(), "unique_dim", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    order = sorted_order(self.device(), 1, n, RowBefore<scalar_t>{self.data_ptr<scalar_t>(), self.size(1)});
  });
  return at::view(order, {n});
}

template <typename scalar_t>
struct RunStartFunctor {
  uint8_t* starts;
  const scalar_t* data; // (n, width)
  const int64_t* order; // or null
  int64_t width;
  __device__ void operator()(int64_t i) const {
    bool differs = i == 0;
    if (i > 0) {
      const int64_t here = (order != nullptr ? order[i] : i) * width;
      const int64_t before = (order != nullptr ? order[i - 1] : i - 1) * width;
      for (int64_t c = 0; c < width && !differs; c++) {
        using opmath_t = opmath_type<scalar_t>;
        differs = opmath_t(c10::load(data + here + c)) != opmath_t(c10::load(data + before + c));
      }
    }
    starts[i] = differs;
  }
};

Tensor run_starts_kernel_cuda(const Tensor& self, const Tensor& order) {
  const int64_t n = self.size(0);
  const Tensor starts = detail::empty_generic(n, kBool, self.device());
  dispatch<AllTypesAndBool>(self.scalar_type(), "unique", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_for_each(self.device(), n,
                 RunStartFunctor<scalar_t>{static_cast<uint8_t*>(starts.data_ptr()), self.data_ptr<scalar_t>(),
                                           order.defined() ? order.data_ptr<int64_t>() : nullptr, self.size(1)});
  });
  return starts;
}

// numbers[i] - 1 is the run of the i-th row in order.
struct RunFunctor {
  const uint8_t* starts;
  const int64_t* numbers;
  const int64_t* places; // or null
  int64_t* first;
  int64_t* inverse; // or null
  __device__ void operator()(int64_t i) const {
    const int64_t run = numbers[i] - 1;
    if (starts[i] != 0) {
      first[run] = i;
    }
    if (inverse != nullptr) {
      inverse[places != nullptr ? places[i] : i] = run;
    }
  }
};

struct RunLengthFunctor {
  int64_t* counts;
  const int64_t* first;
  int64_t runs, n;
  __device__ void operator()(int64_t run) const {
    counts[run] = (run + 1 < runs ? first[run + 1] : n) - first[run];
  }
};

Runs find_runs_kernel_cuda(const Tensor& rows, const Tensor& order, const Tensor& places, bool want_inverse) {
  const int64_t n = rows.size(0);
  const Tensor starts = run_starts_kernel_cuda(rows, order), numbers = at::cumsum(starts, 0, kLong);
  const int64_t count = n == 0 ? 0 : at::select(numbers, 0, -1).item().toLong();
  Runs runs;
  runs.first = detail::empty_generic(count, kLong, rows.device());
  runs.counts = detail::empty_generic(count, kLong, rows.device());
  runs.inverse = detail::empty_generic(want_inverse ? n : 0, kLong, rows.device());
  gpu_for_each(rows.device(), n,
               RunFunctor{static_cast<const uint8_t*>(starts.data_ptr()), numbers.data_ptr<int64_t>(),
                          places.defined() ? places.data_ptr<int64_t>() : nullptr, runs.first.data_ptr<int64_t>(),
                          want_inverse ? runs.inverse.data_ptr<int64_t>() : nullptr});
  gpu_for_each(rows.device(), count,
               RunLengthFunctor{runs.counts.data_ptr<int64_t>(), runs.first.data_ptr<int64_t>(), count, n});
  return runs;
}

} // namespace

REGISTER_CUDA_DISPATCH(order_rows_stub, order_rows_kernel_cuda)
REGISTER_CUDA_DISPATCH(run_starts_stub, run_starts_kernel_cuda)
REGISTER_CUDA_DISPATCH(find_runs_stub, find_runs_kernel_cuda)

} // namespace reftorch::at::native
