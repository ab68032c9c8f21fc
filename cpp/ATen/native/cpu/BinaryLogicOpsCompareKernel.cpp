// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Comparisons of two numbers.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cpu/Loops.h>

#include <functional>

namespace reftorch::at::native {
namespace {

// `Compare` is std::equal_to<>, std::less<> or one of the like. The inputs have one dtype; the output is bool.
template <typename Compare>
void comparison_kernel(TensorIterator& iter, const char* name) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.input_dtype(), name, [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a, opmath_t b) -> bool { return Compare()(a, b); });
  });
}

void eq_kernel(TensorIterator& iter) {
  comparison_kernel<std::equal_to<>>(iter, "eq_cpu");
}
void ne_kernel(TensorIterator& iter) {
  comparison_kernel<std::not_equal_to<>>(iter, "ne_cpu");
}
void lt_kernel(TensorIterator& iter) {
  comparison_kernel<std::less<>>(iter, "lt_cpu");
}
void le_kernel(TensorIterator& iter) {
  comparison_kernel<std::less_equal<>>(iter, "le_cpu");
}
void gt_kernel(TensorIterator& iter) {
  comparison_kernel<std::greater<>>(iter, "gt_cpu");
}
void ge_kernel(TensorIterator& iter) {
  comparison_kernel<std::greater_equal<>>(iter, "ge_cpu");
}

} // namespace

REGISTER_CPU_DISPATCH(eq_stub, eq_kernel)
REGISTER_CPU_DISPATCH(ne_stub, ne_kernel)
REGISTER_CPU_DISPATCH(lt_stub, lt_kernel)
REGISTER_CPU_DISPATCH(le_stub, le_kernel)
REGISTER_CPU_DISPATCH(gt_stub, gt_kernel)
REGISTER_CPU_DISPATCH(ge_stub, ge_kernel)

} // namespace reftorch::at::native
