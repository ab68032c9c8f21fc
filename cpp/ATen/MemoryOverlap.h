// Mirrors: aten/src/ATen/MemoryOverlap.h
//
// Checks whether writing to a tensor can change another tensor, or one element twice.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

// Returns whether two elements of `t` share memory because `t` is expanded. Other kinds of overlap are not found.
TORCH_API bool has_internal_overlap(const Tensor& t);
// Raises RuntimeError if two elements of `t` share memory because `t` is expanded.
TORCH_API void assert_no_internal_overlap(const Tensor& t);
// For the in-place ops that PyTorch still allows on an expanded tensor: gives a warning instead. Returns whether `t` is
// expanded.
TORCH_API bool warn_of_internal_overlap(const Tensor& t, const char* op, const char* as_assignment);
// Raises RuntimeError if the tensors overlap partly. Tensors with the same memory and the same geometry are allowed.
TORCH_API void assert_no_partial_overlap(const Tensor& a, const Tensor& b);
// Raises RuntimeError if the tensors share any memory.
TORCH_API void assert_no_overlap(const Tensor& a, const Tensor& b);

} // namespace reftorch::at
