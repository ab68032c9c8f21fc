// Mirrors: aten/src/ATen/native/LossCTC.cpp
//
// Connectionist temporal classification: minus the log-probability of a target, summed over all ways in which the steps
// of a longer sequence can spell it. Left out: the kernels of cuDNN, and the reason for which torch.ctc_loss chooses
// one.
#include <ATen/native/LossCTC.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/Loss.h>
#include <ATen/native/TensorFactories.h>

#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(ctc_loss_stub)
DEFINE_DISPATCH(ctc_loss_backward_stub)

namespace {

constexpr const char* kWhileChecking = " (while checking arguments for ctc_loss_allocate_outputs)";

// log_probs: (T, B, C); targets: (B, S), or the concatenated targets
CTCShape checked_ctc_shape(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                           IntArrayRef target_lengths, int64_t blank) {
  TORCH_CHECK(log_probs.numel() > 0, "log_probs tensor must not be empty");
  // Targets may have the type Int or Long. The message names only Int, like PyTorch's message: PyTorch calls its kernel
  // for Int with targets of all other types, and that kernel refuses them.
  TORCH_CHECK(targets.scalar_type() == kLong || targets.scalar_type() == kInt,
              "Expected tensor for argument #2 'targets' to have scalar type Int; but got ",
              detail::type_string(targets), " instead", kWhileChecking);
  TORCH_CHECK(log_probs.dim() == 3, "Expected 3-dimensional tensor, but got ", log_probs.dim(),
              "-dimensional tensor for argument #1 'log_probs'", kWhileChecking);
  TORCH_CHECK(targets.dim() == 1 || targets.dim() == 2, "Expected 1 to 2 dimensions, but got ", targets.dim(),
              "-dimensional tensor for argument #2 'targets'", kWhileChecking);
  CTCShape shape;
  shape.T = log_probs.sizes()[0];
  shape.B = log_probs.sizes()[1];
  shape.C = log_probs.sizes()[2];
  shape.S = 0;
  shape.blank = blank;
  shape.input_lengths = input_lengths.vec();
  shape.target_lengths = target_lengths.vec();
  TORCH_CHECK(0 <= blank && blank < shape.C, "blank must be in label range");
  TORCH_CHECK(static_cast<int64_t>(input_lengths.size()) == shape.B, "input_lengths must be of size batch_size");
  TORCH_CHECK(static_cast<int64_t>(target_lengths.size()) == shape.B, "target_lengths must be of size batch_size");
  const bool concatenated = targets.dim() == 1;
  int64_t position = 0;
  for (int64_t b = 0; b < shape.B; b++) {
    const int64_t length = target_lengths[b];
    TORCH_CHECK(length >= 0, "Expected target_lengths to have value at least 0, but got value ", length,
                kWhileChecking);
    shape.target_offsets.push_back(concatenated ? position : b * targets.sizes()[1]);
    TORCH_CHECK(length <= std::numeric_limits<int64_t>::max() / 4 - position, "target_lengths are too large");
    position += length;
    shape.S = std::max(shape.S, length);
  }
  if (concatenated) {
    TORCH_CHECK(targets.sizes()[0] == position, "Expected tensor to have size ", position,
                " at dimension 0, but got size ", targets.sizes()[0], " for argument #2 'targets'", kWhileChecking);
  } else {
    TORCH_CHECK(targets.sizes()[0] == shape.B, "Expected tensor to have size ", shape.B,
                " at dimension 0, but got size ", targets.sizes()[0], " for argument #2 'targets'", kWhileChecking);
    TORCH_CHECK(targets.sizes()[1] >= shape.S, "Expected tensor to have size at least ", shape.S,
                " at dimension 1, but got size ", targets.sizes()[1], " for argument #2 'targets'", kWhileChecking);
  }
  for (int64_t b = 0; b < shape.B; b++) {
    TORCH_CHECK(input_lengths[b] >= 0, "Expected input_lengths to have value at least 0, but got value ",
                input_lengths[b], kWhileChecking);
    TORCH_CHECK(input_lengths[b] <= shape.T, "Expected input_lengths to have value at most ", shape.T,
                ", but got value ", input_lengths[b], kWhileChecking);
  }
  return shape;
}

Tensor as_labels(const Tensor& t) {
  return (t.scalar_type() == kLong ? t : cast_to_dtype(t, kLong)).contiguous();
}

// The op whose gradient autograd knows. The probabilities of the prefixes, log_alpha, are kept for backward.
std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                                     IntArrayRef target_lengths, int64_t blank, bool zero_infinity) {
  TORCH_CHECK_NOT_IMPLEMENTED(log_probs.scalar_type() == kDouble || log_probs.scalar_type() == kFloat,
                              "\"ctc_loss_cpu\" not implemented for '", log_probs.scalar_type(), "'");
  const CTCShape shape = checked_ctc_shape(log_probs, targets, input_lengths, target_lengths, blank);
  const ScalarType dtype = log_probs.scalar_type();
  const Tensor loss = detail::empty_generic({shape.B}, dtype, log_probs.device());
  const Tensor log_alpha = detail::empty_generic({shape.B, shape.T, 2 * shape.S + 1}, dtype, log_probs.device());
  ctc_loss_stub(log_probs.device().type(), loss, log_alpha, log_probs.contiguous(), as_labels(targets), shape);
  return {loss, log_alpha};
}

Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                          IntArrayRef target_lengths, const Tensor& neg_log_likelihood, const Tensor& log_alpha,
                          int64_t blank, bool zero_infinity) {
  const CTCShape shape = checked_ctc_shape(log_probs, targets, input_lengths, target_lengths, blank);
  TORCH_CHECK(grad.numel() == shape.B && neg_log_likelihood.numel() == shape.B &&
                  log_alpha.numel() == shape.B * shape.T * (2 * shape.S + 1),
              "_ctc_loss_backward: expected grad and neg_log_likelihood of ", shape.B, " elements and log_alpha of ",
              shape.B * shape.T * (2 * shape.S + 1), " elements, but got ", grad.sizes(), ", ",
              neg_log_likelihood.sizes(), " and ", log_alpha.sizes());
  const Tensor grad_input = detail::empty_generic(log_probs.sizes(), log_probs.scalar_type(), log_probs.device());
  zero_impl(grad_input);
  ctc_loss_backward_stub(log_probs.device().type(), grad_input, grad.contiguous(), log_probs.contiguous(),
                         as_labels(targets), neg_log_likelihood.contiguous(), log_alpha.contiguous(), shape,
                         zero_infinity);
  return grad_input;
}

// --- the ops that people call ----------------------------------------------------------------------------------------

Tensor wrapped(double value) {
  return at::detail::wrapped_scalar_tensor(value);
}

// Labels of other dtypes than int64 are converted, as in PyTorch. Only _ctc_loss refuses all but int64 and int32. The
// mean is over the sequences, after each loss is divided by the length of its target.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths,
                int64_t blank, int64_t reduction, bool zero_infinity) {
  const bool is_batched = log_probs.dim() == 3;
  const Tensor batch = is_batched ? log_probs : at::unsqueeze(log_probs, 1);
  Tensor loss =
      std::get<0>(at::_ctc_loss(batch, at::to(targets, kLong), input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity) {
    const Tensor is_infinite = at::eq(loss, wrapped(std::numeric_limits<double>::infinity()));
    loss = at::where(is_infinite, at::zeros({}, loss.scalar_type(), loss.device()), loss);
  }
  if (reduction == Reduction::Mean) {
    std::vector<Tensor> lengths;
    for (int64_t length : target_lengths) {
      lengths.push_back(wrapped(static_cast<double>(std::max<int64_t>(length, 1))));
    }
    return at::mean(at::div(loss, at::_to_copy(at::stack(lengths), loss.scalar_type(), loss.device())));
  }
  if (reduction == Reduction::Sum) {
    return at::sum(loss);
  }
  return is_batched ? loss : at::squeeze(loss, 0);
}

std::vector<int64_t> lengths_in(const Tensor& t, const char* name) {
  TORCH_CHECK(c10::isIntegralType(t.scalar_type(), /*includeBool=*/false), name, " must be integral");
  const Tensor flat = at::flatten(t);
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < flat.numel(); i++) {
    lengths.push_back(at::select(flat, 0, i).item().toLong());
  }
  return lengths;
}

struct CTCLengths {
  std::vector<int64_t> input, target;
};

// Braces are evaluated from left to right, so that the input lengths are reported first.
CTCLengths both_lengths(const Tensor& input_lengths, const Tensor& target_lengths) {
  return {lengths_in(input_lengths, "input_lengths"), lengths_in(target_lengths, "target_lengths")};
}

Tensor ctc_loss_tensor(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                       const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  const CTCLengths lengths = both_lengths(input_lengths, target_lengths);
  return ctc_loss(log_probs, targets, lengths.input, lengths.target, blank, reduction, zero_infinity);
}

std::tuple<Tensor, Tensor> _ctc_loss_tensor(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                                            const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  const CTCLengths lengths = both_lengths(input_lengths, target_lengths);
  return at::_ctc_loss(log_probs, targets, lengths.input, lengths.target, blank, zero_infinity);
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def(
      "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, bool "
      "zero_infinity=False) -> (Tensor, Tensor)",
      TORCH_FN(_ctc_loss), kernels(ctc_loss_stub), tags(Tag::dynamic_output_shape), FUNCTION);
  m.def_composite(
      "_ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, "
      "bool zero_infinity=False) -> (Tensor, Tensor)",
      TORCH_FN(_ctc_loss_tensor), tags(Tag::dynamic_output_shape), FUNCTION);
  m.def(
      "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
      "Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
      TORCH_FN(_ctc_loss_backward), kernels(ctc_loss_backward_stub, zero_stub), variants::NN);
  m.def_composite(
      "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int "
      "reduction=Mean, bool zero_infinity=False) -> Tensor",
      TORCH_FN(ctc_loss), FUNCTION);
  m.def_composite(
      "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int "
      "reduction=Mean, bool zero_infinity=False) -> Tensor",
      TORCH_FN(ctc_loss_tensor), FUNCTION);
}

} // namespace reftorch::at::native
