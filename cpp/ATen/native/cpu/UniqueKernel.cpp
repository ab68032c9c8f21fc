// Mirrors: aten/src/ATen/native/Unique.cpp
#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/Sorting.h>
#include <ATen/native/Unique.h>
#include <ATen/native/cpu/NanLast.h>

#include <algorithm>
#include <numeric>

namespace reftorch::at::native {
namespace {

Tensor order_rows_kernel(const Tensor& self) {
  const int64_t n = self.sizes()[0], width = self.sizes()[1];
  const Tensor order = detail::empty_generic(n, kLong, self.device());
  if (width == 1 && n > 0) { // single elements: the sort has a quicker way
    const Tensor column = detail::alias_with_sizes_and_strides(self, n, int64_t(1), self.storage_offset());
    sort_stub(self.device().type(), detail::empty_generic(n, self.scalar_type(), self.device()), order, column, 0,
              /*descending=*/false);
    return order;
  }
  int64_t* places = order.data_ptr<int64_t>();
  std::iota(places, places + n, 0);
  AT_DISPATCH_ALL_TYPES_AND_BOOL(self.scalar_type(), "unique_dim", [&] {
    const scalar_t* data = self.data_ptr<scalar_t>();
    std::stable_sort(places, places + n, [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(data + a * width, data + (a + 1) * width, data + b * width,
                                          data + (b + 1) * width, less_nan_last<scalar_t>);
    });
  });
  return order;
}

Tensor run_starts_kernel(const Tensor& self, const Tensor& order) {
  const int64_t n = self.sizes()[0], width = self.sizes()[1];
  const Tensor starts = detail::empty_generic(n, kBool, self.device());
  const int64_t* places = order.data_ptr<int64_t>();
  AT_DISPATCH_ALL_TYPES_AND_BOOL(self.scalar_type(), "unique", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* data = self.data_ptr<scalar_t>();
    bool* out = starts.data_ptr<bool>();
    for (int64_t i = 0; i < n; i++) {
      const scalar_t* row = data + places[i] * width;
      out[i] = i == 0 || !std::equal(row, row + width, data + places[i - 1] * width,
                                     [](scalar_t a, scalar_t b) { return opmath_t(a) == opmath_t(b); });
    }
  });
  return starts;
}

} // namespace

REGISTER_DISPATCH(order_rows_stub, order_rows_kernel)
REGISTER_DISPATCH(run_starts_stub, run_starts_kernel)

} // namespace reftorch::at::native
