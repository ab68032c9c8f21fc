// Mirrors: aten/src/ATen/native/tags.yaml, from which PyTorch generates ATen/core/enum_tag.h
//
// Facts about an op that its schema does not say. They stand at the op's registration, tags(Tag::inplace_view), and
// Python reads them as `op.tags`. Left out: the tags for compilers (core, pt2_compliant_tag, needs_fixed_stride_order),
// and pointwise and reduction, because nothing here asks for them.
#pragma once

#include <cstdint>

namespace reftorch::at {

enum class Tag : uint8_t {
  data_dependent_output,   // the op returns a number that it reads out of a tensor: equal()
  dynamic_output_shape,    // the shape of the result depends on the elements: nonzero()
  inplace_view,            // the op changes the sizes, strides or storage of its tensor, not its elements: transpose_()
  nondeterministic_seeded, // the op draws random numbers
  view_copy,               // the op returns a copy of what a view op would return: permute_copy()

  // These have no tag in PyTorch, where the generated code knows them by the names of the ops.
  resizes,             // the op leaves a tensor as it is that has the asked shape already: resize_()
  new_storage,         // the op makes a leaf another leaf, with a gradient edge of its own: set_()
  numbers_as_tensors,  // Python may give a plain number for a tensor: add(x, 1)
  numbers_as_operands, // Python may give a number for each tensor but the first, and not together with out=: where()
  NumTags,
};

constexpr int kNumTags = static_cast<int>(Tag::NumTags);

inline const char* toString(Tag tag) {
  switch (tag) {
    case Tag::data_dependent_output: return "data_dependent_output";
    case Tag::dynamic_output_shape: return "dynamic_output_shape";
    case Tag::inplace_view: return "inplace_view";
    case Tag::nondeterministic_seeded: return "nondeterministic_seeded";
    case Tag::view_copy: return "view_copy";
    case Tag::resizes: return "resizes";
    case Tag::new_storage: return "new_storage";
    case Tag::numbers_as_tensors: return "numbers_as_tensors";
    case Tag::numbers_as_operands: return "numbers_as_operands";
    default: return "undefined";
  }
}

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
