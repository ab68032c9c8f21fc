// Mirrors: torch/csrc/autograd/input_metadata.h
//
// What a node knows about a tensor that its op made: enough to check and reduce the gradient that arrives for the
// tensor. For an accelerator the metadata includes the stream on which the tensor was made, because the gradient is
// computed on that stream too. Left out: nested and symbolic shapes, tensor subclasses.
#pragma once

#include <ATen/DeviceAccelerator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

namespace reftorch::torch::autograd {

struct InputMetadata final {
  InputMetadata() = default;
  explicit InputMetadata(const at::Tensor& t)
      : shape_(t.sizes()), dtype_(t.scalar_type()), grad_dtype_(dtype_), device_(t.device()), defined_(true) {
    if (__builtin_expect(at::isAccelerator(device_.type()), 0)) {
      note_stream();
    }
  }

  at::IntArrayRef shape() const {
    return shape_;
  }
  at::ScalarType dtype() const {
    return dtype_;
  }
  // The dtype of a gradient for this tensor; Undefined if any dtype is allowed (Tensor.grad_dtype).
  at::ScalarType grad_dtype() const {
    return grad_dtype_;
  }
  void set_grad_dtype(at::ScalarType dtype) {
    grad_dtype_ = dtype;
  }
  at::Device device() const {
    return device_;
  }
  // The stream that was current when the tensor was made.
  c10::Stream stream() const {
    return c10::Stream(c10::Stream::UNSAFE, device_, stream_id_);
  }
  // False for an output that the op left undefined.
  bool defined() const {
    return defined_;
  }

  at::Tensor zeros_like() const;
  bool is_same_shape(const at::Tensor& grad) const {
    return grad.sizes() == at::IntArrayRef(shape_);
  }
  // Returns whether this shape broadcasts to the shape of the gradient. If so, reduce_grad sums the gradient back.
  bool is_expandable_to_shape(const at::Tensor& grad) const;
  at::Tensor reduce_grad(const at::Tensor& grad) const;

 private:
  void note_stream();

  at::DimVector shape_;
  at::ScalarType dtype_ = at::ScalarType::Undefined;
  at::ScalarType grad_dtype_ = at::ScalarType::Undefined;
  at::Device device_{c10::DeviceType::CPU};
  bool defined_ = false;
  c10::StreamId stream_id_ = 0;
};

} // namespace reftorch::torch::autograd
