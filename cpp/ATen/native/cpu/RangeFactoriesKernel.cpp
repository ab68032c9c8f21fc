// Mirrors: aten/src/ATen/native/cpu/RangeFactoriesKernel.cpp
//
// Each element is computed from its index and not from its neighbour, so that rounding errors do not add up and threads
// can share the range.
#include <ATen/native/RangeFactories.h>

#include <ATen/native/cpu/Loops.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

// data[i] = start + step * i for i in [begin, end). Integers are computed without a sign, because step * i may leave
// the range of int64 even if the sum does not.
template <typename scalar_t, typename acc_t>
TARGET_CLONES static void fill_range(scalar_t* data, acc_t start, acc_t step, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    data[i] = static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(start + step * static_cast<acc_t>(i)));
  }
}

void arange_kernel(const Tensor& out, const Scalar& start_scalar, const Scalar& step_scalar) {
  dispatch<AllNumbers>(out.scalar_type(), "arange_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using number_t = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, double>;
    using acc_t = std::conditional_t<std::is_integral_v<scalar_t>, uint64_t, double>;
    const auto start = static_cast<acc_t>(start_scalar.to<number_t>());
    const auto step = static_cast<acc_t>(step_scalar.to<number_t>());
    scalar_t* data = out.data_ptr<scalar_t>();
    at::parallel_for(0, out.numel(), at::internal::GRAIN_SIZE,
                     [&](int64_t begin, int64_t end) { fill_range(data, start, step, begin, end); });
  });
}

// Fills at least two elements. The second half counts back from `end`, so that both ends are exact. element(x, i, step)
// returns the element i steps from x.
template <typename scalar_t, typename step_t, typename F>
void linspace_impl(const Tensor& out, step_t start, step_t end, const F& element) {
  const int64_t steps = out.numel();
  const step_t step = (end - start) / static_cast<step_t>(static_cast<opmath_type<step_t>>(steps - 1));
  scalar_t* data = out.data_ptr<scalar_t>();
  at::parallel_for(0, steps, at::internal::GRAIN_SIZE, [&](int64_t lo, int64_t hi) {
    for (int64_t i = lo; i < hi; i++) {
      const bool first_half = i < steps / 2;
      data[i] = static_cast<scalar_t>(first_half ? element(start, i, step)
                                                 : element(end, steps - i - 1, static_cast<step_t>(-step)));
    }
  });
}

// The rounding is that of PyTorch's compiled kernel. float and double are rounded once (fma), so the middle of
// linspace(-1, 1, 11) is not exactly 0; the 16-bit floats are rounded after each operation.
void linspace_kernel(const Tensor& out, const Scalar& start, const Scalar& end) {
  dispatch<AllNumbers>(out.scalar_type(), "linspace_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using step_t = std::conditional_t<std::is_integral_v<scalar_t>, double, scalar_t>;
    using opmath_t = opmath_type<step_t>;
    linspace_impl<scalar_t, step_t>(out, step_t(start.to<scalar_t>()), step_t(end.to<scalar_t>()),
                                    [](step_t x, int64_t i, step_t step) -> step_t {
                                      const auto steps = static_cast<step_t>(static_cast<opmath_t>(i));
                                      if constexpr (std::is_same_v<step_t, opmath_t>) {
                                        return std::fma(step, steps, x);
                                      } else {
                                        return step_t(x + step_t(step * steps));
                                      }
                                    });
  });
}

void logspace_kernel(const Tensor& out, const Scalar& start, const Scalar& end, double base_scalar) {
  dispatch<AllNumbers>(out.scalar_type(), "logspace_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using step_t = std::conditional_t<std::is_integral_v<scalar_t>, double, opmath_type<scalar_t>>;
    const auto base = static_cast<step_t>(base_scalar);
    linspace_impl<scalar_t, step_t>(
        out, start.to<scalar_t>(), end.to<scalar_t>(),
        [base](step_t x, int64_t i, step_t step) { return std::pow(base, x + step * static_cast<step_t>(i)); });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(arange_stub, arange_kernel)
REGISTER_CPU_DISPATCH(linspace_stub, linspace_kernel)
REGISTER_CPU_DISPATCH(logspace_stub, logspace_kernel)

} // namespace reftorch::at::native
