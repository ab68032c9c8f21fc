// Mirrors: aten/src/ATen/native/cpu/FillKernel.cpp
#include <ATen/native/Fill.h>
#include <ATen/native/cpu/Loops.h>

#include <cstring>
#include <type_traits>

namespace reftorch::at::native {
namespace {

void fill_kernel(TensorIterator& iter, const Scalar& value_scalar) {
  dispatch<AllTypesAndBool>(iter.dtype(), "fill_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    // A value too large for a 16-bit float becomes infinity in a tensor of one element, and raises in larger tensors,
    // as in PyTorch.
    constexpr bool is_reduced = !std::is_same_v<scalar_t, opmath_type<scalar_t>>;
    const bool rounds = is_reduced && iter.numel() == 1;
    const auto value = rounds ? value_scalar.wrapped_to<scalar_t>() : value_scalar.to<scalar_t>();
    cpu_kernel(iter, [value]() -> scalar_t { return value; });
  });
}

void zero_kernel(const Tensor& self) {
  std::memset(self.data_ptr(), 0, self.numel() * self.itemsize());
}

} // namespace

REGISTER_CPU_DISPATCH(fill_stub, fill_kernel)
REGISTER_CPU_DISPATCH(zero_stub, zero_kernel)

} // namespace reftorch::at::native
