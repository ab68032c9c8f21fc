// Mirrors: aten/src/ATen/native/cpu/RangeFactoriesKernel.cpp
// Each element is computed from its index, never from its neighbour: rounding does not add up, and threads may split
// the range.
#include <ATen/native/RangeFactories.h>

#include <ATen/Dispatch.h>

namespace reftorch::at::native {
namespace {

void arange_kernel(const Tensor& out, const Scalar& start_scalar, const Scalar& step_scalar) {
  AT_DISPATCH_ALL_NUMBERS(out.scalar_type(), "arange_cpu", [&] {
    using acc_t = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, double>;
    const auto start = start_scalar.to<acc_t>(), step = step_scalar.to<acc_t>();
    scalar_t* data = out.data_ptr<scalar_t>();
    at::parallel_for(0, out.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        data[i] = static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(start + step * static_cast<acc_t>(i)));
      }
    });
  });
}

// Two elements at least. The second half counts back from `end`, so that both ends are exact.
void linspace_kernel(const Tensor& out, const Scalar& start_scalar, const Scalar& end_scalar) {
  AT_DISPATCH_ALL_NUMBERS(out.scalar_type(), "linspace_cpu", [&] {
    using step_t = std::conditional_t<std::is_integral_v<scalar_t>, double, opmath_type<scalar_t>>;
    const int64_t steps = out.numel();
    const auto start = static_cast<step_t>(start_scalar.to<scalar_t>()),
               end = static_cast<step_t>(end_scalar.to<scalar_t>());
    const step_t step = (end - start) / static_cast<step_t>(steps - 1);
    scalar_t* data = out.data_ptr<scalar_t>();
    at::parallel_for(0, steps, at::internal::GRAIN_SIZE, [&](int64_t lo, int64_t hi) {
      for (int64_t i = lo; i < hi; i++) {
        const bool first_half = i < steps / 2;
        data[i] = static_cast<scalar_t>(first_half ? start + step * static_cast<step_t>(i)
                                                   : end - step * static_cast<step_t>(steps - i - 1));
      }
    });
  });
}

} // namespace

REGISTER_DISPATCH(arange_stub, arange_kernel)
REGISTER_DISPATCH(linspace_stub, linspace_kernel)

} // namespace reftorch::at::native
