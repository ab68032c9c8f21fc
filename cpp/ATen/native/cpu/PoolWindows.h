// Mirrors: aten/src/ATen/native/AdaptivePooling.h (start_index, end_index), aten/src/ATen/native/Pool.h
//
// The windows of a pooling, computed once for each dimension before the loops over the planes.
#pragma once

#include <ATen/native/Pool.h>

#include <vector>

namespace reftorch::at::native {

using PoolWindows = std::array<std::vector<PoolWindow>, 3>;

inline std::vector<PoolWindow> windows_along(const PoolShape& s, int d, bool count_include_pad) {
  std::vector<PoolWindow> windows(static_cast<size_t>(s.output[d]));
  for (int64_t o = 0; o < s.output[d]; o++) {
    windows[o] = s.window(d, o, count_include_pad);
  }
  return windows;
}

inline PoolWindows windows_of(const PoolShape& s, bool count_include_pad = false) {
  return {windows_along(s, 0, count_include_pad), windows_along(s, 1, count_include_pad),
          windows_along(s, 2, count_include_pad)};
}

} // namespace reftorch::at::native
