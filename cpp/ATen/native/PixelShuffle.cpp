// Mirrors: aten/src/ATen/native/PixelShuffle.cpp, aten/src/ATen/native/ChanelShuffle.cpp
//
// Moves elements between channels and pixels, or between groups of channels.
#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

static void check_rank(const Tensor& self, const char* op) {
  TORCH_CHECK(self.dim() >= 3, op, " expects input to have at least 3 dimensions, but got input with ", self.dim(),
              " dimension(s)");
}

// Returns a * b, which is a size of the result. Raises RuntimeError if that is no int64.
static int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  TORCH_CHECK(!__builtin_mul_overflow(a, b, &product), "numel: integer multiplication overflow: ", a, " * ", b);
  return product;
}

// Views the last three dimensions as `parts`, permutes the parts by `order`, and reshapes them to `shape`.
static Tensor rearranged(const Tensor& self, IntArrayRef parts, IntArrayRef order, IntArrayRef shape) {
  const int64_t leading = self.dim() - 3;
  DimVector in_parts(self.sizes().slice(0, leading)), dims, sizes(self.sizes().slice(0, leading));
  for (int64_t d = 0; d < leading; d++) {
    dims.push_back(d);
  }
  for (size_t i = 0; i < parts.size(); i++) {
    in_parts.push_back(parts[i]);
    dims.push_back(leading + order[i]);
  }
  sizes.append(shape.begin(), shape.end());
  const Tensor moved = at::permute(at::reshape(self, in_parts), dims);
  return at::contiguous(at::reshape(at::clone(moved, MemoryFormat::Contiguous), sizes),
                        detail::suggest_memory_format(self));
}

// (*, C r r, H, W) -> (*, C, H r, W r)
static Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  check_rank(self, "pixel_shuffle");
  TORCH_CHECK(upscale_factor > 0, "pixel_shuffle expects a positive upscale_factor, but got ", upscale_factor);
  const int64_t r = upscale_factor, channels = self.size(-3), h = self.size(-2), w = self.size(-1);
  int64_t square = 0;
  TORCH_CHECK_VALUE(!__builtin_mul_overflow(r, r, &square),
                    "upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor=", r);
  TORCH_CHECK(channels % square == 0,
              "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
              "but input.size(-3)=",
              channels, " is not divisible by ", square);
  const int64_t c = channels / square;
  return rearranged(self, {c, r, r, h, w}, {0, 3, 1, 4, 2}, {c, times(h, r), times(w, r)});
}

// (*, C, H r, W r) -> (*, C r r, H, W)
static Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  check_rank(self, "pixel_unshuffle");
  TORCH_CHECK(downscale_factor > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", downscale_factor);
  const int64_t r = downscale_factor, c = self.size(-3), h = self.size(-2), w = self.size(-1);
  TORCH_CHECK(h % r == 0, "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=", h,
              " is not divisible by ", r);
  TORCH_CHECK(w % r == 0, "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=", w,
              " is not divisible by ", r);
  return rearranged(self, {c, h / r, r, w / r, r}, {0, 2, 4, 1, 3}, {times(times(c, r), r), h / r, w / r});
}

// (N, groups k, *) -> (N, k groups, *): the first channel of every group, then the second channel of every group, and
// so on.
static Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  TORCH_CHECK(self.dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes ", self.sizes());
  const int64_t batch = self.size(0), channels = self.size(1);
  TORCH_CHECK(groups > 0, "Number of groups to divide channels in must be positive. Value of groups:", groups);
  TORCH_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ", channels,
              " channels and ", groups, " groups.");
  int64_t pixels = 1;
  for (int64_t d = 2; d < self.dim(); d++) {
    pixels *= self.size(d);
  }
  const Tensor grouped = at::reshape(self, {batch, groups, channels / groups, pixels});
  const Tensor moved = at::clone(at::transpose(grouped, 1, 2), MemoryFormat::Contiguous);
  return at::contiguous(at::reshape(moved, self.sizes()), detail::suggest_memory_format(self));
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", TORCH_FN(pixel_shuffle), FUNCTION);
  m.def("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", TORCH_FN(pixel_unshuffle), FUNCTION);
  m.def("channel_shuffle(Tensor self, SymInt groups) -> Tensor", TORCH_FN(channel_shuffle), FUNCTION, out_form());
  // PyTorch's kernel for CPUs, which has no gradient.
  m.def("native_channel_shuffle(Tensor self, SymInt groups) -> Tensor", TORCH_FN(channel_shuffle), FUNCTION);
}

} // namespace reftorch::at::native
