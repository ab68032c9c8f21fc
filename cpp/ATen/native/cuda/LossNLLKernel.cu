// Mirrors: aten/src/ATen/native/cuda/Loss.cu (nll_loss), aten/src/ATen/native/cuda/NLLLoss2d.cu
//
// nll_loss and nll_loss2d. Losses that are not reduced have a thread for each pixel; one block adds up all losses, in
// double. A class out of range fails an assertion on the device, and a later call of CUDA reports the failure.
#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/native/Loss.h>
#include <ATen/native/LossNLL.h>

#include <ATen/native/cuda/Reduce.cuh>

namespace reftorch::at::native {
namespace {

// The pixels of target, (N), () or (N, H, W), and where their scores are in (N, C), (C) or (N, C, H, W).
template <typename scalar_t>
struct Targets {
  const int64_t* classes;
  const scalar_t* weight; // (C), or null
  int64_t count, pixels, n_classes, ignore_index;

  Targets(const Tensor& scores, const Tensor& target, const Tensor& weight, int64_t ignore_index)
      : classes(target.data_ptr<int64_t>()),
        weight(weight.defined() ? weight.data_ptr<scalar_t>() : nullptr),
        count(target.numel()),
        pixels(target.dim() == 3 ? target.size(1) * target.size(2) : 1),
        n_classes(target.dim() == 3 ? scores.size(1) : scores.size(-1)),
        ignore_index(ignore_index) {}

  // Calls f(place, weight) for pixel i unless its class is ignored; `place` is the index of the score of its class.
  template <typename F>
  __device__ void at(int64_t i, const F& f) const {
    using opmath_t = opmath_type<scalar_t>;
    const int64_t c = classes[i];
    if (c != ignore_index) {
      CUDA_KERNEL_ASSERT(c >= 0 && c < n_classes && "Target is out of bounds.");
      f((i / pixels * n_classes + c) * pixels + i % pixels, weight != nullptr ? opmath_t(weight[c]) : opmath_t(1));
    }
  }
};

template <typename scalar_t>
__global__ void nll_loss_of_each_kernel(scalar_t* output, const scalar_t* input, Targets<scalar_t> targets) {
  using opmath_t = opmath_type<scalar_t>;
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < targets.count; i += step) {
    output[i] = scalar_t(0);
    targets.at(i, [&](int64_t place, opmath_t w) { output[i] = static_cast<scalar_t>(-opmath_t(input[place]) * w); });
  }
}

// Runs in one block.
template <typename scalar_t>
__global__ void nll_loss_of_all_kernel(scalar_t* output, scalar_t* total_weight, const scalar_t* input,
                                       Targets<scalar_t> targets, bool is_mean) {
  using opmath_t = opmath_type<scalar_t>;
  double loss = 0, weight = 0;
  for (int64_t i = threadIdx.x; i < targets.count; i += blockDim.x) {
    targets.at(i, [&](int64_t place, opmath_t w) {
      loss += double(-opmath_t(input[place]) * w);
      weight += double(w);
    });
  }
  loss = group_reduce(loss, kThreads, Sum<double>());
  weight = group_reduce(weight, kThreads, Sum<double>());
  if (threadIdx.x == 0) {
    *total_weight = static_cast<scalar_t>(opmath_t(weight));
    *output = static_cast<scalar_t>(opmath_t(is_mean ? loss / weight : loss));
  }
}

template <typename scalar_t>
__global__ void nll_loss_backward_kernel(scalar_t* grad_input, const scalar_t* grad, int64_t grad_step,
                                         const scalar_t* total_weight, Targets<scalar_t> targets) {
  using opmath_t = opmath_type<scalar_t>;
  const opmath_t divisor = total_weight != nullptr ? opmath_t(*total_weight) : opmath_t(1);
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < targets.count; i += step) {
    targets.at(i, [&](int64_t place, opmath_t w) {
      grad_input[place] = static_cast<scalar_t>(-w * opmath_t(grad[i * grad_step]) / divisor);
    });
  }
}

void nll_loss_kernel_cuda(const Tensor& output, const Tensor& total_weight, const Tensor& input, const Tensor& target,
                          const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), "nll_loss_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const c10::cuda::CUDAGuard guard(input.device().index());
    const Targets<scalar_t> targets(input, target, weight, ignore_index);
    const auto* x = static_cast<const scalar_t*>(input.data_ptr<scalar_t>());
    const auto stream = c10::cuda::getCurrentCUDAStream();
    if (output.dim() != 0) {
      Tensor zero = total_weight;
      at::zero_(zero);
      if (targets.count > 0) {
        c10::cuda::launch(nll_loss_of_each_kernel<scalar_t>, cuda::grid_size(targets.count, kThreads), kThreads, 0,
                          stream, output.data_ptr<scalar_t>(), x, targets);
      }
    } else {
      c10::cuda::launch(nll_loss_of_all_kernel<scalar_t>, 1, kThreads, kThreads * sizeof(double), stream,
                        output.data_ptr<scalar_t>(), total_weight.data_ptr<scalar_t>(), x, targets,
                        reduction == Reduction::Mean);
    }
  });
}

void nll_loss_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad_output, const Tensor& target,
                                   const Tensor& weight, const Tensor& total_weight, int64_t reduction,
                                   int64_t ignore_index) {
  if (target.numel() == 0) {
    return;
  }
  dispatch<FloatingTypesAndReduced>(grad_input.scalar_type(), "nll_loss_backward_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const c10::cuda::CUDAGuard guard(grad_input.device().index());
    const Targets<scalar_t> targets(grad_input, target, weight, ignore_index);
    const scalar_t* divisor = reduction == Reduction::Mean ? total_weight.data_ptr<scalar_t>() : nullptr;
    const int64_t grad_step = grad_output.numel() == 1 ? 0 : 1;
    c10::cuda::launch(nll_loss_backward_kernel<scalar_t>, cuda::grid_size(targets.count, kThreads), kThreads, 0,
                      c10::cuda::getCurrentCUDAStream(), grad_input.data_ptr<scalar_t>(),
                      static_cast<const scalar_t*>(grad_output.data_ptr<scalar_t>()), grad_step, divisor, targets);
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(nll_loss_stub, nll_loss_kernel_cuda)
REGISTER_CUDA_DISPATCH(nll_loss_backward_stub, nll_loss_backward_kernel_cuda)

} // namespace reftorch::at::native
