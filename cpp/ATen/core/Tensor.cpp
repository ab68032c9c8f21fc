// Mirrors: aten/src/ATen/core/Tensor.cpp
//
// Tensor::item() is in ATen/native/Scalar.cpp, because a kernel of the device reads the value.
#include <ATen/core/Tensor.h>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>

namespace reftorch::at {

int64_t Tensor::size(int64_t dim) const {
  return sizes()[maybe_wrap_dim(dim, this->dim(), /*wrap_scalar=*/false)];
}

int64_t Tensor::stride(int64_t dim) const {
  return strides()[maybe_wrap_dim(dim, this->dim(), /*wrap_scalar=*/false)];
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
