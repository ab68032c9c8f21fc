// Mirrors: aten/src/ATen/native/cpu/CatKernel.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Copies dense tensors of one dtype, each seen as (outer, length in bytes), to out, which is dense too: a row of out is
// the rows of all tensors, one after another.
using cat_serial_fn = void (*)(const Tensor& out, TensorList tensors, int64_t outer);
DECLARE_DISPATCH(cat_serial_fn, cat_serial_stub)

} // namespace reftorch::at::native
