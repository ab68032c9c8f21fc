// Mirrors: aten/src/ATen/native/Bucketization.cpp (cus_lower_bound, cus_upper_bound)
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/Bucketization.h>

namespace reftorch::at::native {
namespace {

// The first of n boundaries that is not before the value. Written so that a NaN value is before none.
template <typename opmath_t, typename F>
int64_t bound(int64_t n, opmath_t value, bool right, const F& boundary) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const opmath_t there = boundary(middle);
    if (right ? !(there > value) : !(there >= value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <typename scalar_t, typename out_t>
void search_rows(const Tensor& result, const Tensor& values, const Tensor& boundaries, const Tensor& sorter,
                 bool right) {
  using opmath_t = opmath_type<scalar_t>;
  out_t* out = result.data_ptr<out_t>();
  const scalar_t* value = values.data_ptr<scalar_t>();
  const scalar_t* all = boundaries.data_ptr<scalar_t>();
  const int64_t* order = sorter.defined() ? sorter.data_ptr<int64_t>() : nullptr;
  const int64_t n = values.sizes()[1], m = boundaries.sizes()[1];
  parallel_for(0, values.numel(), 2048, [&](int64_t lo, int64_t hi) {
    for (int64_t i = lo; i < hi; i++) {
      const int64_t first = i / n * m;
      out[i] = static_cast<out_t>(bound(m, opmath_t(value[i]), right, [&](int64_t j) -> opmath_t {
        return all[first + (order != nullptr ? order[first + j] : j)];
      }));
    }
  });
}

void searchsorted_kernel(const Tensor& result, const Tensor& values, const Tensor& boundaries, const Tensor& sorter,
                         bool right) {
  AT_DISPATCH_ALL_NUMBERS(values.scalar_type(), "searchsorted_out_cpu", [&] {
    if (result.scalar_type() == kInt) {
      search_rows<scalar_t, int32_t>(result, values, boundaries, sorter, right);
    } else {
      search_rows<scalar_t, int64_t>(result, values, boundaries, sorter, right);
    }
  });
}

} // namespace

REGISTER_DISPATCH(searchsorted_stub, searchsorted_kernel)

} // namespace reftorch::at::native
