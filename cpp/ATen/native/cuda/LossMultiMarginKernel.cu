// Mirrors: aten/src/ATen/native/cuda/MultiMarginLoss.cu, aten/src/ATen/native/cuda/MultiLabelMarginCriterion.cu
//
// One thread for each example; the loss of an example is in LossMultiMarginFunctors.h. One block adds up all losses, in
// double. A class out of range fails an assertion on the device, and a later call of CUDA reports the failure.
#include <ATen/native/Loss.h>
#include <ATen/native/LossMultiMargin.h>
#include <ATen/native/LossMultiMarginFunctors.h>

#include <ATen/native/cuda/KernelUtils.cuh>

namespace reftorch::at::native {
namespace {

// Examples (N, C) and how their losses are reduced.
struct Examples {
  int64_t C, N;
  bool reduces, is_mean;

  Examples(const Tensor& input, const Tensor& output, int64_t reduction)
      : C(input.dim() == 0 ? 1 : input.sizes().back()),
        N(input.numel() / C),
        reduces(reduction != Reduction::None || output.dim() == 0),
        is_mean(reduction == Reduction::Mean) {}
  template <typename T>
  __device__ T share() const { // of a class in the loss
    return static_cast<T>(1. / static_cast<double>(is_mean ? N * C : C));
  }
};

// loss_of(n) is the loss of example n. Runs in one block if the losses are reduced.
template <typename T, typename Loss>
__global__ void margin_losses_kernel(T* output, Examples examples, Loss loss_of) {
  if (!examples.reduces) {
    CUDA_KERNEL_LOOP(n, examples.N) {
      output[n] = static_cast<T>(loss_of(n));
    }
    return;
  }
  double sum = 0;
  for (int64_t n = threadIdx.x; n < examples.N; n += blockDim.x) {
    sum += loss_of(n);
  }
  sum = group_reduce(sum, kThreads, Sum<double>());
  if (threadIdx.x == 0) {
    *output = static_cast<T>(examples.is_mean ? sum / static_cast<double>(examples.N) : sum);
  }
}

template <typename T, typename Loss>
void launch_losses(const Tensor& output, const Examples& examples, const Loss& loss_of) {
  if (examples.N == 0 && !examples.reduces) {
    return;
  }
  const c10::cuda::CUDAGuard guard(output.device().index());
  const unsigned blocks = examples.reduces ? 1 : cuda::grid_size(examples.N, kThreads);
  c10::cuda::launch(margin_losses_kernel<T, Loss>, blocks, kThreads, kThreads * sizeof(double),
                    c10::cuda::getCurrentCUDAStream(), output.data_ptr<T>(), examples, loss_of);
}

__device__ int64_t margin_class(const int64_t* target, int64_t n, int64_t C) {
  CUDA_KERNEL_ASSERT(target[n] >= 0 && target[n] < C && "target out of range");
  return target[n];
}

// labels: (C)
__device__ void check_margin_labels(const int64_t* labels, int64_t C) {
  for (int64_t c = 0; c < C; c++) {
    CUDA_KERNEL_ASSERT(labels[c] >= -1 && labels[c] < C && "target is out of range");
  }
}

// --- one right class -------------------------------------------------------------------------------------------------

template <typename T>
struct MultiMarginLoss {
  const T* input;
  const int64_t* target;
  margin::Options<T> options;

  __device__ double operator()(int64_t n) const {
    return margin::loss(input + n * options.C, margin_class(target, n, options.C), options);
  }
};

template <typename T>
__global__ void multi_margin_backward_kernel(T* grad_input, const T* grad, int64_t grad_step, MultiMarginLoss<T> loss,
                                             Examples examples) {
  const int64_t C = examples.C;
  CUDA_KERNEL_LOOP(n, examples.N) {
    margin::loss_backward(grad_input + n * C, loss.input + n * C, margin_class(loss.target, n, C), examples.share<T>(),
                          grad[n * grad_step], loss.options);
  }
}

template <typename T>
MultiMarginLoss<T> multi_margin_loss_of(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t C,
                                        int64_t p, double margin_) {
  return {input.data_ptr<T>(),
          target.data_ptr<int64_t>(),
          {C, p, static_cast<T>(margin_), static_cast<const T*>(data_or_null<T>(weight))}};
}

void multi_margin_loss_kernel_cuda(const Tensor& output, const Tensor& input, const Tensor& target,
                                   const Tensor& weight, int64_t p, double margin_, int64_t reduction) {
  const Examples examples(input, output, reduction);
  dispatch<FloatingTypes>(input.scalar_type(), "multi_margin_loss_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_losses<scalar_t>(output, examples,
                            multi_margin_loss_of<scalar_t>(input, target, weight, examples.C, p, margin_));
  });
}

void multi_margin_loss_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad_output, const Tensor& input,
                                            const Tensor& target, const Tensor& weight, int64_t p, double margin_,
                                            int64_t reduction) {
  const Examples examples(input, grad_output, reduction);
  dispatch<FloatingTypes>(input.scalar_type(), "multi_margin_loss_backward_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(input, examples.N, multi_margin_backward_kernel<scalar_t>, grad_input.data_ptr<scalar_t>(),
                    grad_output.data_ptr<scalar_t>(), grad_output.numel() == 1 ? 0 : 1,
                    multi_margin_loss_of<scalar_t>(input, target, weight, examples.C, p, margin_), examples);
  });
}

// --- several right classes -------------------------------------------------------------------------------------------

template <typename T>
struct MultilabelMarginLoss {
  T* is_target;
  const T* input;
  const int64_t* target;
  int64_t C;

  __device__ double operator()(int64_t n) const {
    check_margin_labels(target + n * C, C);
    return margin::multilabel_loss(is_target + n * C, input + n * C, target + n * C, C);
  }
};

template <typename T>
__global__ void multilabel_margin_backward_kernel(T* grad_input, const T* grad, int64_t grad_step,
                                                  MultilabelMarginLoss<T> loss, Examples examples) {
  const int64_t C = examples.C;
  CUDA_KERNEL_LOOP(n, examples.N) {
    check_margin_labels(loss.target + n * C, C);
    margin::multilabel_loss_backward(grad_input + n * C, loss.input + n * C, loss.target + n * C,
                                     static_cast<const T*>(loss.is_target + n * C), examples.share<T>(),
                                     grad[n * grad_step], C);
  }
}

void multilabel_margin_loss_kernel_cuda(const Tensor& output, const Tensor& is_target, const Tensor& input,
                                        const Tensor& target, int64_t reduction) {
  const Examples examples(input, output, reduction);
  dispatch<FloatingTypes>(input.scalar_type(), "multilabel_margin_loss_forward_kernel", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_losses<scalar_t>(output, examples,
                            MultilabelMarginLoss<scalar_t>{is_target.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(),
                                                           target.data_ptr<int64_t>(), examples.C});
  });
}

void multilabel_margin_loss_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad_output,
                                                 const Tensor& input, const Tensor& target, const Tensor& is_target,
                                                 int64_t reduction) {
  const Examples examples(input, grad_output, reduction);
  dispatch<FloatingTypes>(input.scalar_type(), "multilabel_margin_loss_backward_kernel", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(input, examples.N, multilabel_margin_backward_kernel<scalar_t>, grad_input.data_ptr<scalar_t>(),
                    grad_output.data_ptr<scalar_t>(), grad_output.numel() == 1 ? 0 : 1,
                    MultilabelMarginLoss<scalar_t>{is_target.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(),
                                                   target.data_ptr<int64_t>(), examples.C},
                    examples);
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(multi_margin_loss_stub, multi_margin_loss_kernel_cuda)
REGISTER_CUDA_DISPATCH(multi_margin_loss_backward_stub, multi_margin_loss_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(multilabel_margin_loss_stub, multilabel_margin_loss_kernel_cuda)
REGISTER_CUDA_DISPATCH(multilabel_margin_loss_backward_stub, multilabel_margin_loss_backward_kernel_cuda)

} // namespace reftorch::at::native
