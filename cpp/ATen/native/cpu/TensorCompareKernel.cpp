// Mirrors: aten/src/ATen/native/cpu/TensorCompareKernel.cpp
#include <ATen/native/DispatchSize.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/TensorCompareFunctors.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

// Elements are only moved, so the kernel depends on their width and not on their dtype.
void where_kernel_impl(TensorIterator& iter) {
  dispatch_size(c10::elementSize(iter.dtype()), [&](auto word) { cpu_kernel(iter, WhereFunctor<decltype(word)>()); });
}

} // namespace

REGISTER_CPU_DISPATCH(where_kernel, where_kernel_impl)
REGISTER_CPU_ELEMENTWISE(clamp_scalar_stub, clamp_scalar_kernel, ClampScalarFunctor, "clamp_scalar_kernel_impl")
REGISTER_CPU_ELEMENTWISE(clamp_stub, clamp_kernel, ClampFunctor, "clamp_kernel_impl")

} // namespace reftorch::at::native
