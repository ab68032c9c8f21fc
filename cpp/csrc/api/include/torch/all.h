// Mirrors: torch/csrc/api/include/torch/all.h
//
// An extension, that is C++ compiled next to a running reftorch, includes this header for tensors, ops, TensorIterator
// with its loops, and TORCH_LIBRARY. Left out: the C++ frontend (torch::nn, torch::optim, torch::data), C++'s own
// autograd::Function, indexing by slices (x.index({Slice()})), and printing of tensors.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/core/library.h>
#include <ATen/native/cpu/Loops.h>
#include <torch/types.h>
