// Mirrors: torch/csrc/autograd/input_metadata.h
// What a node knows of the tensor it made: enough to check and reduce the gradient that comes back for it.
// Left out: nested and symbolic shapes, streams, tensor subclasses.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::torch::autograd {

struct InputMetadata final {
  InputMetadata() = default;
  explicit InputMetadata(const at::Tensor& t)
      : shape_(t.sizes()), dtype_(t.scalar_type()), grad_dtype_(dtype_), device_(t.device()), defined_(true) {}

  at::IntArrayRef shape() const {
    return shape_;
  }
  at::ScalarType dtype() const {
    return dtype_;
  }
  // Of a gradient for it; Undefined where any will do (Tensor.grad_dtype).
  at::ScalarType grad_dtype() const {
    return grad_dtype_;
  }
  void set_grad_dtype(at::ScalarType dtype) {
    grad_dtype_ = dtype;
  }
  at::Device device() const {
    return device_;
  }
  // false for an output that the op left undefined.
  bool defined() const {
    return defined_;
  }

  at::Tensor zeros_like() const;
  bool is_same_shape(const at::Tensor& grad) const {
    return grad.sizes() == at::IntArrayRef(shape_);
  }
  // Whether this shape broadcasts to the gradient's: then the gradient is summed back.
  bool is_expandable_to_shape(const at::Tensor& grad) const;
  at::Tensor reduce_grad(const at::Tensor& grad) const;

 private:
  at::DimVector shape_;
  at::ScalarType dtype_ = at::ScalarType::Undefined;
  at::ScalarType grad_dtype_ = at::ScalarType::Undefined;
  at::Device device_{c10::DeviceType::CPU};
  bool defined_ = false;
};

} // namespace reftorch::torch::autograd
