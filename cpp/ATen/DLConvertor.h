// Mirrors: aten/src/ATen/DLConvertor.h
//
// Makes managed tensors of DLPack from tensors in the CPU's memory, and tensors from managed tensors, without a copy.
// The producer of a managed tensor keeps the memory alive until the deleter runs. The consumer owns the managed tensor,
// and calls the deleter when no tensor uses the memory any more.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/dlpack.h>

namespace reftorch::at {

TORCH_API DLManagedTensor* toDLPack(const Tensor& src);
// With `is_copied`, sets the flag that tells the consumer that the memory is a copy. The form above has no flags.
TORCH_API DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src, bool is_copied);

// Returns a tensor that owns `src`. If the function raises, the caller still owns `src`.
TORCH_API Tensor fromDLPack(DLManagedTensor* src);
TORCH_API Tensor fromDLPackVersioned(DLManagedTensorVersioned* src);

} // namespace reftorch::at
