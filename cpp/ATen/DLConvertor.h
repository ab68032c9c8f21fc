// Mirrors: aten/src/ATen/DLConvertor.h
// Tensors to and from DLPack, without a copy. Who makes a managed tensor keeps the memory alive until its deleter runs;
// who takes one owns it, and runs the deleter when the last tensor on the memory is gone.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/dlpack.h>

namespace reftorch::at {

// `is_copied` is a flag of the versioned form.
TORCH_API DLManagedTensor* toDLPack(const Tensor& src);
TORCH_API DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src, bool is_copied);

// Takes `src` over, except where it throws: then it stays the caller's.
TORCH_API Tensor fromDLPack(DLManagedTensor* src);
TORCH_API Tensor fromDLPackVersioned(DLManagedTensorVersioned* src);

} // namespace reftorch::at
