// Mirrors: aten/src/ATen/functorch/TensorWrapper.cpp, aten/src/ATen/functorch/BatchedTensorImpl.cpp
#include <ATen/functorch/TensorWrapper.h>

namespace reftorch::at::functorch {

static Storage no_memory(Device device) {
  return Storage(0, c10::DataPtr(nullptr, nullptr, nullptr, device));
}

static DispatchKeySet wrapper_keys() {
  using c10::DispatchKey;
  return DispatchKeySet(DispatchKey::FuncTorchDynamicLayerFrontMode) | DispatchKey::Autograd |
         DispatchKey::FuncTorchDynamicLayerBackMode;
}

TensorWrapper::TensorWrapper(Tensor value, int64_t level, std::optional<int64_t> bdim,
                             std::shared_ptr<const bool> is_alive)
    : TensorImpl(no_memory(value.device()), wrapper_keys(), value.scalar_type()),
      value_(std::move(value)),
      level_(level),
      bdim_(bdim),
      is_alive_(std::move(is_alive)) {
  is_wrapped_number_ = value_.unsafeGetTensorImpl()->is_wrapped_number_;
  refresh_metadata();
}

void TensorWrapper::refresh_metadata() {
  DimVector sizes, strides;
  for (int64_t d = 0; d < value_.dim(); d++) {
    if (d != bdim_) {
      sizes.push_back(value_.sizes()[d]);
      strides.push_back(value_.strides()[d]);
    }
  }
  set_sizes_and_strides(sizes, strides, value_.storage_offset());
  data_type_ = value_.scalar_type();
}

intrusive_ptr<TensorImpl> TensorWrapper::shallow_copy_and_detach(bool allow_version_sharing) {
  auto copy = c10::make_intrusive<TensorWrapper>(value_, level_, bdim_, is_alive_);
  if (allow_version_sharing) {
    copy->version_counter_.share_with(version_counter_);
  }
  return intrusive_ptr<TensorImpl>(std::move(copy));
}

bool is_batched(const Tensor& t) {
  const TensorWrapper* wrapper = maybe_get_wrapper(t);
  return wrapper != nullptr && (wrapper->bdim_.has_value() || is_batched(wrapper->value_));
}

Tensor unwrap_dead(Tensor t) {
  for (TensorWrapper* wrapper = maybe_get_wrapper(t); wrapper != nullptr && !*wrapper->is_alive_;
       wrapper = maybe_get_wrapper(t)) {
    TORCH_CHECK(!wrapper->bdim_.has_value(),
                "vmap: your tensor may have escaped from inside a function being vmapped: it is used after vmap has "
                "returned. Return it from the function instead of storing it elsewhere.");
    t = Tensor(wrapper->value_);
  }
  return t;
}

Tensor materialize(Tensor t, const char* what) {
  while (TensorWrapper* wrapper = maybe_get_wrapper(t)) {
    TORCH_CHECK(!wrapper->bdim_.has_value(), "vmap: It looks like you're ", what,
                " on a Tensor. We don't support vmap over ", what,
                " on a Tensor, please try to rewrite what you're doing with other operations. Hint: under vmap there "
                "is no one value, but one for each example.");
    t = Tensor(wrapper->value_);
  }
  return t;
}

Tensor innermost(Tensor t) {
  while (const TensorWrapper* wrapper = maybe_get_wrapper(t)) {
    t = Tensor(wrapper->value_);
  }
  return t;
}

} // namespace reftorch::at::functorch
