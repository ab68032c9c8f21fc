// Mirrors: aten/src/ATen/ops/from_blob.h
//
// Makes a tensor of memory that exists already, for the sources of extensions. Left out: memory of an accelerator.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace reftorch::at {

// The caller keeps the memory alive for as long as the tensor, and all views of it, exist. With `deleter`, which is
// called with `data` when the last of them is gone, the tensor owns the memory.
TORCH_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                           const std::function<void(void*)>& deleter, const TensorOptions& options = {});
TORCH_API Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                           const TensorOptions& options = {});
TORCH_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});
TORCH_API Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});

} // namespace reftorch::at
