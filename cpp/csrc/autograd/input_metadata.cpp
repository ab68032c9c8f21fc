// Mirrors: torch/csrc/autograd/input_metadata.cpp
#include <csrc/autograd/input_metadata.h>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace reftorch::torch::autograd {

void InputMetadata::note_stream() {
  stream_id_ = c10::impl::getDeviceGuardImpl(device_.type())->getStream(device_).id();
}

at::Tensor InputMetadata::zeros_like() const {
  return at::zeros(shape_, dtype_, device_);
}

bool InputMetadata::is_expandable_to_shape(const at::Tensor& grad) const {
  const at::IntArrayRef to = grad.sizes();
  if (shape_.size() > to.size()) {
    return false;
  }
  const size_t lead = to.size() - shape_.size();
  for (size_t i = 0; i < shape_.size(); i++) {
    if (shape_[i] != to[lead + i] && shape_[i] != 1) {
      return false;
    }
  }
  return true;
}

at::Tensor InputMetadata::reduce_grad(const at::Tensor& grad) const {
  return at::sum_to(grad, shape_);
}

} // namespace reftorch::torch::autograd
