// Mirrors: aten/src/ATen/native/cpu/MaxPoolKernel.cpp, aten/src/ATen/native/im2col.h (their tests against the border)
//
// Which positions of the output a tap of a kernel serves. Convolutions and poolings move their kernels alike.
#pragma once

#include <algorithm>
#include <cstdint>

namespace reftorch::at::native {

// The positions of the output at which the tap of the kernel lies on the input and not on the padding: [begin, end).
struct Span {
  int64_t begin, end;

  bool operator==(const Span& other) const {
    return begin == other.begin && end == other.end;
  }
};

// For dimension d of a ConvShape or PoolShape.
template <typename Shape>
Span positions_inside(const Shape& s, int d, int64_t tap) {
  // in(o) = o * stride + first must be in [0, input)
  const int64_t first = tap * s.dilation[d] - s.padding[d], stride = s.stride[d];
  const int64_t begin = std::min(first >= 0 ? 0 : (-first - 1) / stride + 1, s.output[d]);
  const int64_t end = s.input[d] <= first ? 0 : (s.input[d] - first - 1) / stride + 1;
  return {begin, std::clamp(end, begin, s.output[d])};
}

} // namespace reftorch::at::native
