// Mirrors: aten/src/ATen/MemoryOverlap.h
// Whether writing one tensor can change another, or itself twice.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

// Whether two elements of `t` surely share memory (an expanded tensor).
TORCH_API bool has_internal_overlap(const Tensor& t);
// RuntimeError where two elements of `t` share memory (an expanded tensor).
TORCH_API void assert_no_internal_overlap(const Tensor& t);
// A warning instead, from the ops in place that PyTorch still lets write an expanded tensor; and whether it is one.
TORCH_API bool warn_of_internal_overlap(const Tensor& t, const char* op, const char* as_assignment);
// RuntimeError where the tensors overlap in part: the same memory with the same geometry is allowed.
TORCH_API void assert_no_partial_overlap(const Tensor& a, const Tensor& b);
// RuntimeError where they share any memory.
TORCH_API void assert_no_overlap(const Tensor& a, const Tensor& b);

} // namespace reftorch::at
