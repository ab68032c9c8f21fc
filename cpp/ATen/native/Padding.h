// Mirrors: aten/src/ATen/native/Padding.h
//
// The geometry and the stubs of borders that repeat elements of the tensor. PyTorch has kernels for one, two and three
// dimensions; here a border of fewer dimensions has depth 1, or depth and height 1.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <c10/macros/Macros.h>

#include <array>
#include <string>

namespace reftorch::at::native {

// A border of Reflection mirrors the elements at the outermost one, which is not repeated. A border of Replication
// repeats the outermost element.
enum class PaddingMode { Reflection, Replication };

// The sizes of one padding. A contiguous tensor is read as (outer, *sizes, inner): outer is N * C and inner is 1, or,
// where the channels lie last in memory, outer is N and inner is C.
struct PaddingGeometry {
  using Dims = std::array<int64_t, 3>; // depth, height, width

  PaddingMode mode = PaddingMode::Reflection;
  int64_t outer = 1, inner = 1;
  Dims input{1, 1, 1}, output{1, 1, 1};
  Dims before{0, 0, 0}; // the number of elements that the border adds in front; a negative number removes elements

  // Returns the index of the element of the input that is at index `o` of the output, along dimension d.
  C10_HOST_DEVICE int64_t source(size_t d, int64_t o) const {
    const int64_t i = o - before[d], last = input[d] - 1;
    const int64_t inside = i < 0 ? (mode == PaddingMode::Reflection ? -i : 0) : i;
    return inside <= last ? inside : (mode == PaddingMode::Reflection ? 2 * last - inside : last);
  }
};

struct PaddingShape : PaddingGeometry {
  std::string op; // for errors
};

// output (outer, *output, inner), input (outer, *input, inner)
using padding_fn = void (*)(const Tensor& output, const Tensor& input, const PaddingShape& shape);
// grad_input (outer, *input, inner), grad_output (outer, *output, inner): each element of the input gets the sum of the
// gradients of its copies. The kernel writes every element.
using padding_backward_fn = void (*)(const Tensor& grad_input, const Tensor& grad_output, const PaddingShape& shape);

DECLARE_DISPATCH(padding_fn, padding_stub)
DECLARE_DISPATCH(padding_backward_fn, padding_backward_stub)

} // namespace reftorch::at::native
