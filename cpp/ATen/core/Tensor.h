// Mirrors: aten/src/ATen/core/TensorBase.h, aten/src/ATen/templates/TensorBody.h
//
// The tensor that C++ code passes around: one intrusive_ptr to a TensorImpl. Copying a Tensor never copies elements.
// Left out: the methods that are ops (C++ code calls at::add(a, b), see ATen/Functions.h).
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/TensorImpl.h>

namespace reftorch::at {

using c10::ArrayRef;
using c10::Device;
using c10::DimVector;
using c10::DispatchKeySet;
using c10::IntArrayRef;
using c10::intrusive_ptr;
using c10::kBFloat16;
using c10::kBool;
using c10::kByte;
using c10::kChar;
using c10::kDouble;
using c10::kFloat;
using c10::kHalf;
using c10::kInt;
using c10::kLong;
using c10::kShort;
using c10::MemoryFormat;
using c10::Scalar;
using c10::ScalarType;
using c10::SmallVector;
using c10::Storage;
using c10::TensorImpl;

class TORCH_API Tensor final {
 public:
  Tensor() = default;
  explicit Tensor(intrusive_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const {
    return impl_.defined();
  }
  void reset() {
    impl_.reset();
  }
  bool is_same(const Tensor& other) const {
    return impl_ == other.impl_;
  }
  size_t use_count() const {
    return impl_.use_count();
  }
  TensorImpl* unsafeGetTensorImpl() const {
    return impl_.get();
  }
  TensorImpl* unsafeReleaseTensorImpl() {
    return impl_.release();
  }

  int64_t dim() const {
    return impl_->dim();
  }
  int64_t numel() const {
    return impl_->numel();
  }
  IntArrayRef sizes() const {
    return impl_->sizes();
  }
  IntArrayRef strides() const {
    return impl_->strides();
  }
  // A negative dim counts from the end. Raises IndexError if there is no such dimension.
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t storage_offset() const {
    return impl_->storage_offset_;
  }
  ScalarType scalar_type() const {
    return impl_->data_type_;
  }
  size_t itemsize() const {
    return impl_->itemsize();
  }
  Device device() const {
    return impl_->device_;
  }
  DispatchKeySet key_set() const {
    return impl_->key_set_;
  }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return impl_->is_contiguous(format);
  }
  const Storage& storage() const {
    return impl_->storage_;
  }
  bool is_alias_of(const Tensor& other) const {
    return impl_->storage_.is_alias_of(other.impl_->storage_);
  }
  bool is_floating_point() const {
    return c10::isFloatingType(impl_->data_type_);
  }

  // Returns the address of the first element. Raises RuntimeError if T is not the tensor's dtype.
  template <typename T>
  T* data_ptr() const {
    check_dtype(c10::CppTypeToScalarType<std::remove_const_t<T>>::value);
    return static_cast<T*>(impl_->mutable_data());
  }
  void* data_ptr() const {
    return impl_->mutable_data();
  }

  // Returns the value of a tensor with one element. Raises RuntimeError for any other tensor.
  Scalar item() const;
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;

  // See Note [Inference tensors].
  bool is_inference() const {
    return impl_->is_inference_;
  }
  bool requires_grad() const {
    return impl_->autograd_meta_ != nullptr && impl_->autograd_meta_->requires_grad();
  }

  intrusive_ptr<TensorImpl> impl_;

 private:
  void check_dtype(ScalarType expected) const;
};

using TensorList = ArrayRef<Tensor>;

} // namespace reftorch::at
