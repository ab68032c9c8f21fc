// Mirrors: aten/src/ATen/native/Scalar.cpp
#include <ATen/native/Scalar.h>

#include <ATen/functorch/TensorWrapper.h>

namespace reftorch::at {

namespace native {

DEFINE_DISPATCH(local_scalar_dense_stub)

} // namespace native

Scalar Tensor::item() const {
  TORCH_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
  if (functorch::is_wrapper(*this)) {
    return functorch::materialize(*this, "calling .item()").item();
  }
  TORCH_CHECK(!device().is_meta(), "Tensor.item() cannot be called on meta tensors");
  return native::local_scalar_dense_stub(device().type(), *this);
}

} // namespace reftorch::at
