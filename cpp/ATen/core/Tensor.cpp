// Mirrors: aten/src/ATen/core/Tensor.cpp, aten/src/ATen/native/Scalar.cpp
#include <ATen/core/Tensor.h>

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/functorch/TensorWrapper.h>

namespace reftorch::at {

int64_t Tensor::size(int64_t dim) const {
  return sizes()[maybe_wrap_dim(dim, this->dim(), /*wrap_scalar=*/false)];
}

int64_t Tensor::stride(int64_t dim) const {
  return strides()[maybe_wrap_dim(dim, this->dim(), /*wrap_scalar=*/false)];
}

Scalar Tensor::item() const {
  TORCH_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
  if (functorch::is_wrapper(*this)) {
    return functorch::materialize(*this, "calling .item()").item();
  }
  TORCH_CHECK(!device().is_meta(), "Tensor.item() cannot be called on meta tensors");
  if (scalar_type() == c10::kUInt64) {
    return Scalar(*static_cast<const uint64_t*>(data_ptr()));
  }
  Scalar value;
  AT_DISPATCH_ALL_TYPES_AND_BOOL(scalar_type(), "_local_scalar_dense_cpu",
                                 [&] { value = Scalar(*data_ptr<scalar_t>()); });
  return value;
}

Tensor Tensor::contiguous(MemoryFormat format) const {
  return is_contiguous(format) ? *this : at::contiguous(*this, format);
}

void Tensor::check_dtype(ScalarType expected) const {
  TORCH_CHECK(!device().is_meta() || numel() == 0, "Cannot access the data of a meta tensor: there is none. Hint: a ",
              "meta tensor was given to a kernel of another device.");
  TORCH_CHECK(scalar_type() == expected, "expected scalar type ", expected, " but found ", scalar_type());
}

} // namespace reftorch::at
