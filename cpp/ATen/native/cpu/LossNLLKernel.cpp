// Mirrors: aten/src/ATen/native/LossNLL.cpp (nll_loss_out_frame), aten/src/ATen/native/LossNLL2d.cpp
//
// The kernels of nll_loss and nll_loss2d, in PyTorch two pairs: a sample without pixels is an image of one pixel.
#include <ATen/Dispatch.h>
#include <ATen/native/Loss.h>
#include <ATen/native/LossNLL.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

// Calls f(pixel, place, weight) for each pixel whose class is not ignored. `place` is the index of the score of the
// pixel's class in the memory of `scores`, (N, C), (C) or (N, C, H, W).
template <typename scalar_t, typename F>
void for_each_target(const Tensor& scores, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                     const F& f) {
  using opmath_t = opmath_type<scalar_t>;
  const int64_t* classes = target.data_ptr<int64_t>();
  const scalar_t* w = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
  const bool is_image = target.dim() == 3;
  const int64_t batch = is_image ? target.size(0) : target.numel(),
                pixels = is_image ? target.size(1) * target.size(2) : 1;
  const int64_t n_classes = is_image ? scores.size(1) : scores.size(-1);
  for (int64_t n = 0; n < batch; n++) {
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
      const int64_t c = classes[n * pixels + pixel];
      if (c == ignore_index) {
        continue;
      }
      TORCH_CHECK_INDEX(c >= 0 && c < n_classes, "Target ", c, " is out of bounds.");
      f(n * pixels + pixel, (n * n_classes + c) * pixels + pixel, w != nullptr ? opmath_t(w[c]) : opmath_t(1));
    }
  }
}

void nll_loss_kernel(const Tensor& output, const Tensor& total_weight, const Tensor& input, const Tensor& target,
                     const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  const char* name = target.dim() == 3 ? "nll_loss2d_forward_out_frame" : "nll_loss_out_frame";
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* x = input.data_ptr<scalar_t>();
    scalar_t* out = output.data_ptr<scalar_t>();
    const bool is_reduced = output.dim() == 0;
    double loss_sum = 0, weight_sum = 0;
    if (!is_reduced) {
      std::fill_n(out, output.numel(), scalar_t(0));
    }
    for_each_target<scalar_t>(input, target, weight, ignore_index,
                              [&](int64_t pixel, int64_t place, opmath_t class_weight) {
                                const opmath_t loss = -opmath_t(x[place]) * class_weight;
                                if (is_reduced) {
                                  loss_sum += double(loss);
                                  weight_sum += double(class_weight);
                                } else {
                                  out[pixel] = loss;
                                }
                              });
    *total_weight.data_ptr<scalar_t>() = opmath_t(weight_sum);
    if (is_reduced) {
      *out = opmath_t(reduction == Reduction::Mean ? loss_sum / weight_sum : loss_sum);
    }
  });
}

void nll_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& target,
                              const Tensor& weight, const Tensor& total_weight, int64_t reduction,
                              int64_t ignore_index) {
  const char* name = target.dim() == 3 ? "nll_loss2d_backward_out_frame" : "nll_loss_backward_out_frame";
  dispatch<FloatingTypesAndReduced>(grad_input.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* grad = grad_output.data_ptr<scalar_t>();
    scalar_t* grad_in = grad_input.data_ptr<scalar_t>();
    const opmath_t divisor = reduction == Reduction::Mean ? opmath_t(*total_weight.data_ptr<scalar_t>()) : opmath_t(1);
    const int64_t grad_step = grad_output.numel() == 1 ? 0 : 1;
    for_each_target<scalar_t>(grad_input, target, weight, ignore_index,
                              [&](int64_t pixel, int64_t place, opmath_t class_weight) {
                                grad_in[place] = -class_weight * opmath_t(grad[pixel * grad_step]) / divisor;
                              });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(nll_loss_stub, nll_loss_kernel)
REGISTER_CPU_DISPATCH(nll_loss_backward_stub, nll_loss_backward_kernel)

} // namespace reftorch::at::native
