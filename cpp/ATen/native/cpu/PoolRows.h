// Mirrors: nothing in PyTorch, whose kernels go window by window
//
// Poolings tap by tap: for one element of the window, a loop runs over all windows of a plane, row by row. Such a loop
// has no branch and no short inner loop, so the compiler makes vector instructions of it.
#pragma once

#include <ATen/native/cpu/PoolWindows.h>
#include <ATen/native/cpu/Positions.h>

namespace reftorch::at::native {

// The windows whose element lies on the input: rows of n windows each. From one window to the next is a step, from one
// row to the next a jump.
struct WindowGrid {
  int64_t rows, n;
  int64_t out_jump;         // in the output, where the step is 1
  int64_t in_step, in_jump; // in the input
  // The next element of the window is served, too. Where the step is 2, the loop then uses all that it reads, and the
  // compiler needs no slow loop for the end of a row.
  bool pairs;
};

// Whether the loops go through few elements that lie on the padding: the windows are not larger than the input.
inline bool rows_are_quick(const PoolShape& s) {
  for (int d = 0; d < 3; d++) {
    if (s.kernel[d] > s.input[d] || s.dilation[d] > s.input[d] || s.stride[d] > s.input[d]) {
      return false;
    }
  }
  return !s.adaptive;
}

// Calls f(grid, out, in) for each element of the window, from the first to the last: `out` is the first window of the
// grid, and `in` is where its element lies in the plane.
template <typename F>
void for_each_tap(const PoolShape& s, const F& f) {
  for (int64_t kd = 0; kd < s.kernel[0]; kd++) {
    const Span depths = positions_inside(s, 0, kd);
    for (int64_t od = depths.begin; od < depths.end; od++) {
      const int64_t id = od * s.stride[0] - s.padding[0] + kd * s.dilation[0];
      for (int64_t kh = 0; kh < s.kernel[1]; kh++) {
        const Span heights = positions_inside(s, 1, kh);
        const int64_t ih = heights.begin * s.stride[1] - s.padding[1] + kh * s.dilation[1];
        for (int64_t kw = 0; kw < s.kernel[2]; kw++) {
          const Span widths = positions_inside(s, 2, kw);
          const int64_t iw = widths.begin * s.stride[2] - s.padding[2] + kw * s.dilation[2];
          const bool pairs = s.stride[2] == 2 && s.dilation[2] == 1 && kw + 1 < s.kernel[2] &&
                             positions_inside(s, 2, kw + 1) == widths;
          if (heights.begin < heights.end && widths.begin < widths.end) {
            const WindowGrid grid{heights.end - heights.begin,
                                  widths.end - widths.begin,
                                  s.output[2],
                                  s.stride[2],
                                  s.stride[1] * s.input[2],
                                  pairs};
            f(grid, (od * s.output[1] + heights.begin) * s.output[2] + widths.begin,
              (id * s.input[1] + ih) * s.input[2] + iw);
          }
          kw += pairs ? 1 : 0;
        }
      }
    }
  }
}

} // namespace reftorch::at::native
