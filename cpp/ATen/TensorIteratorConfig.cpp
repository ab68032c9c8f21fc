// Mirrors: aten/src/ATen/TensorIterator.cpp
//
// TensorIteratorConfig, and the configurations that most ops use.
#include <ATen/TensorIterator.h>

namespace reftorch::at {

TensorIteratorConfig& TensorIteratorConfig::add_output(Tensor& t) {
  return add_output(t, ScalarType::Undefined);
}

TensorIteratorConfig& TensorIteratorConfig::add_output(Tensor& t, ScalarType dtype) {
  TORCH_INTERNAL_ASSERT(inputs_.empty(), "outputs come before inputs");
  outputs_.push_back({&t, dtype});
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_input(const Tensor& t) {
  inputs_.push_back(&t);
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape) {
  static_shape_ = DimVector(shape);
  return *this;
}

TensorIterator TensorIteratorConfig::build() {
  TensorIterator iter;
  iter.build(*this);
  return iter;
}

TensorIterator TensorIterator::binary_op(Tensor& out, const Tensor& a, const Tensor& b) {
  return TensorIteratorConfig()
      .add_output(out)
      .add_input(a)
      .add_input(b)
      .promote_inputs_to_common_dtype(true)
      .allow_cpu_scalars(true)
      .build();
}

TensorIterator TensorIterator::binary_float_op(Tensor& out, const Tensor& a, const Tensor& b) {
  return TensorIteratorConfig()
      .add_output(out)
      .add_input(a)
      .add_input(b)
      .promote_inputs_to_common_dtype(true)
      .promote_integer_inputs_to_float(true)
      .allow_cpu_scalars(true)
      .build();
}

TensorIterator TensorIterator::comparison_op(Tensor& out, const Tensor& a, const Tensor& b) {
  return TensorIteratorConfig()
      .add_output(out, kBool)
      .add_input(a)
      .add_input(b)
      .promote_inputs_to_common_dtype(true)
      .allow_cpu_scalars(true)
      .build();
}

TensorIterator TensorIterator::unary_op(Tensor& out, const Tensor& a) {
  return TensorIteratorConfig().add_output(out).add_input(a).promote_inputs_to_common_dtype(true).build();
}

TensorIterator TensorIterator::unary_float_op(Tensor& out, const Tensor& a) {
  return TensorIteratorConfig()
      .add_output(out)
      .add_input(a)
      .promote_inputs_to_common_dtype(true)
      .promote_integer_inputs_to_float(true)
      .build();
}

TensorIterator TensorIterator::nullary_op(Tensor& out) {
  return TensorIteratorConfig().add_output(out).no_resize_outputs(true).build();
}

} // namespace reftorch::at
