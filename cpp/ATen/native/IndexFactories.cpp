// Mirrors: aten/src/ATen/native/TensorFactories.cpp (tril_indices, triu_indices)
// Tensors of indices: where the triangles of a matrix lie.
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>

namespace reftorch::at::native {

// The coordinates (2, count) of the elements of a (row, col) matrix from column first(i) to before column last(i), row
// by row.
template <typename First, typename Last>
static Tensor triangle_indices(const char* name, int64_t row, int64_t col, OptionalType dtype, OptionalDevice device,
                               const First& first, const Last& last) {
  TORCH_CHECK(row >= 0, "row must be non-negative, got", row);
  TORCH_CHECK(col >= 0, "col must be non-negative, got", col);
  const ScalarType type = dtype.value_or(kLong);
  TORCH_CHECK_NOT_IMPLEMENTED(type == kInt || type == kLong, '"', name, "\" not implemented for '", type, "'");
  auto clamped = [col](int64_t j) { return std::min(std::max<int64_t>(j, 0), col); };
  int64_t count = 0;
  for (int64_t i = 0; i < row; i++) {
    count += clamped(last(i)) - clamped(first(i));
  }
  const Tensor result = detail::empty_generic({2, count}, kLong, device.value_or(Device()));
  int64_t *rows = result.data_ptr<int64_t>(), *columns = rows + count;
  for (int64_t i = 0; i < row; i++) {
    for (int64_t j = clamped(first(i)); j < clamped(last(i)); j++) {
      *rows++ = i;
      *columns++ = j;
    }
  }
  return at::to(result, type);
}

static Tensor tril_indices(int64_t row, int64_t col, int64_t offset, OptionalType dtype, OptionalLayout,
                           OptionalDevice device, OptionalBool pin_memory) {
  check_not_pinned(pin_memory);
  return triangle_indices(
      "tril_indices", row, col, dtype, device, [](int64_t) { return int64_t(0); },
      [offset](int64_t i) { return i + offset + 1; });
}

static Tensor triu_indices(int64_t row, int64_t col, int64_t offset, OptionalType dtype, OptionalLayout,
                           OptionalDevice device, OptionalBool pin_memory) {
  check_not_pinned(pin_memory);
  return triangle_indices(
      "triu_indices", row, col, dtype, device, [offset](int64_t i) { return i + offset; },
      [col](int64_t) { return col; });
}

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("tril_indices(int row, int col, int offset=0, *, " OPTIONS ") -> Tensor", TORCH_FN(tril_indices),
        variants::FUNCTION);
  m.def("triu_indices(int row, int col, int offset=0, *, " OPTIONS ") -> Tensor", TORCH_FN(triu_indices),
        variants::FUNCTION);
}

} // namespace reftorch::at::native
