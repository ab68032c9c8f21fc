// Mirrors: aten/src/ATen/native/cpu/FillKernel.cpp
#include <ATen/native/Fill.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

void fill_kernel(TensorIterator& iter, const Scalar& value_scalar) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "fill_cpu", [&] {
    const auto value = value_scalar.to<scalar_t>();
    cpu_kernel(iter, [value]() -> scalar_t { return value; });
  });
}

} // namespace

REGISTER_DISPATCH(fill_stub, fill_kernel)

} // namespace reftorch::at::native
