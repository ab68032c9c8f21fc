// Mirrors: aten/src/ATen/DLConvertor.h
//
// Converts tensors to and from DLPack, without a copy. The producer of a managed tensor keeps the memory alive until
// the deleter runs. The consumer owns the managed tensor, and calls the deleter when no tensor uses the memory any
// more.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/dlpack.h>

namespace reftorch::at {

// `is_copied` sets a flag that only the versioned form has.
TORCH_API DLManagedTensor* toDLPack(const Tensor& src);
TORCH_API DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src, bool is_copied);

// Takes over `src`. If the function raises, the caller still owns `src`.
TORCH_API Tensor fromDLPack(DLManagedTensor* src);
TORCH_API Tensor fromDLPackVersioned(DLManagedTensorVersioned* src);

} // namespace reftorch::at
