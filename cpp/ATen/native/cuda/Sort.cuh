// Mirrors: aten/src/ATen/native/cuda/Sort.cu, aten/src/ATen/native/cuda/Sorting.cu
//
// Note [Merge sort by ranks]
// Problem: merging two sorted runs looks like work for one thread, which compares the heads of the runs again and
// again. Trick: the place of an element in the merged run is its rank: the number of elements of its own run before it,
// plus the number of elements of the other run before it, which a binary search finds. So each element has a thread,
// and log2(n) passes sort runs of 1, 2, 4, ... elements. The sort is stable, because an element of the left run goes
// before the equal ones of the right run. Left out: a radix sort, which PyTorch takes from the library cub.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/native/cuda/Loops.cuh>

#include <utility>

namespace reftorch::at::native {

// Before: before(row, a, b) says whether element a of a row belongs before element b. `from` and `to` are (rows, n):
// the elements of each row as numbers, sorted in runs of `width`; in `to` in runs of twice the width.
template <typename Before>
struct MergeFunctor {
  Before before;
  const int64_t* from;
  int64_t* to;
  int64_t n, width;

  __device__ void operator()(int64_t item) const {
    const int64_t row = item / n, i = item % n, begin = i / (2 * width) * (2 * width);
    const int64_t* order = from + row * n;
    const int64_t middle = begin + width < n ? begin + width : n, end = middle + width < n ? middle + width : n;
    const bool is_left = i < middle;
    int64_t low = is_left ? middle : begin, high = is_left ? end : middle;
    const int64_t other = low;
    while (low < high) {
      const int64_t half = low + (high - low) / 2;
      const bool goes_on = is_left ? before(row, order[half], order[i]) : !before(row, order[i], order[half]);
      (goes_on ? low : high) = goes_on ? half + 1 : half;
    }
    const int64_t own = i - (is_left ? begin : middle);
    to[row * n + begin + own + (low - other)] = order[i];
  }
};

struct CountUpFunctor {
  int64_t* order;
  int64_t n;
  __device__ void operator()(int64_t i) const {
    order[i] = i % n;
  }
};

// Returns the numbers of the elements of each row in the order of `before`: (rows, n), int64.
template <typename Before>
Tensor sorted_order(c10::Device device, int64_t rows, int64_t n, const Before& before) {
  Tensor order = detail::empty_generic({rows, n}, kLong, device);
  Tensor merged = detail::empty_generic({rows, n}, kLong, device);
  gpu_for_each(device, rows * n, CountUpFunctor{order.data_ptr<int64_t>(), n});
  for (int64_t width = 1; width < n; width *= 2) {
    gpu_for_each(device, rows * n,
                 MergeFunctor<Before>{before, order.data_ptr<int64_t>(), merged.data_ptr<int64_t>(), n, width});
    std::swap(order, merged);
  }
  return order;
}

} // namespace reftorch::at::native
