// Mirrors: aten/src/ATen/native/cpu/CopyKernel.cpp
#include <ATen/native/Copy.h>
#include <ATen/native/cpu/Loops.h>

#include <cstring>

namespace reftorch::at::native {
namespace {

// One conversion for every pair of dtypes. A float outside an integer's range has no C++ value; the small integers take
// the low bits of a large one, as PyTorch's do.
template <typename To, typename From>
inline To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0.f);
  } else if constexpr (std::is_integral_v<To> && sizeof(To) < 4 && !std::is_integral_v<From>) {
    return static_cast<To>(static_cast<int64_t>(static_cast<opmath_type<From>>(value)));
  } else {
    return static_cast<To>(static_cast<opmath_type<From>>(value));
  }
}

void direct_copy_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "copy_",
                                 [&] { cpu_kernel(iter, [](scalar_t a) -> scalar_t { return a; }); });
}

template <typename To>
void convert_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.input_dtype(), "copy_",
                                 [&] { cpu_kernel(iter, [](scalar_t a) -> To { return convert<To>(a); }); });
}

void copy_kernel(TensorIterator& iter, bool /*non_blocking*/) {
  if (iter.numel() == 0) {
    return; // there is no memory to name
  }
  if (iter.dtype() != iter.input_dtype()) {
    AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "copy_", [&] { convert_kernel<scalar_t>(iter); });
  } else if (iter.is_contiguous()) {
    std::memcpy(iter.data_ptr(0), iter.data_ptr(1), iter.numel() * c10::elementSize(iter.dtype()));
  } else {
    direct_copy_kernel(iter);
  }
}

} // namespace

REGISTER_DISPATCH(copy_stub, copy_kernel)

} // namespace reftorch::at::native
