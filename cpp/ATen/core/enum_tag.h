// Mirrors: aten/src/ATen/native/tags.yaml, from which PyTorch generates ATen/core/enum_tag.h
//
// Facts about an op that its schema does not contain. They are given at the op's registration, as
// tags(Tag::inplace_view), and Python reads them as `op.tags`. Left out: the tags for compilers (core,
// pt2_compliant_tag, needs_fixed_stride_order), and reduction, because no code here uses them.
#pragma once

#include <cstdint>

namespace reftorch::at {

enum class Tag : uint8_t {
  data_dependent_output,   // the op returns a number that it reads from a tensor: equal()
  dynamic_output_shape,    // the shape of the result depends on the elements: nonzero()
  inplace_view,            // the op changes the sizes, strides or storage of its tensor, but no element: transpose_()
  nondeterministic_seeded, // the op draws random numbers
  pointwise,               // each element of the result depends on one element of each tensor, with broadcasting
  view_copy,               // the op returns a copy of what a view op would return: permute_copy()

  // PyTorch has no tags for these facts. Its code generator knows the names of the ops.
  resizes,             // the op does not change a tensor that already has the requested shape: resize_()
  new_storage,         // the op turns a leaf into a new leaf with its own gradient edge: set_()
  numbers_as_tensors,  // Python may pass a number for a tensor: add(x, 1)
  numbers_as_operands, // Python may pass a number for each tensor but the first, and not with out=: where()
  no_device_check,     // the op takes tensors of several devices or checks them itself (device_check: NoCheck): index()
  overwrites,          // the op writes every element of its tensor and reads none: fill_()
  uninitialized,       // the op leaves elements of its result undefined: empty(), resize_()
  NumTags,
};

constexpr int kNumTags = static_cast<int>(Tag::NumTags);

inline const char* toString(Tag tag) {
  switch (tag) {
    case Tag::data_dependent_output: return "data_dependent_output";
    case Tag::dynamic_output_shape: return "dynamic_output_shape";
    case Tag::inplace_view: return "inplace_view";
    case Tag::nondeterministic_seeded: return "nondeterministic_seeded";
    case Tag::pointwise: return "pointwise";
    case Tag::view_copy: return "view_copy";
    case Tag::resizes: return "resizes";
    case Tag::new_storage: return "new_storage";
    case Tag::numbers_as_tensors: return "numbers_as_tensors";
    case Tag::numbers_as_operands: return "numbers_as_operands";
    case Tag::no_device_check: return "no_device_check";
    case Tag::overwrites: return "overwrites";
    case Tag::uninitialized: return "uninitialized";
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
