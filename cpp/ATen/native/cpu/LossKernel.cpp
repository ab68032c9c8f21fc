// Mirrors: aten/src/ATen/native/LossNLL.cpp, aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp (mse, smooth_l1, huber)
#include <ATen/native/BinaryOps.h>
#include <ATen/native/Loss.h>
#include <ATen/native/LossNLL.h>
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

void check_target(int64_t target, int64_t n_classes) {
  TORCH_CHECK_INDEX(target >= 0 && target < n_classes, "Target ", target, " is out of bounds.");
}

// input: (N, C)
void nll_loss_kernel(const Tensor& output, const Tensor& total_weight, const Tensor& input, const Tensor& target,
                     const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  const int64_t n_classes = input.sizes().back(), batch = target.numel();
  const int64_t* classes = target.data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(input.scalar_type(), "nll_loss_out_frame", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* x = input.data_ptr<scalar_t>();
    const scalar_t* w = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    scalar_t* out = output.data_ptr<scalar_t>();
    const bool per_sample = reduction == Reduction::None && input.dim() == 2;
    double loss_sum = 0, weight_sum = 0;
    for (int64_t i = 0; i < batch; i++) {
      opmath_t loss = 0;
      if (classes[i] != ignore_index) {
        check_target(classes[i], n_classes);
        const opmath_t class_weight = w != nullptr ? opmath_t(w[classes[i]]) : opmath_t(1);
        loss = -opmath_t(x[i * n_classes + classes[i]]) * class_weight;
        loss_sum += double(loss);
        weight_sum += double(class_weight);
      }
      if (per_sample) {
        out[i] = loss;
      }
    }
    *total_weight.data_ptr<scalar_t>() = opmath_t(per_sample ? 0 : weight_sum);
    if (!per_sample) {
      *out = opmath_t(reduction == Reduction::Mean ? loss_sum / weight_sum : loss_sum);
    }
  });
}

void nll_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& target,
                              const Tensor& weight, const Tensor& total_weight, int64_t reduction,
                              int64_t ignore_index) {
  const int64_t n_classes = grad_input.sizes().back(), batch = target.numel();
  const int64_t* classes = target.data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(grad_input.scalar_type(), "nll_loss_backward_out_frame", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* w = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    const scalar_t* grad = grad_output.data_ptr<scalar_t>();
    scalar_t* grad_in = grad_input.data_ptr<scalar_t>();
    const opmath_t divisor = reduction == Reduction::Mean ? opmath_t(*total_weight.data_ptr<scalar_t>()) : opmath_t(1);
    const int64_t grad_step = grad_output.numel() == 1 ? 0 : 1;
    for (int64_t i = 0; i < batch; i++) {
      if (classes[i] != ignore_index) {
        check_target(classes[i], n_classes);
        const opmath_t class_weight = w != nullptr ? opmath_t(w[classes[i]]) : opmath_t(1);
        grad_in[i * n_classes + classes[i]] = -class_weight * opmath_t(grad[i * grad_step]) / divisor;
      }
    }
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
REGISTER_CPU_DISPATCH(nll_loss_stub, nll_loss_kernel)
REGISTER_CPU_DISPATCH(nll_loss_backward_stub, nll_loss_backward_kernel)

} // namespace reftorch::at::native
