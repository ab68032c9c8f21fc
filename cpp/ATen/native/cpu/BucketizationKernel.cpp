// Mirrors: aten/src/ATen/native/Bucketization.cpp (cus_lower_bound, cus_upper_bound)
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/Bucketization.h>

namespace reftorch::at::native {
namespace {

// Returns the first of n boundaries that is not before the value. The range is halved without a branch, because a
// processor would mispredict such a branch every other time.
template <typename F>
int64_t bound(int64_t n, const F& is_before) {
  int64_t low = 0;
  while (n > 1) {
    const int64_t half = n / 2;
    low += int64_t(is_before(low + half - 1)) * half;
    n -= half;
  }
  return low + (n == 1 && is_before(low));
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
  // The comparisons are written so that no boundary stops a NaN: a NaN value goes behind all boundaries.
  auto search = [&](const auto& stands_before, const auto& boundary) {
    parallel_for(0, values.numel(), 2048, [&](int64_t lo, int64_t hi) {
      for (int64_t i = lo; i < hi; i++) {
        const int64_t first = i / n * m;
        const opmath_t x = value[i];
        out[i] = static_cast<out_t>(bound(m, [&](int64_t j) { return stands_before(boundary(first, j), x); }));
      }
    });
  };
  auto search_side = [&](const auto& boundary) {
    if (right) {
      search([](opmath_t there, opmath_t x) { return !(there > x); }, boundary);
    } else {
      search([](opmath_t there, opmath_t x) { return !(there >= x); }, boundary);
    }
  };
  if (order != nullptr) {
    search_side([=](int64_t first, int64_t j) -> opmath_t { return all[first + order[first + j]]; });
  } else {
    search_side([=](int64_t first, int64_t j) -> opmath_t { return all[first + j]; });
  }
}

void searchsorted_kernel(const Tensor& result, const Tensor& values, const Tensor& boundaries, const Tensor& sorter,
                         bool right) {
  dispatch<AllNumbers>(values.scalar_type(), "searchsorted_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    if (result.scalar_type() == kInt) {
      search_rows<scalar_t, int32_t>(result, values, boundaries, sorter, right);
    } else {
      search_rows<scalar_t, int64_t>(result, values, boundaries, sorter, right);
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(searchsorted_stub, searchsorted_kernel)

} // namespace reftorch::at::native
