// Mirrors: aten/src/ATen/native/cuda/Sort.cpp, aten/src/ATen/native/cuda/TensorTopK.cpp, aten/src/ATen/native/cuda/Sorting.cpp
#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/native/NanLast.h>
#include <ATen/native/Sorting.h>

#include <ATen/native/cuda/Sort.cuh>

namespace reftorch::at::native {
namespace {

template <typename scalar_t>
struct BeforeInRow {
  const scalar_t* data; // (rows, n)
  int64_t n;
  bool descending;
  __device__ bool operator()(int64_t row, int64_t a, int64_t b) const {
    const scalar_t x = c10::load(data + row * n + a), y = c10::load(data + row * n + b);
    return descending ? greater_nan_first(x, y) : less_nan_last(x, y);
  }
};

// Writes the first elements of each sorted line, as many as `values` and `indices` have along dim.
template <typename Types>
void write_sorted(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool descending,
                  const char* name) {
  const Tensor rows = at::contiguous(at::transpose(self, dim, -1));
  const int64_t n = self.size(dim), k = values.size(dim);
  Tensor order;
  dispatch<Types>(self.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    order = sorted_order(self.device(), self.numel() / n, n,
                         BeforeInRow<scalar_t>{rows.data_ptr<scalar_t>(), n, descending});
  });
  const Tensor chosen = at::narrow(at::view(order, rows.sizes()), -1, 0, k);
  Tensor index_lines = at::transpose(indices, dim, -1), value_lines = at::transpose(values, dim, -1);
  at::copy_(index_lines, chosen);
  at::copy_(value_lines, at::gather(rows, -1, chosen));
}

void sort_kernel_cuda(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool descending) {
  write_sorted<AllTypesAndBool>(values, indices, self, dim, descending, "sort_cuda");
}

void topk_kernel_cuda(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool largest,
                      bool /*sorted*/) {
  write_sorted<AllNumbers>(values, indices, self, dim, largest, "topk_cuda");
}

} // namespace

REGISTER_CUDA_DISPATCH(sort_stub, sort_kernel_cuda)
REGISTER_CUDA_DISPATCH(topk_stub, topk_kernel_cuda)

} // namespace reftorch::at::native
