// Mirrors: aten/src/ATen/native/TensorFactories.cpp (tril_indices, triu_indices)
//
// These factories return the coordinates of the elements in a triangle of a matrix: a row of row numbers over a row of
// column numbers.
#include <ATen/native/IndexFactories.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>
#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(triangle_indices_stub)

// How many elements lie on and below a diagonal. Row i has i + offset + 1 of them, clamped to [0, cols]. The type is
// wider than int64, so that a huge count does not overflow here and the allocation can raise the error.
static __int128 tril_size(int64_t rows, int64_t cols, int64_t offset) {
  const int64_t first = std::clamp<int64_t>(-offset, 0, rows); // the first row that has such elements
  // the first row whose elements are all below the diagonal or on it
  const int64_t full = std::clamp<int64_t>(cols - offset - 1, first, rows);
  const __int128 ramp = __int128(full - first) * (first + full + 2 * __int128(offset) + 1) / 2;
  return ramp + __int128(rows - full) * (first < rows ? cols : 0);
}

static Tensor triangle_indices(int64_t rows, int64_t cols, int64_t offset, bool upper, Device device) {
  TORCH_CHECK(rows >= 0, "row must be non-negative, got", rows);
  TORCH_CHECK(cols >= 0, "col must be non-negative, got", cols);
  offset = std::clamp(offset, -rows, cols);
  const __int128 below = tril_size(rows, cols, upper ? offset - 1 : offset);
  const __int128 size = upper ? __int128(rows) * cols - below : below;
  TORCH_CHECK(size <= std::numeric_limits<int64_t>::max() / 16, "Storage size calculation overflowed: a triangle of ",
              rows, " rows and ", cols, " columns has more elements than a tensor can hold");
  const Tensor places = detail::empty_generic({2, static_cast<int64_t>(size)}, kLong, device);
  if (size > 0) {
    triangle_indices_stub(device.type(), places, rows, cols, offset, upper);
  }
  return places;
}

static Tensor triangle_indices_of_type(int64_t rows, int64_t cols, int64_t offset, bool upper, OptionalType dtype,
                                       OptionalDevice device, OptionalBool pin_memory) {
  const ScalarType type = dtype.value_or(kLong);
  TORCH_CHECK(rows >= 0, "row must be non-negative, got", rows);
  TORCH_CHECK(cols >= 0, "col must be non-negative, got", cols);
  TORCH_CHECK_NOT_IMPLEMENTED(type == kLong || type == kInt, upper ? "\"triu" : "\"tril",
                              "_indices\" not implemented for '", type, "'");
  const Tensor places = triangle_indices(rows, cols, offset, upper, device.value_or(Device()));
  return pinned_if(pin_memory, at::to(places, type));
}

static Tensor tril_indices(int64_t row, int64_t col, int64_t offset, OptionalType dtype, OptionalLayout,
                           OptionalDevice device, OptionalBool pin_memory) {
  return triangle_indices_of_type(row, col, offset, /*upper=*/false, dtype, device, pin_memory);
}

static Tensor triu_indices(int64_t row, int64_t col, int64_t offset, OptionalType dtype, OptionalLayout,
                           OptionalDevice device, OptionalBool pin_memory) {
  return triangle_indices_of_type(row, col, offset, /*upper=*/true, dtype, device, pin_memory);
}

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("tril_indices(int row, int col, int offset=0, *, " OPTIONS ") -> Tensor", TORCH_FN(tril_indices),
        kernels(triangle_indices_stub), variants::FUNCTION);
  m.def("triu_indices(int row, int col, int offset=0, *, " OPTIONS ") -> Tensor", TORCH_FN(triu_indices),
        kernels(triangle_indices_stub), variants::FUNCTION);
}

} // namespace reftorch::at::native
