// Mirrors: aten/src/ATen/native/PadNd.cpp
//
// Pads a tensor with one value, or with the elements of the opposite end. `pad`, which torch.nn.functional.pad calls,
// selects one of these or a mode of Padding.cpp.
#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>

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
  Tensor result = empty_impl(sizes, self.scalar_type(), self.device(), /*pin_memory=*/std::nullopt,
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

// A circular border of the last dimensions of self, (N, C, *) or (C, *): the elements in front are those of the end.
// Negative padding crops first. The corners are written more than once: each dimension copies from the result, where
// the dimensions before are padded already.
static Tensor _pad_circular(const Tensor& self, IntArrayRef pad) {
  const int64_t dims = self.dim(), padded = static_cast<int64_t>(pad.size()) / 2;
  TORCH_CHECK(padded + 1 == dims || padded + 2 == dims,
              "Invalid padding size, expected 1 or 2 non-padded dimensions, which would be equivalent to padding of "
              "length ",
              (dims - 1) * 2, " or ", (dims - 2) * 2, " respectively but got ", pad.size());
  DimVector sizes(self.sizes());
  for (int64_t d = dims - padded; d < dims; d++) {
    const int64_t before = pad[2 * (dims - 1 - d)], after = pad[2 * (dims - 1 - d) + 1], size = sizes[d];
    // PyTorch compares with the size before the crop, and copies memory that nothing has written where too little is
    // left.
    const int64_t cropped = size + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    TORCH_CHECK(std::max(before, after) <= std::max<int64_t>(cropped, 0),
                "Padding value causes wrapping around more than once.");
    sizes[d] = size + before + after;
    TORCH_CHECK(sizes[d] >= 0, "Negative padding value is resulting in an empty dimension");
  }

  const Tensor out = at::new_empty(self, sizes);
  Tensor inside = out, source = self;
  for (int64_t i = 0; i < padded; i++) {
    const int64_t d = dims - 1 - i, before = pad[2 * i], after = pad[2 * i + 1];
    inside = at::slice(inside, d, std::max<int64_t>(before, 0), sizes[d] - std::max<int64_t>(after, 0));
    source = at::slice(source, d, std::max<int64_t>(-before, 0), self.size(d) - std::max<int64_t>(-after, 0));
  }
  at::copy_(inside, source);

  const auto copy_within = [&out](int64_t d, int64_t to, int64_t from, int64_t length) {
    Tensor target = at::slice(out, d, to, to + length);
    at::copy_(target, at::slice(out, d, from, from + length));
  };
  for (int64_t i = 0; i < padded; i++) {
    const int64_t d = dims - 1 - i, before = pad[2 * i], after = pad[2 * i + 1];
    if (before > 0) {
      copy_within(d, 0, sizes[d] - before - std::max<int64_t>(after, 0), before);
    }
    if (after > 0) {
      copy_within(d, sizes[d] - after, std::max<int64_t>(before, 0), after);
    }
  }
  return out;
}

// --- all modes -------------------------------------------------------------------------------------------------------

enum class PadMode : int64_t { Reflect, Replicate, Circular, Constant };

static const char* name_of(PadMode mode) {
  switch (mode) {
    case PadMode::Reflect: return "reflect";
    case PadMode::Replicate: return "replicate";
    case PadMode::Circular: return "circular";
    default: return "constant";
  }
}

static Tensor _pad_enum(const Tensor& self, IntArrayRef pad, int64_t mode_int, std::optional<double> value) {
  const auto mode = static_cast<PadMode>(mode_int);
  const int64_t dims = self.dim(), length = static_cast<int64_t>(pad.size());
  TORCH_CHECK(length % 2 == 0, "Padding length must be divisible by 2");
  TORCH_CHECK(length <= dims * 2,
              "Padding length should be less than or equal to two times the input dimension but got padding length ",
              length, " and input of dimension ", dims);
  if (mode == PadMode::Constant) {
    return at::constant_pad_nd(self, pad, value.value_or(0.0));
  }
  TORCH_CHECK(value.value_or(0.0) == 0, "Padding mode \"", name_of(mode), "\" doesn't take in value argument");
  const int64_t padded = length / 2;
  const bool is_known = mode == PadMode::Reflect || mode == PadMode::Replicate || mode == PadMode::Circular;
  TORCH_CHECK_NOT_IMPLEMENTED(is_known && padded >= 1 && padded <= 3 && (dims == padded + 1 || dims == padded + 2),
                              "Padding size ", length, " is not supported for ", dims,
                              "D input tensor.\n"
                              "Supported combinations for non-constant padding:\n"
                              "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
                              "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
                              "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)");
  if (mode == PadMode::Circular) {
    return at::_pad_circular(self, pad);
  }
  const bool reflects = mode == PadMode::Reflect;
  switch (padded) {
    case 1: return reflects ? at::reflection_pad1d(self, pad) : at::replication_pad1d(self, pad);
    case 2: return reflects ? at::reflection_pad2d(self, pad) : at::replication_pad2d(self, pad);
    default: return reflects ? at::reflection_pad3d(self, pad) : at::replication_pad3d(self, pad);
  }
}

static Tensor pad(const Tensor& self, IntArrayRef pad, const std::string& mode, std::optional<double> value) {
  constexpr PadMode kModes[] = {PadMode::Reflect, PadMode::Replicate, PadMode::Circular, PadMode::Constant};
  const auto* const known =
      std::find_if(std::begin(kModes), std::end(kModes), [&mode](PadMode m) { return mode == name_of(m); });
  TORCH_CHECK_NOT_IMPLEMENTED(known != std::end(kModes), "Unrecognised padding mode ", mode);
  return at::_pad_enum(self, pad, static_cast<int64_t>(*known), value);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", TORCH_FN(constant_pad_nd),
        kernels(fill_stub, zero_stub), variants::FUNCTION, out_form());
  m.def_composite("_pad_circular(Tensor self, SymInt[] pad) -> Tensor", TORCH_FN(_pad_circular), variants::NN);
  m.def_composite("_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor", TORCH_FN(_pad_enum),
                  variants::NN);
  m.def_composite("pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor", TORCH_FN(pad),
                  variants::NN);
}

} // namespace reftorch::at::native
