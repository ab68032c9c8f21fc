// Mirrors: aten/src/ATen/core/TensorBase.h, aten/src/ATen/templates/TensorBody.h
//
// The tensor that C++ code passes around: one intrusive_ptr to a TensorImpl. Copying a Tensor never copies elements.
//
// Note [Methods that are ops]
// Problem: sources of extensions say x.sum(-1). If this class declared the ops, every file would be compiled again when
// somebody adds an op. Trick: only an extension sees the ops as methods, which are written when the first extension is
// compiled (reftorch/utils/cpp_extension.py); they add nothing to the object. The library's own code calls the
// functions of ATen/Functions.h, at::sum(x, -1).
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>

#ifdef TORCH_EXTENSION_NAME
#include <ATen/core/Generator.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>
#endif

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
using c10::TensorOptions;

class Tensor;
using TensorList = ArrayRef<Tensor>;
template <typename T, size_t N>
class TensorAccessor;

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

  int64_t dim() const {
    return impl_->dim();
  }
  int64_t ndimension() const {
    return dim();
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
  ScalarType dtype() const {
    return scalar_type();
  }
  size_t itemsize() const {
    return impl_->itemsize();
  }
  int64_t element_size() const {
    return static_cast<int64_t>(itemsize());
  }
  size_t nbytes() const {
    return static_cast<size_t>(numel()) * itemsize();
  }
  Device device() const {
    return impl_->device_;
  }
  bool is_cpu() const {
    return device().is_cpu();
  }
  bool is_cuda() const {
    return device().is_cuda();
  }
  bool is_meta() const {
    return device().is_meta();
  }
  int64_t get_device() const {
    return device().index();
  }
  // The options of a new tensor with this dtype and device.
  TensorOptions options() const {
    return TensorOptions(scalar_type()).device(device()).layout(c10::Layout::Strided);
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
  template <typename T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <typename T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  // Elements by their indexes (ATen/core/TensorAccessor.h). Raises RuntimeError for another dtype or number of
  // dimensions. The accessor borrows from the tensor, so a temporary has none.
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() const&;
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() const&& = delete;

  // Returns the value of a tensor with one element. Raises RuntimeError for any other tensor.
  Scalar item() const;
  template <typename T>
  T item() const {
    return item().to<T>();
  }
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;

  // See Note [Inference tensors].
  bool is_inference() const {
    return impl_->is_inference_;
  }
  bool requires_grad() const {
    return impl_->autograd_meta_ != nullptr && impl_->autograd_meta_->requires_grad();
  }

  // --- autograd, for extensions (csrc/autograd/variable_methods.cpp)
  const Tensor& set_requires_grad(bool requires_grad) const;
  const Tensor& requires_grad_(bool requires_grad = true) const {
    return set_requires_grad(requires_grad);
  }
  bool is_leaf() const;
  void retain_grad() const;
  // The gradient that backward() has accumulated; undefined if there is none.
  Tensor grad() const;
  Tensor& mutable_grad() const;
  // Returns a tensor with the same memory and without history: `x.data` of Python.
  Tensor data() const;
  // Computes the gradients of all leaves. `gradient` may be left out for a tensor with one element.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false) const;

#ifdef TORCH_EXTENSION_NAME
  Tensor operator[](int64_t index) const;
#include <ATen/core/TensorMethods.inc>
#endif

  intrusive_ptr<TensorImpl> impl_;

 private:
  void check_dtype(ScalarType expected) const;
};

} // namespace reftorch::at
