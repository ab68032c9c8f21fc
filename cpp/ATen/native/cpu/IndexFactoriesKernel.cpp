// Mirrors: aten/src/ATen/native/TensorFactories.cpp (tril_indices_cpu, triu_indices_cpu)
#include <ATen/native/IndexFactories.h>

#include <algorithm>
#include <numeric>

namespace reftorch::at::native {
namespace {

void triangle_indices_kernel(const Tensor& places, int64_t rows, int64_t cols, int64_t offset, bool upper) {
  int64_t *row = places.data_ptr<int64_t>(), *col = row + places.sizes()[1];
  const int64_t first_row = upper ? 0 : std::max<int64_t>(-offset, 0);
  const int64_t last_row = upper ? std::min(rows, cols - offset) : rows;
  for (int64_t i = first_row; i < last_row; i++) {
    const int64_t first = upper ? std::max<int64_t>(i + offset, 0) : 0;
    const int64_t last = upper ? cols : std::min(i + offset + 1, cols);
    row = std::fill_n(row, last - first, i);
    std::iota(col, col + (last - first), first);
    col += last - first;
  }
}

} // namespace

REGISTER_CPU_DISPATCH(triangle_indices_stub, triangle_indices_kernel)

} // namespace reftorch::at::native
