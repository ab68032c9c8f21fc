// Mirrors: c10/core/TensorImpl.cpp
#include <c10/core/TensorImpl.h>

#include <c10/core/Geometry.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace reftorch::c10 {

PyObjectHooks pyobject_hooks;
intrusive_ptr<TensorImpl> (*python_detach_hook)(TensorImpl* self) = nullptr;

void TensorImpl::set_pyobj(PyObject* obj) {
  pyobj_ = obj;
  if (add_pyobject() > 1) {
    incref_pyobject();
  }
}

size_t TensorImpl::clear_pyobj() {
  const size_t count = remove_pyobject();
  pyobj_ = nullptr;
  return count;
}

void TensorImpl::incref_pyobject() const noexcept {
  pyobject_hooks.incref(pyobj_);
}

void TensorImpl::decref_pyobject() const noexcept {
  pyobject_hooks.decref(pyobj_);
}

static bool compute_contiguous(IntArrayRef sizes, IntArrayRef strides, int64_t numel) {
  if (numel == 0) {
    return true;
  }
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1) {
      if (strides[i] != expected) {
        return false;
      }
      expected *= sizes[i];
    }
  }
  return true;
}

static int64_t checked_numel(IntArrayRef sizes) {
  int64_t numel = 1;
  for (int64_t size : sizes) {
    TORCH_CHECK(!__builtin_mul_overflow(numel, size, &numel),
                "numel: integer multiplication overflow for a tensor of sizes ", sizes);
  }
  return numel;
}

void TensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
  TORCH_CHECK(sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
              ") must match dimensionality of strides (", strides.size(), ")");
  const int64_t numel = checked_numel(sizes);
  sizes_and_strides_.set(sizes, strides);
  storage_offset_ = storage_offset;
  numel_ = numel;
  is_contiguous_ = compute_contiguous(this->sizes(), this->strides(), numel);
}

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes) {
  // Checks the strides for overflow. If a size is 0, numel is 0, but a stride is still the product of the sizes after
  // it, with a size of 0 counted as 1.
  int64_t largest_stride = 1;
  for (int64_t size : sizes) {
    TORCH_CHECK(!__builtin_mul_overflow(largest_stride, std::max<int64_t>(size, 1), &largest_stride),
                "numel: integer multiplication overflow for a tensor of sizes ", sizes);
  }
  numel_ = checked_numel(sizes);
  sizes_and_strides_.set_contiguous(sizes);
  storage_offset_ = 0;
  is_contiguous_ = true;
}

bool TensorImpl::is_non_overlapping_and_dense() const {
  if (is_contiguous_) {
    return true;
  }
  DimVector order;
  for (int64_t i = 0; i < dim(); i++) {
    if (sizes()[i] != 1) {
      order.push_back(i);
    }
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides()[a] < strides()[b]; });
  int64_t expected = 1;
  for (int64_t i : order) {
    if (strides()[i] != expected) {
      return false;
    }
    expected *= sizes()[i];
  }
  return true;
}

// The wrapper of a function transform (ATen/functorch/TensorWrapper.h) has no memory. A tensor with the Python key has
// memory unless Tensor._make_wrapper_subclass made the tensor.
void TensorImpl::check_memory() const {
  const bool wrapper = key_set_.has(DispatchKey::FuncTorchDynamicLayerFrontMode);
  const bool has_memory = storage_.mutable_data() != nullptr || numel_ == 0 || key_set_.has(DispatchKey::Meta);
  TORCH_CHECK(!wrapper && has_memory,
              "Cannot access data pointer of Tensor that doesn't have storage. Hint: under vmap, grad or jvp, and in a "
              "class with __torch_dispatch__, a tensor stands for others; only ops can be called on it.");
}

void TensorImpl::check_elements_in_storage() const {
  check_geometry(sizes(), strides(), storage_offset_, itemsize(), storage_);
}

bool TensorImpl::is_channels_last_contiguous() const {
  if (dim() != 4) {
    return false;
  }
  int64_t expected = 1;
  for (int64_t d : {1, 3, 2, 0}) {
    if (sizes()[d] != 1) {
      if (strides()[d] != expected) {
        return false;
      }
      expected *= sizes()[d];
    }
  }
  return true;
}

intrusive_ptr<TensorImpl> TensorImpl::shallow_copy_and_detach(bool allow_version_sharing) {
  const impl::LocalDispatchKeySet& local = impl::tls_local_dispatch_key_set;
  if (((key_set_ | local.included_) - local.excluded_).has(DispatchKey::Python)) {
    intrusive_ptr<TensorImpl> copy = python_detach_hook(this); // the mode, or the tensor's class, makes the copy
    if (allow_version_sharing && !copy->is_inference_) {
      copy->version_counter_.share_with(version_counter_);
    }
    return copy;
  }
  // The copy has no Python object and therefore no Python key, which belongs to the object's class.
  auto copy = make_intrusive<TensorImpl>(storage_, key_set_ - DispatchKey::Python, data_type_);
  copy->sizes_and_strides_ = sizes_and_strides_;
  copy->storage_offset_ = storage_offset_;
  copy->numel_ = numel_;
  copy->is_contiguous_ = is_contiguous_;
  copy->is_wrapped_number_ = is_wrapped_number_;
  copy->is_inference_ = is_inference_;
  if (allow_version_sharing) {
    copy->version_counter_.share_with(version_counter_);
  }
  return copy;
}

} // namespace reftorch::c10
