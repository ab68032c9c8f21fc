// Mirrors: aten/src/ATen/native/cuda/Sorting.cu (gatherKthValue, gatherMedian), aten/src/ATen/native/cuda/TensorModeKernel.cu
//
// Ops that select one element of each row. The rows are sorted, and one thread of each row selects from its order.
#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/native/NanLast.h>
#include <ATen/native/Sorting.h>

#include <ATen/native/cuda/Sort.cuh>

namespace reftorch::at::native {
namespace {

// The rows of self along dim, and the numbers of their elements in ascending order; NaN last.
struct SortedRows {
  Tensor rows, order;
  SortedRows(const Tensor& self, int64_t dim)
      : rows(at::contiguous(at::transpose(self, dim, -1))), order(std::get<1>(at::sort(rows, -1, false))) {}
  int64_t n() const {
    return rows.size(-1);
  }
  int64_t number() const {
    return rows.numel() / n();
  }
};

// Writes to values and indices (size 1 along dim) what `places` says: (*, 1), the number of an element of each row.
void write_chosen(const Tensor& values, const Tensor& indices, const Tensor& rows, const Tensor& places, int64_t dim) {
  Tensor index_lines = at::transpose(indices, dim, -1), value_lines = at::transpose(values, dim, -1);
  const Tensor chosen = at::view(places, index_lines.sizes());
  at::copy_(index_lines, chosen);
  at::copy_(value_lines, at::gather(rows, -1, chosen));
}

void kthvalue_kernel_cuda(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, int64_t k) {
  const SortedRows sorted(self, dim);
  write_chosen(values, indices, sorted.rows, at::contiguous(at::narrow(sorted.order, -1, k - 1, 1)), dim);
}

// The lower one of the two middle numbers. A NaN is the median, unless NaN is ignored.
template <typename scalar_t>
struct MedianFunctor {
  int64_t* places;
  const scalar_t* data;
  const int64_t* order;
  int64_t n;
  bool ignore_nan;
  __device__ void operator()(int64_t row) const {
    const scalar_t* in = data + row * n;
    const int64_t* sorted = order + row * n;
    int64_t count = n; // of numbers
    while (count > 0 && is_nan(in[sorted[count - 1]])) {
      count--;
    }
    const bool is_number = count == n || (ignore_nan && count > 0);
    places[row] = is_number ? sorted[(count - 1) / 2] : count < n && !ignore_nan ? sorted[count] : 0;
  }
};

void median_kernel_cuda(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool ignore_nan) {
  const SortedRows sorted(self, dim);
  const Tensor places = detail::empty_generic(sorted.number(), kLong, self.device());
  dispatch<AllNumbers>(self.scalar_type(), "median_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_for_each(self.device(), sorted.number(),
                 MedianFunctor<scalar_t>{places.data_ptr<int64_t>(), sorted.rows.data_ptr<scalar_t>(),
                                         sorted.order.data_ptr<int64_t>(), sorted.n(), ignore_nan});
  });
  write_chosen(values, indices, sorted.rows, places, dim);
}

// Finds the end of the longest run of equal elements; among equally long runs the first. NaN elements come first, each
// as a run of its own.
template <typename scalar_t>
struct ModeFunctor {
  int64_t* places;
  const scalar_t* data;
  const int64_t* order;
  int64_t n;
  __device__ void operator()(int64_t row) const {
    const int64_t* sorted = order + row * n;
    const auto at = [&](int64_t i) { return opmath_type<scalar_t>(c10::load(data + row * n + sorted[i])); };
    int64_t longest = 0, run = 0, found = 0;
    if (at(n - 1) != at(n - 1)) { // the first of the NaN elements, which are at the end here
      int64_t first = n - 1;
      while (first > 0 && at(first - 1) != at(first - 1)) {
        first--;
      }
      longest = 1;
      found = sorted[first];
    }
    for (int64_t i = 0; i < n && at(i) == at(i); i++) {
      run++;
      if (i + 1 == n || at(i) != at(i + 1)) {
        if (run > longest) {
          longest = run;
          found = sorted[i];
        }
        run = 0;
      }
    }
    places[row] = found;
  }
};

void mode_kernel_cuda(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  const SortedRows sorted(self, dim);
  const Tensor places = detail::empty_generic(sorted.number(), kLong, self.device());
  dispatch<AllTypesAndBool>(self.scalar_type(), "mode_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_for_each(self.device(), sorted.number(),
                 ModeFunctor<scalar_t>{places.data_ptr<int64_t>(), sorted.rows.data_ptr<scalar_t>(),
                                       sorted.order.data_ptr<int64_t>(), sorted.n()});
  });
  write_chosen(values, indices, sorted.rows, places, dim);
}

} // namespace

REGISTER_CUDA_DISPATCH(kthvalue_stub, kthvalue_kernel_cuda)
REGISTER_CUDA_DISPATCH(median_stub, median_kernel_cuda)
REGISTER_CUDA_DISPATCH(mode_stub, mode_kernel_cuda)

} // namespace reftorch::at::native
