// Mirrors: aten/src/ATen/native/AdaptivePooling.h (start_index, end_index), aten/src/ATen/native/Pool.h
//
// The windows of a pooling, computed once for each dimension before the loops over the planes.
#pragma once

#include <ATen/native/Pool.h>

#include <algorithm>
#include <vector>

namespace reftorch::at::native {

// The elements of the input begin, begin + step, ... below end, which one element of the output sees along one
// dimension, without those on the padding.
struct PoolWindow {
  int64_t begin, end;
  int64_t count; // what a mean is divided by
};
using PoolWindows = std::array<std::vector<PoolWindow>, 3>;

inline std::vector<PoolWindow> windows_along(const PoolShape& s, int d, bool count_include_pad) {
  std::vector<PoolWindow> windows(static_cast<size_t>(s.output[d]));
  for (int64_t o = 0; o < s.output[d]; o++) {
    PoolWindow& w = windows[o];
    if (s.adaptive) { // [floor(o in / out), ceil((o + 1) in / out)), without a product that could overflow
      const int64_t whole = s.input[d] / s.output[d], rest = s.input[d] % s.output[d];
      w.begin = o * whole + static_cast<int64_t>(static_cast<__int128>(o) * rest / s.output[d]);
      w.end =
          (o + 1) * whole + static_cast<int64_t>((static_cast<__int128>(o + 1) * rest + s.output[d] - 1) / s.output[d]);
      w.count = w.end - w.begin;
      continue;
    }
    const int64_t first = o * s.stride[d] - s.padding[d], last = first + (s.kernel[d] - 1) * s.dilation[d] + 1;
    w.begin = first >= 0 ? first : first + ((-first - 1) / s.dilation[d] + 1) * s.dilation[d];
    w.end = std::min(last, s.input[d]);
    const int64_t with_padding = std::min(last, s.input[d] + s.padding[d]) - first;
    w.count = count_include_pad ? with_padding : std::max<int64_t>(w.end - w.begin, 0);
  }
  return windows;
}

inline PoolWindows windows_of(const PoolShape& s, bool count_include_pad = false) {
  return {windows_along(s, 0, count_include_pad), windows_along(s, 1, count_include_pad),
          windows_along(s, 2, count_include_pad)};
}

} // namespace reftorch::at::native
