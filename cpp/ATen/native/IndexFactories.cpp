// Mirrors: aten/src/ATen/native/TensorFactories.cpp (tril_indices, triu_indices)
// Where the triangles of a matrix lie: a row of row numbers over a row of column numbers.
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace reftorch::at::native {

// How many elements lie on and below a diagonal: row i has i + offset + 1 of them, but none below 0 and none above
// cols. Wider than the answer may be: a count that no tensor holds is for the allocation to refuse.
static __int128 tril_size(int64_t rows, int64_t cols, int64_t offset) {
  const int64_t first = std::clamp<int64_t>(-offset, 0, rows);              // the first row that has some
  const int64_t full = std::clamp<int64_t>(cols - offset - 1, first, rows); // the first row that has all
  const __int128 ramp = __int128(full - first) * (first + full + 2 * __int128(offset) + 1) / 2;
  return ramp + __int128(rows - full) * (first < rows ? cols : 0);
}

static Tensor triangle_indices(int64_t rows, int64_t cols, int64_t offset, bool upper, OptionalType dtype,
                               OptionalBool pin_memory) {
  check_not_pinned(pin_memory);
  TORCH_CHECK(rows >= 0, "row must be non-negative, got", rows);
  TORCH_CHECK(cols >= 0, "col must be non-negative, got", cols);
  const ScalarType type = dtype.value_or(kLong);
  TORCH_CHECK_NOT_IMPLEMENTED(type == kLong || type == kInt, upper ? "\"triu" : "\"tril",
                              "_indices\" not implemented for '", type, "'");
  offset = std::clamp(offset, -rows, cols);
  const __int128 below = tril_size(rows, cols, upper ? offset - 1 : offset);
  const __int128 size = upper ? __int128(rows) * cols - below : below;
  TORCH_CHECK(size <= std::numeric_limits<int64_t>::max() / 16, "Storage size calculation overflowed: a triangle of ",
              rows, " rows and ", cols, " columns has more elements than a tensor can hold");
  Tensor places = detail::empty_generic({2, static_cast<int64_t>(size)}, kLong);
  if (size == 0) {
    return at::to(places, type);
  }
  int64_t *row = places.data_ptr<int64_t>(), *col = row + static_cast<int64_t>(size);
  const int64_t first_row = upper ? 0 : std::max<int64_t>(-offset, 0);
  const int64_t last_row = upper ? std::min(rows, cols - offset) : rows;
  for (int64_t i = first_row; i < last_row; i++) {
    const int64_t first = upper ? std::max<int64_t>(i + offset, 0) : 0;
    const int64_t last = upper ? cols : std::min(i + offset + 1, cols);
    row = std::fill_n(row, last - first, i);
    std::iota(col, col + (last - first), first);
    col += last - first;
  }
  return at::to(places, type);
}

static Tensor tril_indices(int64_t row, int64_t col, int64_t offset, OptionalType dtype, OptionalLayout,
                           OptionalDevice device, OptionalBool pin_memory) {
  return triangle_indices(row, col, offset, /*upper=*/false, dtype, pin_memory);
}

static Tensor triu_indices(int64_t row, int64_t col, int64_t offset, OptionalType dtype, OptionalLayout,
                           OptionalDevice device, OptionalBool pin_memory) {
  return triangle_indices(row, col, offset, /*upper=*/true, dtype, pin_memory);
}

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("tril_indices(int row, int col, int offset=0, *, " OPTIONS ") -> Tensor", TORCH_FN(tril_indices),
        variants::FUNCTION);
  m.def("triu_indices(int row, int col, int offset=0, *, " OPTIONS ") -> Tensor", TORCH_FN(triu_indices),
        variants::FUNCTION);
}

} // namespace reftorch::at::native
