// Mirrors: aten/src/ATen/native/cuda/TensorFactories.cu (tril_indices_cuda, triu_indices_cuda)
#include <ATen/native/IndexFactories.h>

#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// Element i of the triangle is in the last row before which there are at most i elements. A binary search finds this
// row, because the number of elements before a row has a closed form.
struct TriangleFunctor {
  int64_t* places; // (2, n)
  int64_t n, rows, cols, offset;
  bool upper;

  // Returns the sum of clamp(x, 0, cols) over all integers x < m.
  __device__ int64_t sum_below(int64_t m) const {
    if (m <= 0) {
      return 0;
    }
    return m <= cols ? m * (m - 1) / 2 : cols * (cols - 1) / 2 + (m - cols) * cols;
  }
  __device__ int64_t elements_before(int64_t row) const {
    const int64_t a = upper ? offset : offset + 1; // the lower triangle has clamp(row + a, 0, cols) elements in a row
    const int64_t lower = sum_below(row + a) - sum_below(a);
    return upper ? row * cols - lower : lower;
  }
  __device__ void operator()(int64_t i) const {
    int64_t low = 0, high = rows - 1;
    while (low < high) {
      const int64_t middle = low + (high - low + 1) / 2;
      (elements_before(middle) <= i ? low : high) = elements_before(middle) <= i ? middle : middle - 1;
    }
    const int64_t first = upper && low + offset > 0 ? low + offset : 0;
    places[i] = low;
    places[n + i] = first + i - elements_before(low);
  }
};

void triangle_indices_kernel_cuda(const Tensor& places, int64_t rows, int64_t cols, int64_t offset, bool upper) {
  const int64_t n = places.size(1);
  gpu_for_each(places.device(), n, TriangleFunctor{places.data_ptr<int64_t>(), n, rows, cols, offset, upper});
}

} // namespace

REGISTER_CUDA_DISPATCH(triangle_indices_stub, triangle_indices_kernel_cuda)

} // namespace reftorch::at::native
