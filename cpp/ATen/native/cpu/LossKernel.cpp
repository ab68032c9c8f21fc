// Mirrors: aten/src/ATen/native/Loss.cpp, aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp (mse, smooth_l1, huber)
#include <ATen/native/BinaryOps.h>
#include <ATen/native/Loss.h>
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/cpu/UnaryFloat.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace reftorch::at::native {
namespace {

// factor * (self - target) * grad
void mse_backward_kernel(TensorIterator& iter, const Scalar& factor_scalar) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "mse_backward_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto factor = factor_scalar.to<opmath_t>();
    cpu_kernel<scalar_t>(iter, [factor](opmath_t self, opmath_t target, opmath_t grad) -> opmath_t {
      return factor * (self - target) * grad;
    });
  });
}

void smooth_l1_kernel(TensorIterator& iter, double beta) {
  binary_float_kernel(iter, "smooth_l1_cpu", [beta](auto self, auto target) {
    using T = decltype(self);
    const T d = std::fabs(self - target);
    return d < T(beta) ? T(0.5) * d * d / T(beta) : d - T(0.5 * beta);
  });
}

void huber_kernel(TensorIterator& iter, double delta) {
  binary_float_kernel(iter, "huber_cpu", [delta](auto self, auto target) {
    using T = decltype(self);
    const T d = std::fabs(self - target);
    return d <= T(delta) ? T(0.5) * d * d : T(delta) * (d - T(0.5 * delta));
  });
}

// With d = self - target: factor * grad * d where -width < d < width, else height * grad with the sign of d.
void straight_loss_backward(TensorIterator& iter, const char* name, double factor, double width, double height) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), name, [&] {
    using opmath_t = opmath_type<scalar_t>;
    const opmath_t slope = opmath_t(factor), end = opmath_t(width), top = opmath_t(height);
    cpu_kernel(iter, [slope, end, top](scalar_t self, scalar_t target, scalar_t grad) -> scalar_t {
      const opmath_t d = opmath_t(self) - opmath_t(target);
      return (d <= -end ? -top : d >= end ? top : slope * d) * opmath_t(grad);
    });
  });
}

void smooth_l1_backward_kernel(TensorIterator& iter, double norm, double beta) {
  straight_loss_backward(iter, "smooth_l1_backward_cpu_out", norm / beta, beta, norm);
}

void huber_backward_kernel(TensorIterator& iter, double norm, double delta) {
  straight_loss_backward(iter, "huber_backward_cpu_out", norm, delta, norm * delta);
}

// The loop only notes a number that is no probability, and the error is raised after the loop: an exception cannot
// leave a function that GCC has cloned (TARGET_CLONES).
void binary_cross_entropy_kernel(TensorIterator& iter) {
  std::atomic<bool> wrong_input = false, wrong_target = false;
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "binary_cross_entropy", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [&wrong_input, &wrong_target](opmath_t x, opmath_t y) -> opmath_t {
      if (!(x >= 0 && x <= 1)) {
        wrong_input.store(true, std::memory_order_relaxed);
      }
      if (!(y >= 0 && y <= 1)) {
        wrong_target.store(true, std::memory_order_relaxed);
      }
      return (y - opmath_t(1)) * std::max(std::log1p(-x), opmath_t(-100)) - y * std::max(std::log(x), opmath_t(-100));
    });
  });
  TORCH_CHECK(!wrong_input, "all elements of input should be between 0 and 1");
  TORCH_CHECK(!wrong_target, "all elements of target should be between 0 and 1");
}

// grad (x - y) / (x (1 - x))
void binary_cross_entropy_backward_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "binary_cross_entropy_backward", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t grad, opmath_t x, opmath_t y) -> opmath_t {
      return grad * (x - y) / std::max((opmath_t(1) - x) * x, opmath_t(1e-12f));
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(mse_backward_stub, mse_backward_kernel)
REGISTER_CPU_DISPATCH(binary_cross_entropy_stub, binary_cross_entropy_kernel)
REGISTER_CPU_DISPATCH(binary_cross_entropy_backward_stub, binary_cross_entropy_backward_kernel)
REGISTER_CPU_DISPATCH(smooth_l1_stub, smooth_l1_kernel)
REGISTER_CPU_DISPATCH(smooth_l1_backward_stub, smooth_l1_backward_kernel)
REGISTER_CPU_DISPATCH(huber_stub, huber_kernel)
REGISTER_CPU_DISPATCH(huber_backward_stub, huber_backward_kernel)

} // namespace reftorch::at::native
