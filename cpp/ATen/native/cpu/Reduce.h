// Mirrors: aten/src/ATen/native/cpu/Reduce.h, aten/src/ATen/native/SharedReduceOps.h
//
// binary_kernel_reduce(iter, ops) computes few elements from many. `ops` says how, in the form that PyTorch gives it:
//   acc_t identity()              the value to start from
//   acc_t reduce(acc_t, in_t)     takes in one element
//   acc_t combine(acc_t, acc_t)   joins two partial results
//   out_t project(acc_t)          makes the result of the last partial result
//   exact                         whether the order of joining leaves every digit as it is
//   in_order                      whether the elements must be taken in one after the other
//   nan_wins                      whether a NaN among the elements is the result. reduce_number(acc, in) then takes in
//                                 an element that is known not to be NaN
// Left out: several outputs, and the indices of elements (cpu/ReduceExtremaOpsKernel.cpp has both).
//
// Note [Cascade]
// Problem: adding a million floats one after the other loses digits, because each small addend meets a large sum.
// Trick: split the range in halves until a piece has at most kBlock elements, and join the halves on the way back. An
// element then takes part in about log2(n / kBlock) large additions instead of n. A piece is added in kLanes
// independent partial sums, which is also what vector instructions need.
#pragma once

#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/cpu/Loops.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace reftorch::at::native {

constexpr int64_t kBlock = 8192;
constexpr int64_t kExactBlock = 1 << 20; // for operations that lose no digits, such as a maximum
constexpr int64_t kStrip = 128;          // columns that are reduced side by side

// The naive rung: any stride, one element at a time.
template <typename in_t, typename Ops>
typename Ops::acc_t reduce_strided(const char* data, int64_t stride, int64_t n, const Ops& ops) {
  auto acc = ops.identity();
  for (int64_t i = 0; i < n; i++) {
    acc = ops.reduce(acc, c10::load<in_t>(data + i * stride));
  }
  return acc;
}

// The same result from a few independent partial results, so that no operation waits for the one before it.
template <typename in_t, typename Ops>
typename Ops::acc_t reduce_strided_lanes(const char* data, int64_t stride, int64_t n, const Ops& ops) {
  constexpr int64_t kLanes = 8;
  typename Ops::acc_t lanes[kLanes];
  std::fill_n(lanes, kLanes, ops.identity());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; l++) {
      lanes[l] = ops.reduce(lanes[l], c10::load<in_t>(data + (i + l) * stride));
    }
  }
  auto acc = reduce_strided<in_t>(data + i * stride, stride, n - i, ops);
  for (int64_t l = 0; l < kLanes; l++) {
    acc = ops.combine(lanes[l], acc);
  }
  return acc;
}

// The fast rung: dense elements, in lanes. At the end, where few elements are left, the lanes are first joined down to
// kStep. Where a NaN wins (Ops::nan_wins), values and NaNs are examined separately, which takes two instructions for an
// element instead of four.
template <int kLanes, typename in_t, typename Ops>
TARGET_CLONES static typename Ops::acc_t reduce_lanes(const in_t* data, int64_t n, Ops ops) {
  using acc_t = typename Ops::acc_t;
  constexpr int kStep = 16;
  acc_t lanes[kLanes];
  std::conditional_t<sizeof(acc_t) == 8, int64_t, int32_t> nans[kLanes] = {};
  for (int l = 0; l < kLanes; l++) {
    lanes[l] = ops.identity();
  }
  int64_t i = 0;
  if constexpr (Ops::nan_wins) {
    for (; i + 2 * kLanes <= n;
         i += 2 * kLanes) { // one comparison for two elements, because NaN is unordered with every number
      for (int l = 0; l < kLanes; l++) {
        const acc_t x = c10::load(data + i + l), y = c10::load(data + i + kLanes + l);
        lanes[l] = ops.reduce_number(ops.reduce_number(lanes[l], x), y);
        nans[l] |= std::isunordered(x, y);
      }
    }
  }
  // Where a NaN wins, the last step goes back to end at the last element: what a maximum or a minimum takes in twice
  // does not change the result.
  const bool to_the_end = Ops::nan_wins && n >= kLanes;
  for (; to_the_end ? i < n : i + kLanes <= n; i += kLanes) {
    i = to_the_end && i + kLanes > n ? n - kLanes : i;
    for (int l = 0; l < kLanes; l++) {
      if constexpr (Ops::nan_wins) {
        const acc_t x = c10::load(data + i + l);
        lanes[l] = ops.reduce_number(lanes[l], x);
        nans[l] |= x != x;
      } else {
        lanes[l] = ops.reduce(lanes[l], c10::load(data + i + l));
      }
    }
  }
  for (int width = kLanes / 2; width >= kStep; width /= 2) {
    for (int l = 0; l < width; l++) {
      lanes[l] = ops.combine(lanes[l], lanes[l + width]);
      if constexpr (Ops::nan_wins) {
        nans[l] |= nans[l + width];
      }
    }
  }
  for (; i + kStep <= n; i += kStep) {
    for (int l = 0; l < kStep; l++) {
      lanes[l] = ops.reduce(lanes[l], c10::load(data + i + l));
    }
  }
  for (int width = kStep / 2; width > 0; width /= 2) {
    for (int l = 0; l < width; l++) {
      lanes[l] = ops.combine(lanes[l], lanes[l + width]);
      if constexpr (Ops::nan_wins) {
        nans[l] |= nans[l + width];
      }
    }
  }
  acc_t acc = lanes[0];
  if constexpr (Ops::nan_wins) {
    acc = nans[0] ? std::numeric_limits<acc_t>::quiet_NaN() : acc;
  }
  for (; i < n; i++) {
    acc = ops.reduce(acc, c10::load(data + i));
  }
  return acc;
}

// Many lanes hide the time that one operation takes. Few lanes are joined quickly at the end, which suits short rows.
template <typename in_t, typename Ops>
typename Ops::acc_t reduce_dense(const in_t* data, int64_t n, Ops ops) {
  // At least 32: GCC unrolls a loop of 16 or fewer steps before it looks for vector instructions, and then finds none.
  constexpr int kMany = 256 / sizeof(typename Ops::acc_t), kFew = 32;
  constexpr int64_t kShortRow = 2048;
  return n < kShortRow ? reduce_lanes<kFew>(data, n, ops) : reduce_lanes<kMany>(data, n, ops);
}

// For a block of dense elements two passes are faster and more exact: the mean first, then the deviations from the
// mean. Blocks are joined as WelfordOps joins them.
template <typename in_t, typename out_t>
TARGET_CLONES static WelfordData reduce_dense(const in_t* data, int64_t n, WelfordOps<out_t> /*ops*/) {
  constexpr int kLanes = 32;
  double sums[kLanes] = {}, squares[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; l++) {
      sums[l] += double(opmath_type<in_t>(data[i + l]));
    }
  }
  double sum = 0, m2 = 0;
  for (int l = 0; l < kLanes; l++) {
    sum += sums[l];
  }
  const int64_t rest = i;
  for (; i < n; i++) {
    sum += double(opmath_type<in_t>(data[i]));
  }
  const double mean = sum / double(n);
  for (i = 0; i < rest; i += kLanes) {
    for (int l = 0; l < kLanes; l++) {
      const double delta = double(opmath_type<in_t>(data[i + l])) - mean;
      squares[l] += delta * delta;
    }
  }
  for (int l = 0; l < kLanes; l++) {
    m2 += squares[l];
  }
  for (i = rest; i < n; i++) {
    const double delta = double(opmath_type<in_t>(data[i])) - mean;
    m2 += delta * delta;
  }
  return {mean, m2, n};
}

// 16-bit floats are converted to floats first, one piece at a time.
constexpr int64_t kHalvesPiece = 2048;

template <typename Ops>
typename Ops::acc_t reduce_halves(const char* data, int64_t stride, int64_t n, const Ops& ops) {
  alignas(64) float piece[kHalvesPiece];
  auto acc = ops.identity();
  for (int64_t begin = 0; begin < n; begin += kHalvesPiece) {
    const int64_t width = std::min(kHalvesPiece, n - begin);
    convert(reinterpret_cast<const c10::Half*>(data + begin * stride), stride, piece, width);
    acc = ops.combine(acc, reduce_dense(piece, width, ops));
  }
  return acc;
}

// Reduces n elements that lie `stride` bytes apart, by Note [Cascade].
template <typename in_t, typename Ops>
typename Ops::acc_t reduce_run(const char* data, int64_t stride, int64_t n, const Ops& ops) {
  if constexpr (Ops::in_order) {
    return reduce_strided<in_t>(data, stride, n, ops);
  }
  constexpr int64_t block = Ops::exact ? kExactBlock : kBlock;
  if (n > block) {
    const int64_t half = n / 2 / block * block + (n / 2 < block ? block : 0);
    return ops.combine(reduce_run<in_t>(data, stride, half, ops),
                       reduce_run<in_t>(data + half * stride, stride, n - half, ops));
  }
  constexpr int64_t kShort = 16; // so few elements do not fill the lanes
  if (n <= kShort) {
    return reduce_strided<in_t>(data, stride, n, ops);
  }
  if constexpr (std::is_same_v<in_t, c10::Half>) {
    return reduce_halves(data, stride, n, ops);
  } else if (stride == int64_t(sizeof(in_t))) {
    return reduce_dense(reinterpret_cast<const in_t*>(data), n, ops);
  } else {
    return reduce_strided_lanes<in_t>(data, stride, n, ops);
  }
}

// acc[c] takes in row[c], for rows that lie `step` bytes apart. Four rows are taken at a time, so that acc is loaded
// and stored less often.
template <typename in_t, typename Ops>
TARGET_CLONES static void reduce_rows_into(typename Ops::acc_t* acc, const char* first, int64_t step, int64_t rows,
                                           int64_t width, Ops ops) {
  auto row = [&](int64_t r) { return reinterpret_cast<const in_t*>(first + r * step); };
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const in_t *a = row(r), *b = row(r + 1), *c = row(r + 2), *d = row(r + 3);
    for (int64_t i = 0; i < width; i++) {
      const auto ab = ops.reduce(ops.reduce(acc[i], c10::load(a + i)), c10::load(b + i));
      acc[i] = ops.reduce(ops.reduce(ab, c10::load(c + i)), c10::load(d + i));
    }
  }
  for (; r < rows; r++) {
    const in_t* a = row(r);
    for (int64_t i = 0; i < width; i++) {
      acc[i] = ops.reduce(acc[i], c10::load(a + i));
    }
  }
}

// The same for 16-bit floats, which are converted to floats first: as many rows at once as a piece holds.
template <typename Ops>
void reduce_rows_of_halves_into(typename Ops::acc_t* acc, const char* first, int64_t step, int64_t rows, int64_t width,
                                const Ops& ops) {
  constexpr int64_t itemsize = sizeof(c10::Half);
  alignas(64) float piece[kHalvesPiece];
  const int64_t most = kHalvesPiece / width;
  for (int64_t begin = 0; begin < rows; begin += most) {
    const int64_t count = std::min(most, rows - begin);
    const int64_t rows_a_call =
        step == width * itemsize ? count : 1; // rows that lie one after the other are one long row
    for (int64_t r = 0; r < count; r += rows_a_call) {
      convert(reinterpret_cast<const c10::Half*>(first + (begin + r) * step), piece + r * width, width * rows_a_call);
    }
    reduce_rows_into<float>(acc, reinterpret_cast<const char*>(piece), width * int64_t(sizeof(float)), count, width,
                            ops);
  }
}

// The two sides of a reduction, read from the iterator: the kept dimensions, with one result each, and the reduced
// ones. The fastest dimension comes first, and strides are in bytes.
struct ReducePlan {
  explicit ReducePlan(const TensorIterator& iter);

  DimVector kept_sizes, kept_out, kept_in;
  DimVector reduced_sizes, reduced_in;
  int64_t num_outputs = 1, num_reduced = 1;

  // The place of element `index` among the kept or the reduced dimensions, counted from `first_dim` on.
  static int64_t offset(const DimVector& sizes, const DimVector& strides, int64_t index, size_t first_dim = 0) {
    int64_t result = 0;
    for (size_t d = first_dim; d + 1 < sizes.size(); d++) {
      result += index % sizes[d] * strides[d];
      index /= sizes[d];
    }
    return first_dim < sizes.size() ? result + index * strides.back() : 0;
  }
  // Whether neighbouring outputs have neighbouring inputs while the elements of one output lie far apart, as in a
  // matrix that is summed over its rows.
  bool columns(int64_t itemsize) const {
    return !kept_sizes.empty() && kept_in[0] == itemsize && kept_sizes[0] > 1 && !reduced_sizes.empty() &&
           reduced_in[0] != itemsize;
  }
};

// Reduces all elements that belong to one output.
template <typename in_t, typename Ops>
typename Ops::acc_t reduce_one(const ReducePlan& plan, const char* in, const Ops& ops) {
  if (plan.reduced_sizes.empty()) {
    return reduce_run<in_t>(in, 0, 1, ops);
  }
  const int64_t n = plan.reduced_sizes[0], stride = plan.reduced_in[0];
  auto acc = reduce_run<in_t>(in, stride, n, ops);
  if (plan.reduced_sizes.size() == 1) {
    return acc;
  }
  for (int64_t r = 1; r < plan.num_reduced / n; r++) {
    acc = ops.combine(
        acc, reduce_run<in_t>(in + ReducePlan::offset(plan.reduced_sizes, plan.reduced_in, r, 1), stride, n, ops));
  }
  return acc;
}

// Reduces `width` <= kStrip outputs side by side: row after row is added to them, in blocks of rows by Note [Cascade].
template <typename in_t, typename Ops>
void reduce_strip(const ReducePlan& plan, const char* in, int64_t width, typename Ops::acc_t* total, const Ops& ops) {
  constexpr int64_t kRows = 512;
  std::fill_n(total, width, ops.identity());
  for (int64_t begin = 0; begin < plan.num_reduced; begin += kRows) {
    typename Ops::acc_t acc[kStrip];
    std::fill_n(acc, width, ops.identity());
    const int64_t end = std::min(begin + kRows, plan.num_reduced), length = plan.reduced_sizes[0];
    for (int64_t r = begin;
         r < end;) { // rows that lie at equal distances, up to the end of the fastest reduced dimension
      const int64_t run = std::min(end - r, length - r % length);
      const char* first = in + ReducePlan::offset(plan.reduced_sizes, plan.reduced_in, r);
      if constexpr (std::is_same_v<in_t, c10::Half>) {
        reduce_rows_of_halves_into(acc, first, plan.reduced_in[0], run, width, ops);
      } else {
        reduce_rows_into<in_t>(acc, first, plan.reduced_in[0], run, width, ops);
      }
      r += run;
    }
    for (int64_t c = 0; c < width; c++) {
      total[c] = ops.combine(total[c], acc[c]);
    }
  }
}

// Reduces very many elements to one output, in fixed pieces, so that the result does not depend on the number of
// threads.
template <typename in_t, typename Ops>
typename Ops::acc_t reduce_all_dense(const char* in, int64_t n, const Ops& ops) {
  constexpr int64_t kPieces = 64;
  const int64_t piece = (n / kPieces / kBlock + 1) * kBlock;
  typename Ops::acc_t partial[kPieces + 1];
  const int64_t pieces = (n + piece - 1) / piece;
  parallel_for(0, pieces, grain_of(piece), [&](int64_t lo, int64_t hi) {
    for (int64_t p = lo; p < hi; p++) {
      const int64_t begin = p * piece;
      partial[p] = reduce_run<in_t>(in + begin * int64_t(sizeof(in_t)), sizeof(in_t), std::min(piece, n - begin), ops);
    }
  });
  auto acc = partial[0];
  for (int64_t p = 1; p < pieces; p++) {
    acc = ops.combine(acc, partial[p]);
  }
  return acc;
}

template <typename out_t, typename in_t, typename Ops>
void binary_kernel_reduce(TensorIterator& iter, const Ops& ops) {
  const ReducePlan plan(iter);
  char* out = static_cast<char*>(iter.data_ptr(0));
  const char* in = static_cast<const char*>(iter.data_ptr(1));
  constexpr int64_t itemsize = sizeof(in_t);

  if (plan.num_outputs == 1 && plan.reduced_sizes.size() == 1 && plan.reduced_in[0] == itemsize &&
      plan.num_reduced > internal::GRAIN_SIZE) {
    *reinterpret_cast<out_t*>(out) = ops.project(reduce_all_dense<in_t>(in, plan.num_reduced, ops));
    return;
  }
  if (plan.columns(itemsize)) {
    const int64_t columns = plan.kept_sizes[0], strips = (columns + kStrip - 1) / kStrip;
    const int64_t grain = grain_of(kStrip * plan.num_reduced);
    parallel_for(0, plan.num_outputs / columns * strips, grain, [&](int64_t lo, int64_t hi) {
      typename Ops::acc_t total[kStrip];
      for (int64_t i = lo; i < hi; i++) {
        const int64_t first = i % strips * kStrip, width = std::min(kStrip, columns - first), outer = i / strips;
        const char* source = in + first * itemsize + ReducePlan::offset(plan.kept_sizes, plan.kept_in, outer, 1);
        char* target = out + first * plan.kept_out[0] + ReducePlan::offset(plan.kept_sizes, plan.kept_out, outer, 1);
        reduce_strip<in_t>(plan, source, width, total, ops);
        for (int64_t c = 0; c < width; c++) {
          *reinterpret_cast<out_t*>(target + c * plan.kept_out[0]) = ops.project(total[c]);
        }
      }
    });
    return;
  }
  parallel_for(0, plan.num_outputs, grain_of(plan.num_reduced), [&](int64_t lo, int64_t hi) {
    for (int64_t i = lo; i < hi; i++) {
      const auto acc = reduce_one<in_t>(plan, in + ReducePlan::offset(plan.kept_sizes, plan.kept_in, i), ops);
      *reinterpret_cast<out_t*>(out + ReducePlan::offset(plan.kept_sizes, plan.kept_out, i)) = ops.project(acc);
    }
  });
}

inline ReducePlan::ReducePlan(const TensorIterator& iter) {
  for (int d = 0; d < iter.ndim(); d++) {
    const int64_t size = iter.shape()[d], out_stride = iter.strides(0)[d], in_stride = iter.strides(1)[d];
    if (size == 1) {
      continue;
    }
    if (out_stride == 0) {
      reduced_sizes.push_back(size);
      reduced_in.push_back(in_stride);
      num_reduced *= size;
    } else {
      kept_sizes.push_back(size);
      kept_out.push_back(out_stride);
      kept_in.push_back(in_stride);
      num_outputs *= size;
    }
  }
}

} // namespace reftorch::at::native
