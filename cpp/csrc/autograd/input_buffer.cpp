// Mirrors: torch/csrc/autograd/input_buffer.cpp
#include <csrc/autograd/input_buffer.h>

#include <ATen/DeviceAccelerator.h>
#include <ATen/Functions.h>
#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>

namespace reftorch::torch::autograd {

// Note [Streaming backwards]
// Problem: on an accelerator a gradient exists as soon as its kernel is enqueued, long before the values are computed.
// The node that made the gradient and the node that receives the gradient may run on two streams, and work on two
// streams has no order. Trick: as in PyTorch, a node runs on the stream on which its op ran in the forward pass. A
// gradient that goes from one stream to another is accompanied by an event: the receiving stream waits for the event,
// and the allocator is told that the receiving stream uses the memory. The sum of several gradients is computed on the
// receiver's stream too. At the end of the pass the caller's current streams wait for every stream on which a leaf was
// reached, so the caller needs no synchronization after backward(). The stream that made a gradient is the current
// stream of its device on this thread, because the engine runs the node and this function under the node's StreamGuard.
// If the gradient lies on another device than the receiver, the default stream of the gradient's device takes over,
// because that stream is current there on the thread that runs the receiver.

// Returns whether `var` may be added to `sum` in place. Nobody may be able to see the change: no graph is being
// recorded, and neither the tensor nor its storage has another owner.
static bool can_accumulate_inplace(const Variable& sum, const Variable& var) {
  return !c10::GradMode::is_enabled() && sum.use_count() == 1 && sum.storage().use_count() == 1 &&
         !at::isTensorSubclassLike(sum) && !at::isTensorSubclassLike(var) &&
         sum.unsafeGetTensorImpl()->is_non_overlapping_and_dense() && sum.scalar_type() == var.scalar_type() &&
         sum.sizes() == var.sizes();
}

static void accumulate(Variable& sum, Variable var) {
  if (!sum.defined()) {
    sum = std::move(var);
  } else if (can_accumulate_inplace(sum, var)) {
    at::add_(sum, var);
  } else if (can_accumulate_inplace(var, sum)) {
    sum = at::add_(var, sum);
  } else {
    sum = at::add(sum, var);
  }
}

// Returns the stream that takes over `var`: work that is enqueued there later finds the values of `var`.
static c10::Stream hand_over(const Variable& var, const std::optional<c10::Stream>& consumer) {
  const auto* const device = c10::impl::getDeviceGuardImpl(var.device().type());
  const c10::Stream from = device->getStream(var.device());
  const bool same_device = consumer.has_value() && consumer->device() == var.device();
  const c10::Stream to = same_device ? *consumer : device->getDefaultStream(var.device());
  if (from != to) {
    c10::Event event(from.device_type());
    event.record(from);
    to.wait(event);
    const Variable inner = at::functorch::innermost(var);
    device->recordDataPtrOnStream(inner.storage().storage_impl_->data_ptr_, to);
  }
  return to;
}

void InputBuffer::add(size_t pos, Variable var, const std::optional<c10::Stream>& consumer) {
  if (!var.defined()) {
    return;
  }
  c10::OptionalStreamGuard guard;
  if (__builtin_expect(at::isAccelerator(var.device().type()), 0)) {
    guard.reset_stream(hand_over(var, consumer));
  }
  accumulate(buffer[pos], std::move(var));
}

} // namespace reftorch::torch::autograd
