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
  // The kernel is called without its stub, because a stub reports each call to the op that runs: an op that asks for a
  // value would otherwise have to name this stub as one of its own.
  const auto kernel = native::local_scalar_dense_stub.fns[static_cast<int>(device().type())];
  TORCH_CHECK_NOT_IMPLEMENTED(kernel != nullptr, "Could not run 'aten::_local_scalar_dense' with arguments from the '",
                              c10::computeDispatchKey(device().type()), "' backend.");
  return kernel(*this);
}

} // namespace reftorch::at
