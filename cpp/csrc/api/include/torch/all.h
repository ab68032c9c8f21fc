// Mirrors: torch/csrc/api/include/torch/all.h
// What C++ that is compiled next to a running reftorch starts from: tensors, ops, the iterator with its loops,
// TORCH_LIBRARY. Left out: the C++ frontend (torch::nn, torch::optim, torch::data).
//
// The namespaces carry PyTorch's names here, so that an extension reads the same for both; ours stay inside reftorch::,
// as the two libraries may live in one process.
#pragma once

#include <ATen/Functions.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/library.h>
#include <ATen/native/cpu/Loops.h>

namespace at = reftorch::at;
namespace c10 = reftorch::c10;
namespace torch {
using reftorch::at::Tensor;
}
