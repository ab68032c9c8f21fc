// Mirrors: aten/src/ATen/native/Linear.cpp (bilinear), aten/src/ATen/native/Activation.cpp (prelu)
// Ops of networks that are made of other ops and have weights of their own. Left out: the kernels that PyTorch has for
// them, _trilinear and _prelu_kernel.
#include <ATen/Functions.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

// y_o = x1^T W_o x2 + b_o. input1 (*, I), input2 (*, J), weight (O, I, J), bias (O) -> (*, O)
static Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                       const std::optional<Tensor>& bias) {
  TORCH_CHECK(input1.dim() == input2.dim(), "bilinear(): input dimensions do not match: got ", input1.dim(), " and ",
              input2.dim());
  TORCH_CHECK(weight.dim() == 3, "bilinear(): expected a weight of 3 dimensions, but got ", weight.dim());
  for (int64_t d = 0; d < input1.dim() - 1; d++) {
    TORCH_CHECK(input1.size(d) == input2.size(d), "bilinear(): input batch dimensions do not match at dim ", d,
                ": got ", input1.size(d), " and ", input2.size(d));
  }
  const int64_t outputs = weight.size(0), size1 = weight.size(1), size2 = weight.size(2);
  TORCH_CHECK(input1.size(-1) == size1, "bilinear(): input1 size does not match weight size: got ", input1.size(-1),
              " but expected ", size1);
  TORCH_CHECK(input2.size(-1) == size2, "bilinear(): input2 size does not match weight size: got ", input2.size(-1),
              " but expected ", size2);
  TORCH_CHECK(!bias || bias->size(0) == outputs, "bilinear(): bias size does not match weight size: got ",
              bias ? bias->size(0) : 0, " but expected ", outputs);
  DimVector leading(input1.sizes().slice(0, input1.dim() - 1)), half(leading), shape(leading);
  half.push_back(outputs);
  half.push_back(size2);
  shape.push_back(outputs);
  // x1^T W for all outputs as one product of matrices, then each row of it with its x2
  const Tensor by_input1 = at::reshape(at::permute(weight, {1, 0, 2}), {size1, outputs * size2});
  const Tensor left = at::reshape(at::matmul(input1, by_input1), half);
  const Tensor result = at::reshape(at::matmul(left, at::unsqueeze(input2, -1)), shape);
  return bias ? at::add(result, *bias) : result;
}

// x where x > 0, elsewhere w x, with one w for all or one for each channel.
static Tensor prelu(const Tensor& self, const Tensor& weight) {
  TORCH_CHECK(self.scalar_type() == weight.scalar_type(), "prelu: Type promoting not supported. Got ",
              self.scalar_type(), " and ", weight.scalar_type());
  if (weight.numel() != 1) {
    TORCH_CHECK(self.dim() > 0, "Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
    TORCH_CHECK(weight.numel() == channels,
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
                " and channel size = ", channels, ".");
  }
  TORCH_CHECK(weight.dim() <= 1,
              "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"prelu_cpu\" not implemented for '", self.scalar_type(), "'");
  DimVector per_channel(self.dim(), 1);
  if (self.dim() > 1) {
    per_channel[1] = weight.numel();
  }
  const Tensor zero = at::zeros({}, self.scalar_type(), self.device());
  const Tensor positive = at::lt(zero, self);
  // The part that w scales is 0 elsewhere: an infinite x there would make w's gradient 0 * inf.
  const Tensor scaled = at::mul(at::where(positive, zero, self), at::reshape(weight, per_channel));
  return at::where(positive, self, scaled);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
                  TORCH_FN(bilinear), variants::FUNCTION);
  m.def_composite("prelu(Tensor self, Tensor weight) -> Tensor", TORCH_FN(prelu));
}

} // namespace reftorch::at::native
