// Mirrors: aten/src/ATen/native/cpu/CatKernel.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Joins dense tensors of one dtype into out, which is dense too. Each tensor is seen as a matrix (outer, length in
// bytes); row i of out is row i of the first tensor, then row i of the second, and so on.
using cat_serial_fn = void (*)(const Tensor& out, TensorList tensors, int64_t outer);
DECLARE_DISPATCH(cat_serial_fn, cat_serial_stub)

} // namespace reftorch::at::native
