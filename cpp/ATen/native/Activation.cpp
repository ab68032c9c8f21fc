// Mirrors: aten/src/ATen/native/Activation.cpp
// Left out: every activation but relu and threshold (tanh and sigmoid are in UnaryOps.cpp).
#include <ATen/native/Activation.h>

#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(relu_stub)
DEFINE_DISPATCH(threshold_stub)

// out = max(self, 0); NaN stays.
static void relu_out(const Tensor& self, Tensor& out) {
  TORCH_CHECK(self.scalar_type() != kBool, "Boolean inputs not supported for relu");
  auto iter = TensorIterator::unary_op(out, self);
  relu_stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// out = self where self > threshold, else value; NaN stays.
static void threshold_out(const Tensor& self, const Scalar& threshold, const Scalar& value, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, self);
  threshold_stub(iter.device_type(), iter, threshold, value);
  iter.cast_outputs();
}

// `self` is relu's input, or its output: both are positive in the same places.
static void threshold_backward_out(const Tensor& grad_output, const Tensor& self, const Scalar& threshold,
                                   Tensor& grad_input) {
  auto iter = TensorIterator::binary_op(grad_input, self, grad_output);
  threshold_stub(iter.device_type(), iter, threshold, 0);
  iter.cast_outputs();
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("relu(Tensor self) -> Tensor", TORCH_FN(relu_out), derive::INPLACE);
  m.def_structured("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", TORCH_FN(threshold_out),
                   derive::ALL, variants::FUNCTION);
  m.def_structured("threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
                   TORCH_FN(threshold_backward_out), derive::NONE, variants::FUNCTION);
}

} // namespace reftorch::at::native
