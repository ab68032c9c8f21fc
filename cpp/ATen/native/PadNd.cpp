// Mirrors: aten/src/ATen/native/PadNd.cpp
//
// Pads a tensor with one value. Left out: the other padding modes, which reftorch/nn/functional/padding.py implements
// by indexing.
#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

// `pad` holds two numbers for each dimension, the last dimension first; a negative number crops.
static Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  TORCH_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  const int64_t padded = static_cast<int64_t>(pad.size()) / 2, first = self.dim() - padded;
  TORCH_CHECK(first >= 0,
              "Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
              pad.size(), " while the input has ", self.dim(), " dimensions.");
  Tensor source = self;
  bool grows = false;
  DimVector sizes(self.sizes());
  for (int64_t d = first; d < self.dim(); d++) {
    const int64_t before = pad[2 * (self.dim() - d - 1)], after = pad[2 * (self.dim() - d - 1) + 1];
    source = before < 0 ? at::narrow(source, d, -before, source.size(d) + before) : source;
    source = after < 0 ? at::narrow(source, d, 0, source.size(d) + after) : source;
    grows = grows || before > 0 || after > 0;
    sizes[d] += before + after;
    TORCH_CHECK(sizes[d] >= 0, "The input size ", self.size(d), ", plus negative padding ", before, " and ", after,
                " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input.");
  }
  if (!grows) {
    return at::clone(source);
  }
  Tensor result = empty_cpu(sizes, self.scalar_type(), self.device(), /*pin_memory=*/std::nullopt,
                            detail::suggest_memory_format(self));
  fill_impl(result, value);
  Tensor inside = result;
  for (int64_t d = first; d < self.dim(); d++) {
    const int64_t before = pad[2 * (self.dim() - d - 1)];
    inside = at::narrow(inside, d, std::max<int64_t>(before, 0), source.size(d));
  }
  at::copy_(inside, source);
  return result;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor", TORCH_FN(constant_pad_nd),
        kernels(fill_stub, zero_stub), variants::FUNCTION);
}

} // namespace reftorch::at::native
