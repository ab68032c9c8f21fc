// Mirrors: aten/src/ATen/native/Resize.cpp
//
// Left out: memory formats.
#include <ATen/Resize.h>

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/TensorUtils.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Geometry.h>

namespace reftorch::at {

void maybe_resize_storage(c10::StorageImpl* storage, size_t new_size_bytes) {
  if (new_size_bytes <= storage->size_bytes_) {
    return;
  }
  TORCH_CHECK(storage->resizable_,
              "Trying to resize storage that is not resizable: the memory belongs to another library (numpy). ",
              "Hint: clone() the tensor first.");
  const c10::OptionalDeviceGuard guard(storage->data_ptr_.device()); // the allocator allocates on the current device
  c10::DataPtr fresh = storage->allocator_->allocate(new_size_bytes);
  if (storage->size_bytes_ > 0) {
    storage->allocator_->copy_data(fresh.get(), storage->data_ptr_.get(), storage->size_bytes_);
  }
  storage->data_ptr_ = std::move(fresh);
  storage->size_bytes_ = new_size_bytes;
}

const Tensor& resize_(const Tensor& self, IntArrayRef size) {
  TensorImpl* impl = self.unsafeGetTensorImpl();
  if (impl->sizes() == size) {
    return self;
  }
  for (int64_t s : size) {
    TORCH_CHECK(s >= 0, "Trying to create tensor with negative dimension ", s, ": ", size);
  }
  // The storage grows first, so that an error leaves the tensor with a geometry that fits its storage.
  const DimVector strides = detail::contiguous_strides(size);
  const int64_t offset = impl->storage_offset_;
  const auto old_bytes = static_cast<int64_t>(impl->storage_.storage_impl_->size_bytes_);
  maybe_resize_storage(impl->storage_.storage_impl_.get(),
                       c10::check_geometry(size, strides, offset, impl->itemsize()));
  impl->set_sizes_and_strides(size, strides, offset);
  detail::fill_uninitialized(self, old_bytes);
  return self;
}

bool resize_output(const Tensor& output, IntArrayRef shape) {
  if (output.sizes() == shape) {
    return false;
  }
  if (output.numel() != 0) {
    TORCH_WARN("An output with one or more elements was resized since it had shape ", output.sizes(),
               ", which does not match the required output shape ", shape,
               ". This behavior is deprecated: outputs will not be resized unless they have no elements. Hint: "
               "out.resize_(0) before the call says that the resize is meant.");
  }
  resize_(output, shape);
  return true;
}

} // namespace reftorch::at
