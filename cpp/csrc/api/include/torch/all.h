// Mirrors: torch/csrc/api/include/torch/all.h
//
// An extension, that is C++ compiled next to a running reftorch, includes this header for tensors, ops, TensorIterator
// with its loops, and TORCH_LIBRARY. Left out: the C++ frontend (torch::nn, torch::optim, torch::data).
//
// The namespaces have PyTorch's names here, so that the source of an extension is the same for both libraries. Our
// definitions stay inside reftorch::, because both libraries may be loaded in one process.
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
