// Mirrors: aten/src/ATen/native/cpu/MaxPoolKernel.cpp (cpu_max_pool)
//
// The largest element of each window and its place, for one plane of pixels, as two rungs:
//   1. naive: window by window, and in a window element by element (MaxPoolFunctors.h);
//   2. rows: element by element of the window, and for each of them all windows, row by row (PoolRows.h).
// In the first rung the CPU guesses at each comparison whether the element is a new maximum. It is often wrong, and a
// wrong guess costs more than the comparison. The second rung selects instead of branching, so the compiler makes
// vector instructions of the loop. Both visit the elements of a window in one order, so they agree on which of several
// equal elements is named. A NaN is larger than every number.
#pragma once

#include <ATen/native/MaxPoolFunctors.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/PoolRows.h>
#include <ATen/native/cpu/Scratch.h>

#include <cstring>
#include <limits>
#include <type_traits>

namespace reftorch::at::native::max_pool {

// y, places (output), x (input)
template <typename scalar_t>
void plane_naive(scalar_t* y, int64_t* places, const scalar_t* x, const PoolShape& s, const PoolWindows& windows) {
  for (const PoolWindow& depths : windows[0]) {
    for (const PoolWindow& rows : windows[1]) {
      for (const PoolWindow& columns : windows[2]) {
        const auto best = largest_in_window(x, s, depths, rows, columns);
        *y++ = static_cast<scalar_t>(best.value);
        *places++ = best.place;
      }
    }
  }
}

// Returns a where the bits of the mask are 1, and b where they are 0. The compiler makes a branch of `? :`.
template <typename Mask, typename T>
T select(Mask mask, T a, T b) {
  static_assert(sizeof(Mask) == sizeof(T));
  Mask a_bits, b_bits;
  std::memcpy(&a_bits, &a, sizeof(T));
  std::memcpy(&b_bits, &b, sizeof(T));
  b_bits ^= (a_bits ^ b_bits) & mask;
  std::memcpy(&b, &b_bits, sizeof(T));
  return b;
}

// Replaces each element of best by the element of x, and its place by that element's, where the new one is larger or
// NaN. The place of x[0] is `first`.
template <typename T, typename Place>
TARGET_CLONES static void keep_larger(T* __restrict best, Place* __restrict places, const T* __restrict x, Place first,
                                      const WindowGrid& grid) {
  const int64_t n = grid.n;
  for (int64_t r = 0; r < grid.rows; r++, best += grid.out_jump, places += grid.out_jump, x += grid.in_jump) {
    const auto update = [=](int64_t i, int64_t from) {
      const T value = x[from], old = best[i];
      const Place takes = -static_cast<Place>((value > old) | (value != value)); // all bits are 1, or all are 0
      best[i] = select(takes, value, old);
      places[i] = select(takes, static_cast<Place>(first + static_cast<Place>(from)), places[i]);
    };
    if (grid.pairs) {
      for (int64_t i = 0; i < n; i++) {
        update(i, 2 * i);
        update(i, 2 * i + 1);
      }
    } else {
      for (int64_t i = 0; i < n; i++) {
        update(i, i * grid.in_step);
      }
    }
    first += static_cast<Place>(grid.in_jump);
  }
}

// counted (output): the places, in a type that is as wide as an element.
template <typename scalar_t, typename Place>
void plane_by_rows(scalar_t* y, int64_t* places, const scalar_t* x, const PoolShape& s, const PoolWindows& windows,
                   Place* counted) {
  const int64_t width = s.output[2], pixels = s.output_pixels();
  std::fill_n(y, pixels, lowest_of<scalar_t>());
  Place* row = counted;
  for (const PoolWindow& depths : windows[0]) {
    for (const PoolWindow& rows : windows[1]) {
      const int64_t first = place_near(s, depths.begin, rows.begin, 0);
      for (int64_t o = 0; o < width; o++) {
        row[o] = static_cast<Place>(first + std::min(windows[2][o].begin, s.input[2] - 1));
      }
      row += width;
    }
  }
  for_each_tap(s, [&](const WindowGrid& grid, int64_t out, int64_t in) {
    keep_larger(y + out, counted + out, x + in, static_cast<Place>(in), grid);
  });
  std::copy_n(counted, pixels, places);
}

// Some planes, by the quicker rung. The second one counts places in a type as wide as an element, because a vector
// instruction selects among elements of one width.
template <typename scalar_t>
void planes(scalar_t* y, int64_t* places, const scalar_t* x, int64_t count, const PoolShape& s,
            const PoolWindows& windows) {
  const int64_t in = s.input_pixels(), out = s.output_pixels();
  if constexpr (std::is_floating_point_v<scalar_t>) {
    using Place = std::conditional_t<sizeof(scalar_t) == sizeof(int64_t), int64_t, int32_t>;
    if (rows_are_quick(s) && in <= std::numeric_limits<Place>::max()) {
      Scratch<Place> counted(out);
      for (int64_t p = 0; p < count; p++) {
        plane_by_rows(y + p * out, places + p * out, x + p * in, s, windows, counted.begin());
      }
      return;
    }
  }
  for (int64_t p = 0; p < count; p++) {
    plane_naive(y + p * out, places + p * out, x + p * in, s, windows);
  }
}

} // namespace reftorch::at::native::max_pool
