// Mirrors: torch/csrc/autograd/VariableTypeManual.cpp
//
// Holds the ops that change the graph itself. Left out: resize_, copy_ and _fw_primal (copy_ has a formula).
#include <ATen/core/library.h>
#include <ATen/functorch/TensorWrapper.h>
#include <csrc/autograd/forward_grad.h>

namespace reftorch::torch::autograd {

// The same data and version, no history: an in-place change of one is noticed through the other.
static at::Tensor detach(const at::Tensor& self) {
  if (!at::functorch::is_wrapper(self)) {
    return impl::tensor_data(self);
  }
  // At every level: the tensor inside of the wrapper may have a history too.
  at::Tensor detached = impl::tensor_data(self);
  auto* wrapper = at::functorch::maybe_get_wrapper(detached);
  wrapper->value_ = detach(wrapper->value_);
  return detached;
}

static at::Tensor& detach_(at::Tensor& self) {
  TORCH_CHECK(!impl::is_view(self),
              "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
              "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
              "detach_() cannot be called on these gradients. To fix this error, please refer to the "
              "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.");
  if (AutogradMeta* meta = impl::get_autograd_meta(self)) {
    meta->requires_grad_ = false;
    meta->grad_fn_ = nullptr;
    meta->fw_grad_ = nullptr;
    meta->output_nr_ = 0;
  }
  return self;
}

// Nothing is to be recorded here, so these functions also serve the rows above the backends: Autograd, which would make
// a node, and that of the function transforms, because the functions go through all levels of a wrapper themselves.
TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("detach(Tensor(a) self) -> Tensor(a)", TORCH_FN(detach));
  m.def("detach_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(detach_), at::tags(at::Tag::inplace_view));
  for (c10::DispatchKey key : {c10::DispatchKey::Autograd, c10::DispatchKey::FuncTorchDynamicLayerFrontMode}) {
    m.impl("detach", key, TORCH_FN(detach));
    m.impl("detach_", key, TORCH_FN(detach_));
  }
}

} // namespace reftorch::torch::autograd
