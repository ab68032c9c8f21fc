// Mirrors: aten/src/ATen/native/Repeat.cpp
//
// repeat_interleave repeats each element as often as `repeats` says; the copies are adjacent.
#include <ATen/native/Repeat.h>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(repeat_interleave_size_stub)
DEFINE_DISPATCH(repeat_interleave_stub)

// Returns the position of the element that each place of the result is copied from: repeats [2, 0, 3] gives [0, 0, 2,
// 2, 2].
static Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  const ScalarType type = repeats.scalar_type();
  const Device device = repeats.device();
  TORCH_CHECK_NOT_IMPLEMENTED(type == kLong || type == kInt, "\"repeat_interleave_cpu\" not implemented for '", type,
                              "'");
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(!device.is_meta() || output_size.has_value(),
              "cannot repeat_interleave a meta tensor without output_size");
  const Tensor dense = repeats.contiguous();
  int64_t total = output_size.value_or(0);
  repeat_interleave_size_stub(device.type(), dense, total);
  TORCH_CHECK(dense.numel() == 0 || output_size.value_or(total) == total,
              "allocated size does not match required size: ", output_size.value_or(total), " given, ", total,
              " required");
  const Tensor result = detail::empty_generic(total, type, device);
  repeat_interleave_stub(device.type(), result, dense);
  return result;
}

static Tensor repeat_interleave_tensor(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                                       std::optional<int64_t> output_size) {
  TORCH_CHECK(repeats.dim() <= 1, "repeats must be 0-dim or 1-dim tensor");
  const Tensor input = dim.has_value() ? self : at::flatten(self);
  const int64_t d = maybe_wrap_dim(dim.value_or(0), input.dim());
  Tensor counts = repeats;
  if (repeats.numel() == 1) {
    counts = at::expand(at::reshape(repeats, {1}), IntArrayRef(input.size(d)));
  } else {
    TORCH_CHECK(repeats.sizes()[0] == input.size(d),
                "repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.sizes()[0],
                " and input.size(", d, ") = ", input.size(d));
  }
  return at::index_select(input, d, at::repeat_interleave(counts, output_size));
}

static Tensor repeat_interleave_int(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                                    std::optional<int64_t> output_size) {
  Tensor input = dim.has_value() ? self : at::flatten(self);
  const int64_t d = maybe_wrap_dim(dim.value_or(0), input.dim());
  TORCH_CHECK(repeats >= 0, "Repeats must be non-negative");
  input = at::unsqueeze(input, d + 1);
  if (output_size.has_value()) {
    const int64_t expected = repeats * input.size(d);
    TORCH_CHECK(*output_size == expected, "repeat_interleave: Invalid output_size, expected ", expected, " but got ",
                *output_size);
  }
  DimVector sizes(input.sizes());
  sizes[d + 1] = repeats;
  return at::flatten(at::clone(at::expand(input, sizes), MemoryFormat::Contiguous), d, d + 1);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor", TORCH_FN(repeat_interleave),
        kernels(repeat_interleave_size_stub, repeat_interleave_stub), tags(Tag::dynamic_output_shape),
        variants::FUNCTION);
  m.def_composite(
      "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> "
      "Tensor",
      TORCH_FN(repeat_interleave_tensor));
  m.def_composite(
      "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
      TORCH_FN(repeat_interleave_int));
}

} // namespace reftorch::at::native
