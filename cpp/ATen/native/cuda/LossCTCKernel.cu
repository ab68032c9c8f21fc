// Mirrors: aten/src/ATen/native/cuda/LossCTC.cu
//
// The CTC loss (Note [CTC]). A sequence has a block. The steps come one after the other; in each step the threads share
// the positions of the target, and wait for each other. A label out of range fails an assertion on the device, and a
// later call of CUDA reports the failure. Left out: several sequences for a block if the targets are short.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/native/LossCTC.h>
#include <ATen/native/LossCTCFunctors.h>

#include <ATen/native/cuda/KernelUtils.cuh>

#include <algorithm>
#include <cmath>
#include <limits>

namespace reftorch::at::native {
namespace {

// The lengths and offsets of CTCShape on the device: (3, B).
Tensor lengths_on_device(const CTCShape& shape, const Tensor& like) {
  const Tensor host = detail::empty_generic({3, shape.B}, kLong, c10::Device(c10::DeviceType::CPU));
  int64_t* to = host.data_ptr<int64_t>();
  for (const auto* lengths : {&shape.input_lengths, &shape.target_lengths, &shape.target_offsets}) {
    to = std::copy_n(lengths->begin(), shape.B, to);
  }
  return at::_to_copy(host, kLong, like.device());
}

// CTCShape for the device.
struct Sequences {
  int64_t T, B, C, S, blank;
  const int64_t *targets, *lengths; // lengths: (3, B)

  Sequences(const CTCShape& shape, const Tensor& targets, const Tensor& lengths)
      : T(shape.T),
        B(shape.B),
        C(shape.C),
        S(shape.S),
        blank(shape.blank),
        targets(targets.data_ptr<int64_t>()),
        lengths(lengths.data_ptr<int64_t>()) {}
  C10_HOST_DEVICE int64_t width() const {
    return 2 * S + 1;
  }
  __device__ int64_t steps(int64_t b) const {
    return lengths[b];
  }
  __device__ int64_t target_length(int64_t b) const {
    return lengths[B + b];
  }
  __device__ ctc::WithBlanks target(int64_t b) const {
    const int64_t* labels = targets + lengths[2 * B + b];
    for (int64_t i = threadIdx.x; i < target_length(b); i += blockDim.x) {
      CUDA_KERNEL_ASSERT(labels[i] >= 0 && labels[i] < C && "ctc_loss: a label is out of range");
    }
    return {labels, blank};
  }
};

// loss: (B), log_alpha: (B, T, 2 S + 1), log_probs: (T, B, C)
template <typename scalar_t>
__global__ void ctc_loss_log_alpha_kernel(scalar_t* loss, scalar_t* log_alpha, const scalar_t* log_probs,
                                          Sequences sequences) {
  const scalar_t kNothing = -std::numeric_limits<scalar_t>::infinity();
  const int64_t width = sequences.width();
  for (int64_t b = blockIdx.x; b < sequences.B; b += gridDim.x) {
    const int64_t steps = sequences.steps(b), end = 2 * sequences.target_length(b) + 1;
    const ctc::WithBlanks label = sequences.target(b);
    scalar_t* alpha = log_alpha + b * sequences.T * width;
    for (int64_t i = threadIdx.x; i < sequences.T * width; i += blockDim.x) {
      alpha[i] = kNothing;
    }
    for (int64_t t = 0; t < steps; t++) {
      __syncthreads(); // alpha of the step before
      const scalar_t* y = log_probs + (t * sequences.B + b) * sequences.C;
      for (int64_t s = threadIdx.x; s < end; s += blockDim.x) {
        if (t > 0) {
          alpha[t * width + s] = ctc::walks_to(alpha + (t - 1) * width, label, s) + y[label[s]];
        } else if (s < 2) {
          alpha[s] = y[label[s]];
        }
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && steps > 0) {
      loss[b] = ctc::loss_of_walks(alpha + (steps - 1) * width, end);
    } else if (threadIdx.x == 0) {
      loss[b] = sequences.target_length(b) == 0 ? scalar_t(0) : -kNothing;
    }
  }
}

// grad_input: (T, B, C), filled with zeros; log_beta: (B, 2, 2 S + 1), for the present step and the one after it.
template <typename scalar_t>
__global__ void ctc_loss_backward_kernel(scalar_t* grad_input, scalar_t* log_beta, const scalar_t* grad,
                                         const scalar_t* log_probs, const scalar_t* loss, const scalar_t* log_alpha,
                                         Sequences sequences, bool zero_infinity) {
  const scalar_t kNothing = -std::numeric_limits<scalar_t>::infinity();
  const int64_t width = sequences.width();
  for (int64_t b = blockIdx.x; b < sequences.B; b += gridDim.x) {
    if (zero_infinity && std::isinf(loss[b])) {
      continue; // the gradient stays zero
    }
    const int64_t steps = sequences.steps(b), end = 2 * sequences.target_length(b) + 1;
    const ctc::WithBlanks label = sequences.target(b);
    const scalar_t* alpha = log_alpha + b * sequences.T * width;
    for (int64_t t = steps - 1; t >= 0; t--) {
      scalar_t* beta = log_beta + (b * 2 + t % 2) * width;
      const scalar_t* next = log_beta + (b * 2 + (t + 1) % 2) * width;
      const int64_t row = (t * sequences.B + b) * sequences.C;
      for (int64_t s = threadIdx.x; s < end; s += blockDim.x) {
        const scalar_t at_the_end = s >= end - 2 ? scalar_t(0) : kNothing;
        const scalar_t walks = t == steps - 1 ? at_the_end : ctc::walks_from(next, label, s, end);
        beta[s] = walks + log_probs[row + label[s]];
      }
      __syncthreads(); // beta of all positions; the threads then share the labels
      for (int64_t c = threadIdx.x; c < sequences.C; c += blockDim.x) {
        scalar_t used = kNothing;
        for (int64_t s = 0; s < end; s++) {
          used = label[s] == c ? ctc::log_add(used, alpha[t * width + s] + beta[s]) : used;
        }
        grad_input[row + c] = ctc::gradient(log_probs[row + c], used, loss[b], grad[b]);
      }
      __syncthreads(); // the step before overwrites `next`
    }
  }
}

void ctc_loss_kernel_cuda(const Tensor& loss, const Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets,
                          const CTCShape& shape) {
  const Tensor lengths = lengths_on_device(shape, log_probs);
  dispatch<FloatingTypes>(log_probs.scalar_type(), "ctc_loss_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(log_probs, shape.B * kThreads, ctc_loss_log_alpha_kernel<scalar_t>, loss.data_ptr<scalar_t>(),
                    log_alpha.data_ptr<scalar_t>(), log_probs.data_ptr<scalar_t>(), Sequences(shape, targets, lengths));
  });
}

void ctc_loss_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad, const Tensor& log_probs,
                                   const Tensor& targets, const Tensor& loss, const Tensor& log_alpha,
                                   const CTCShape& shape, bool zero_infinity) {
  const Tensor lengths = lengths_on_device(shape, log_probs);
  const Tensor log_beta =
      detail::empty_generic({shape.B, 2, 2 * shape.S + 1}, log_probs.scalar_type(), log_probs.device());
  dispatch<FloatingTypes>(log_probs.scalar_type(), "ctc_loss_backward_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(log_probs, shape.B * kThreads, ctc_loss_backward_kernel<scalar_t>, grad_input.data_ptr<scalar_t>(),
                    log_beta.data_ptr<scalar_t>(), grad.data_ptr<scalar_t>(), log_probs.data_ptr<scalar_t>(),
                    loss.data_ptr<scalar_t>(), log_alpha.data_ptr<scalar_t>(), Sequences(shape, targets, lengths),
                    zero_infinity);
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(ctc_loss_stub, ctc_loss_kernel_cuda)
REGISTER_CUDA_DISPATCH(ctc_loss_backward_stub, ctc_loss_backward_kernel_cuda)

} // namespace reftorch::at::native
