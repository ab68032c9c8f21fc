// Mirrors: aten/src/ATen/native/tags.yaml, from which PyTorch generates ATen/core/enum_tag.h
//
// Facts about an op that its schema does not say. They stand at the op's registration, tags(Tag::inplace_view), and
// Python reads them as `op.tags`. Left out: the tags for compilers (core, pt2_compliant_tag, needs_fixed_stride_order).
#pragma once

#include <cstdint>

namespace reftorch::at {

enum class Tag : uint8_t {
  data_dependent_output,   // the op reads a number out of a tensor: item()
  dynamic_output_shape,    // the shape of the result depends on the data: nonzero()
  inplace_view,            // the op changes how its tensor is seen, and writes nothing: transpose_()
  nondeterministic_seeded, // the op draws random numbers
  pointwise,               // each element of the result depends on the elements at its own place
  view_copy,               // the copying twin of a view op

  // Ours alone; PyTorch's generated code knows these by name.
  resizes,     // resize_(): a tensor that has the asked shape already is not changed
  new_storage, // set_(): the tensor is another leaf afterwards, with a gradient edge of its own
  NumTags,
};

constexpr int kNumTags = static_cast<int>(Tag::NumTags);

class TagSet final {
 public:
  constexpr bool has(Tag tag) const {
    return (bits_ >> static_cast<int>(tag) & 1) != 0;
  }
  constexpr void add(Tag tag) {
    bits_ |= 1u << static_cast<int>(tag);
  }

 private:
  uint32_t bits_ = 0;
};

} // namespace reftorch::at
