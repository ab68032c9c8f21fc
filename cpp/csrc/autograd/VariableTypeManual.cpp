// Mirrors: torch/csrc/autograd/VariableTypeManual.cpp
//
// Holds the ops that change the graph itself. Left out: resize_ (the fallback handles it), copy_ (a formula exists) and
// _fw_primal.
#include <ATen/core/library.h>
#include <ATen/functorch/TensorWrapper.h>
#include <csrc/autograd/forward_grad.h>

namespace reftorch::torch::autograd {

// Returns a tensor with the same data and version counter and without history. Autograd notices an in-place change
// through either tensor.
static at::Tensor detach(const at::Tensor& self) {
  if (!at::functorch::is_wrapper(self)) {
    return impl::tensor_data(self);
  }
  // Detach at every level: the tensor inside the wrapper may have a history too.
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

// These functions record nothing. So they are registered also for the keys above the backends: for Autograd, whose
// fallback would make a node, and for the key of the function transforms, because detach goes through all levels of a
// wrapper itself.
TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("detach(Tensor(a) self) -> Tensor(a)", TORCH_FN(detach));
  m.def("detach_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(detach_), at::tags(at::Tag::inplace_view));
  for (c10::DispatchKey key : {c10::DispatchKey::Autograd, c10::DispatchKey::FuncTorchDynamicLayerFrontMode}) {
    m.impl("detach", key, TORCH_FN(detach));
    m.impl("detach_", key, TORCH_FN(detach_));
  }
}

} // namespace reftorch::torch::autograd
