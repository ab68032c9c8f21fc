// Mirrors: aten/src/ATen/native/Linear.cpp (bilinear)
//
// Composite ops: the product of two inputs and a weight. Left out: PyTorch's _trilinear.
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/TypeMetaName.h>

namespace reftorch::at::native {

// y_o = x1^T W_o x2 + b_o. input1 (*, I), input2 (*, J), weight (O, I, J), bias (O) -> (*, O)
static Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                       const std::optional<Tensor>& bias) {
  TORCH_CHECK(input1.dim() == input2.dim(), "bilinear(): input dimensions do not match: got ", input1.dim(), " and ",
              input2.dim());
  for (int64_t d = 0; d < input1.dim() - 1; d++) {
    TORCH_CHECK(input1.size(d) == input2.size(d), "bilinear(): input batch dimensions do not match at dim ", d,
                ": got ", input1.size(d), " and ", input2.size(d));
  }
  const int64_t features = input1.size(-1); // raises IndexError if input1 has no dimension
  TORCH_CHECK(weight.dim() == 3, "bilinear(): expected a weight of 3 dimensions, but got ", weight.dim());
  const int64_t outputs = weight.size(0), size1 = weight.size(1), size2 = weight.size(2);
  TORCH_CHECK(features == size1, "bilinear(): input1 size does not match weight size: got ", features, " but expected ",
              size1);
  TORCH_CHECK(input2.size(-1) == size2, "bilinear(): input2 size does not match weight size: got ", input2.size(-1),
              " but expected ", size2);
  TORCH_CHECK(!bias || bias->size(0) == outputs, "bilinear(): bias size does not match weight size: got ",
              bias ? bias->size(0) : 0, " but expected ", outputs);
  TORCH_CHECK(input1.scalar_type() == input2.scalar_type() && input1.scalar_type() == weight.scalar_type(),
              "All tensors must have the same dtype, got input1: ", type_meta_name(input1.scalar_type()),
              ", input2: ", type_meta_name(input2.scalar_type()), ", weight: ", type_meta_name(weight.scalar_type()));
  DimVector leading(input1.sizes().slice(0, input1.dim() - 1)), half(leading), shape(leading);
  half.push_back(outputs);
  half.push_back(size2);
  shape.push_back(outputs);
  // Computes x1^T W for all outputs as one product of matrices, then multiplies each row of the result with its x2.
  const Tensor by_input1 = at::reshape(at::permute(weight, {1, 0, 2}), {size1, outputs * size2});
  const Tensor left = at::reshape(at::matmul(input1, by_input1), half);
  const Tensor result = at::reshape(at::matmul(left, at::unsqueeze(input2, -1)), shape);
  return bias ? at::add(result, *bias) : result;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
                  TORCH_FN(bilinear), variants::FUNCTION);
}

} // namespace reftorch::at::native
