// Mirrors: aten/src/ATen/templates/Functions.cpp
#include <ATen/NNFunctions.h>

#include <ATen/core/dispatch/CallOp.h>

namespace reftorch::at {

Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  CALL_OP("hardtanh", Tensor(const Tensor&, const Scalar&, const Scalar&), self, min_val, max_val);
}
Tensor& hardtanh_(Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  CALL_OP("hardtanh_", Tensor & (Tensor&, const Scalar&, const Scalar&), self, min_val, max_val);
}
Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  CALL_OP("elu", Tensor(const Tensor&, const Scalar&, const Scalar&, const Scalar&), self, alpha, scale, input_scale);
}
Tensor& elu_(Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  CALL_OP("elu_", Tensor & (Tensor&, const Scalar&, const Scalar&, const Scalar&), self, alpha, scale, input_scale);
}
std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self) {
  using Results = std::tuple<Tensor, Tensor>;
  CALL_OP("log_sigmoid_forward", Results(const Tensor&), self);
}
std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                                                     const std::optional<Tensor>& weight,
                                                     const std::optional<Tensor>& bias, double eps) {
  using Results = std::tuple<Tensor, Tensor, Tensor>;
  using OptionalTensor = std::optional<Tensor>;
  CALL_OP("native_layer_norm",
          Results(const Tensor&, IntArrayRef, const OptionalTensor&, const OptionalTensor&, double), input,
          normalized_shape, weight, bias, eps);
}

} // namespace reftorch::at
