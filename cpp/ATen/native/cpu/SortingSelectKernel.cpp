// Mirrors: aten/src/ATen/native/Sorting.cpp (quick_select_template, median_impl), aten/src/ATen/native/cpu/TensorCompareKernel.cpp (mode_kernel_impl)
//
// Ops that select one element of each row: by rank (kthvalue, median), or by count (mode).
#include <ATen/Dispatch.h>
#include <ATen/native/NanLast.h>
#include <ATen/native/Sorting.h>
#include <ATen/native/cpu/DimApply.h>
#include <ATen/native/cpu/Scratch.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace reftorch::at::native {
namespace {

// The elements of a row, each with its position.
template <typename scalar_t>
using Placed = std::vector<std::pair<scalar_t, int64_t>>;
template <typename scalar_t>
Placed<scalar_t> with_places(Row<const scalar_t> in) {
  Placed<scalar_t> row(in.size);
  for (int64_t i = 0; i < in.size; i++) {
    row[i] = {in[i], i};
  }
  return row;
}

// Exchanges elements until the k-th smallest is at position k (Hoare's quickselect, with the median of three as
// pivot). Among equal elements the result is the one that this order of exchanges brings to k, as in PyTorch.
template <typename scalar_t>
void quick_select(Placed<scalar_t>& row, int64_t k) {
  auto after = [&](int64_t i, int64_t j) { return greater_nan_first(row[i].first, row[j].first); };
  auto exchange = [&](int64_t i, int64_t j) { std::swap(row[i], row[j]); };
  int64_t left = 0, right = static_cast<int64_t>(row.size()) - 1;
  while (right > left) {
    if (right == left + 1) {
      if (after(left, right)) {
        exchange(left, right);
      }
      return;
    }
    exchange(left + (right - left) / 2, left + 1);
    if (after(left + 1, right)) {
      exchange(left + 1, right);
    }
    if (after(left, right)) {
      exchange(left, right);
    }
    if (after(left + 1, left)) {
      exchange(left + 1, left);
    }
    int64_t i = left + 1, j = right; // the pivot is at `left`
    while (true) {
      do {
        i++;
      } while (after(left, i));
      do {
        j--;
      } while (after(j, left));
      if (j < i) {
        break;
      }
      exchange(i, j);
    }
    exchange(left, j);
    if (j <= k) {
      left = i;
    }
    if (j >= k) {
      right = j - 1;
    }
  }
}

// Runs choose(row) -> place for each row.
template <typename scalar_t, typename F>
void choose_from_rows(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, const F& choose) {
  dim_apply<3>({self, values, indices}, dim, [&](const std::array<char*, 3>& first) {
    const auto in = row_of<const scalar_t>(first[0], self, dim);
    const int64_t place = choose(in);
    *reinterpret_cast<scalar_t*>(first[1]) = in[place];
    *reinterpret_cast<int64_t*>(first[2]) = place;
  });
}

void kthvalue_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, int64_t k) {
  dispatch<AllNumbers>(self.scalar_type(), "kthvalue_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    choose_from_rows<scalar_t>(values, indices, self, dim, [&](const auto& in) {
      auto row = with_places<scalar_t>(in);
      quick_select<scalar_t>(row, k - 1);
      return row[k - 1].second;
    });
  });
}

// Returns the position of the median: the lower one of the two middle elements, and among equal elements the one that a
// stable sort would bring there. A NaN is the median, unless NaN is ignored. Only the numbers are partitioned, without
// their positions; the row is then searched for the right one of the elements equal to the median.
template <typename scalar_t>
int64_t median_place(Row<const scalar_t> in, bool ignore_nan) {
  Scratch<opmath_type<scalar_t>> numbers(in.size);
  int64_t count = 0;
  for (int64_t i = 0; i < in.size; i++) {
    numbers[count] = in[i];
    count += !is_nan(in[i]);
    if (!ignore_nan && count <= i) {
      return i;
    }
  }
  if (count == 0) {
    return 0;
  }
  auto *begin = numbers.begin(), *middle = begin + (count - 1) / 2;
  std::nth_element(begin, middle, begin + count);
  const auto median = *middle;
  int64_t equals_before = std::count(begin, middle, median), place = 0;
  while (in[place] != median || equals_before-- > 0) {
    place++;
  }
  return place;
}

void median_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool ignore_nan) {
  dispatch<AllNumbers>(self.scalar_type(), "median_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    choose_from_rows<scalar_t>(values, indices, self, dim,
                               [&](const auto& in) { return median_place<scalar_t>(in, ignore_nan); });
  });
}

// Returns the end of the longest run of equal elements in the sorted row; among equally long runs the first. NaN
// elements come first, each as a run of its own.
template <typename scalar_t>
int64_t mode_place(Row<const scalar_t> in) {
  auto row = with_places(in);
  std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) {
    return a.first < b.first || (a.first != a.first && b.first == b.first);
  });
  int64_t longest = 0, run = 0, found = 0;
  for (int64_t i = 0; i < in.size; i++) {
    run++;
    if (i + 1 == in.size || row[i].first != row[i + 1].first) {
      if (run > longest) {
        longest = run;
        found = row[i].second;
      }
      run = 0;
    }
  }
  return found;
}

void mode_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  dispatch<AllTypesAndBool>(self.scalar_type(), "mode", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    choose_from_rows<scalar_t>(values, indices, self, dim, [](const auto& in) { return mode_place<scalar_t>(in); });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(kthvalue_stub, kthvalue_kernel)
REGISTER_CPU_DISPATCH(median_stub, median_kernel)
REGISTER_CPU_DISPATCH(mode_stub, mode_kernel)

} // namespace reftorch::at::native
