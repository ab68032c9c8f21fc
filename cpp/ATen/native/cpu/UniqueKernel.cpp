// Mirrors: aten/src/ATen/native/Unique.cpp
#include <ATen/EmptyTensor.h>
#include <ATen/native/NanLast.h>
#include <ATen/native/Unique.h>
#include <ATen/native/cpu/Loops.h>

#include <algorithm>
#include <numeric>

namespace reftorch::at::native {
namespace {

Tensor order_rows_kernel(const Tensor& self) {
  const int64_t n = self.sizes()[0], width = self.sizes()[1];
  const Tensor order = detail::empty_generic(n, kLong, self.device());
  int64_t* places = order.data_ptr<int64_t>();
  std::iota(places, places + n, 0);
  dispatch<AllTypesAndBool>(self.scalar_type(), "unique_dim", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* data = self.data_ptr<scalar_t>();
    std::stable_sort(places, places + n, [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(
          data + a * width, data + (a + 1) * width, data + b * width, data + (b + 1) * width,
          [](const scalar_t& x, const scalar_t& y) { return less_nan_last(c10::load(&x), c10::load(&y)); });
    });
  });
  return order;
}

// Rows of one element, already in order: the comparison of the naive rung, in one flat loop.
template <typename scalar_t>
TARGET_CLONES static void differ_from_neighbour(uint8_t* out, const scalar_t* data, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    out[i] = opmath_type<scalar_t>(c10::load(data + i)) != opmath_type<scalar_t>(c10::load(data + i - 1));
  }
}

Tensor run_starts_kernel(const Tensor& self, const Tensor& order) {
  const int64_t n = self.sizes()[0], width = self.sizes()[1];
  const Tensor starts = detail::empty_generic(n, kBool, self.device());
  const int64_t* places = order.defined() ? order.data_ptr<int64_t>() : nullptr;
  dispatch<AllTypesAndBool>(self.scalar_type(), "unique", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* data = self.data_ptr<scalar_t>();
    bool* out = starts.data_ptr<bool>();
    if (n > 0) {
      out[0] = true;
    }
    if (width == 1 && places == nullptr) {
      return differ_from_neighbour(reinterpret_cast<uint8_t*>(out), data, n);
    }
    auto row = [&](int64_t i) { return data + (places != nullptr ? places[i] : i) * width; };
    for (int64_t i = 1; i < n; i++) {
      out[i] = !std::equal(row(i), row(i) + width, row(i - 1), [](const scalar_t& a, const scalar_t& b) {
        return opmath_t(c10::load(&a)) == opmath_t(c10::load(&b));
      });
    }
  });
  return starts;
}

Runs find_runs_kernel(const Tensor& rows, const Tensor& order, const Tensor& places, bool want_inverse) {
  const int64_t n = rows.sizes()[0];
  const Tensor starts = run_starts_kernel(rows, order);
  const bool* start = starts.data_ptr<bool>();
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    count += start[i];
  }
  Runs runs;
  runs.first = detail::empty_generic(count, kLong, rows.device());
  runs.counts = detail::empty_generic(count, kLong, rows.device());
  runs.inverse = detail::empty_generic(want_inverse ? n : 0, kLong, rows.device());
  int64_t *first = runs.first.data_ptr<int64_t>(), *counts = runs.counts.data_ptr<int64_t>(),
          *inverse = runs.inverse.data_ptr<int64_t>();
  const int64_t* place = places.defined() ? places.data_ptr<int64_t>() : nullptr;
  for (int64_t i = 0, found = 0; found < count; i++) {
    first[found] = i; // overwritten by the next row unless a run begins here
    found += start[i];
  }
  for (int64_t i = 0, run = -1; want_inverse && i < n; i++) {
    run += start[i];
    inverse[place != nullptr ? place[i] : i] = run;
  }
  for (int64_t run = 0; run < count; run++) {
    counts[run] = (run + 1 < count ? first[run + 1] : n) - first[run];
  }
  return runs;
}

} // namespace

REGISTER_CPU_DISPATCH(order_rows_stub, order_rows_kernel)
REGISTER_CPU_DISPATCH(run_starts_stub, run_starts_kernel)
REGISTER_CPU_DISPATCH(find_runs_stub, find_runs_kernel)

} // namespace reftorch::at::native
