// Mirrors: aten/src/ATen/native/Scalar.cpp
#include <ATen/native/Scalar.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace reftorch::at {

namespace native {

DEFINE_DISPATCH(local_scalar_dense_stub)

static Scalar _local_scalar_dense(const Tensor& self) {
  TORCH_CHECK(self.numel() > 0, "_local_scalar_dense: Empty tensor not supported");
  return local_scalar_dense_stub(self.device().type(), self);
}

static Scalar _local_scalar_dense_meta(const Tensor&) {
  TORCH_CHECK(false, "Tensor.item() cannot be called on meta tensors");
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("_local_scalar_dense(Tensor self) -> Scalar", TORCH_FN(_local_scalar_dense), kernels(local_scalar_dense_stub),
        tags(Tag::data_dependent_output), variants::FUNCTION);
  m.impl("_local_scalar_dense", c10::DispatchKey::Meta, TORCH_FN(_local_scalar_dense_meta));
}

} // namespace native

// The kernel is called without its stub, because a stub reports each call to the op that runs, and that op would have
// to name this stub as one of its own.
Scalar detail::number_in(const Tensor& t) {
  const auto kernel = native::local_scalar_dense_stub.fns[static_cast<int>(t.device().type())];
  TORCH_INTERNAL_ASSERT(kernel != nullptr, "no number can be read on ", t.device());
  return kernel(t);
}

Scalar Tensor::item() const {
  TORCH_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
  if (functorch::is_wrapper(*this)) {
    return functorch::materialize(*this, "calling .item()").item();
  }
  // A number has no gradient, so autograd is left out of the call.
  const c10::impl::ExcludeDispatchKeyGuard no_autograd(c10::autograd_dispatch_keyset);
  return at::_local_scalar_dense(*this);
}

} // namespace reftorch::at
