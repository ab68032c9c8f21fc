// Mirrors: c10/core/TensorImpl.h, c10/core/impl/SizesAndStrides.h
//
// A tensor: a storage, the geometry with which the storage is read, a dtype, a version, and its place in the autograd
// graph (behind an interface). Left out: named, sparse and symbolic tensors; custom size policies; weak references.
#pragma once

#include <c10/macros/Export.h>

#include <c10/core/DispatchKeySet.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/LazyPtr.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <memory>

// CPython's object type. The declaration gives the field pyobj_ its type without a Python header.
struct _object;
using PyObject = _object;

namespace reftorch::at {
class Tensor;
}

namespace reftorch::c10 {

// The questions that the core asks of a tensor's autograd metadata. The metadata itself is in csrc/autograd/variable.h.
struct C10_API AutogradMetaInterface : SmallObject {
  virtual ~AutogradMetaInterface() = default;
  virtual void set_requires_grad(bool requires_grad, at::Tensor& self) = 0;
  virtual bool requires_grad() const = 0;
  virtual at::Tensor& mutable_grad() = 0;
  virtual const at::Tensor& grad() const = 0;
};

// Note [Version counter]
// Problem: a node that saved a tensor for backward must not use the tensor after an in-place op changed its values, and
// a view must notice that its base was changed. Trick: every in-place op adds one to a counter. A tensor shares the
// counter with all its views and with the result of `detach()`, but not with `.data`. A SavedVariable remembers the
// count and refuses to unpack when the count differs. The counter is made when it is first shared or increased, so most
// tensors never pay for one; a tensor without a counter has version 0. Several threads may take the first views of a
// tensor at once: the counter that is stored first stays, and the others are dropped, so that all views share one
// counter.
class VariableVersion final {
  struct VersionCounter final : public intrusive_ptr_target {
    std::atomic<uint32_t> version_{0};
  };
  using CounterPtr = intrusive_ptr<VersionCounter>;

 public:
  VariableVersion() = default;
  VariableVersion(const VariableVersion&) = delete;
  ~VariableVersion() {
    CounterPtr::reclaim(counter_.load(std::memory_order_relaxed));
  }

  uint32_t current_version() const {
    const VersionCounter* counter = counter_.load(std::memory_order_acquire);
    return counter != nullptr ? counter->version_.load() : 0;
  }
  void bump() {
    counter().version_++;
  }
  // Sets the version, for callers that have undone a change or vouch for it: see _unsafe_set_version_counter.
  void set_version(uint32_t version) {
    counter().version_ = version;
  }
  // Makes this tensor share the counter of `other`. No other thread may have seen this tensor yet.
  void share_with(VariableVersion& other) {
    CounterPtr shared = CounterPtr::unsafe_reclaim_from_nonowning(&other.counter());
    CounterPtr::reclaim(counter_.load(std::memory_order_relaxed));
    counter_.store(shared.release(), std::memory_order_release);
  }

 private:
  VersionCounter& counter() {
    VersionCounter* counter = counter_.load(std::memory_order_acquire);
    return counter != nullptr ? *counter : make_counter();
  }
  VersionCounter& make_counter() {
    CounterPtr fresh = make_intrusive<VersionCounter>();
    VersionCounter* former = nullptr;
    const bool is_first = counter_.compare_exchange_strong(former, fresh.get(), std::memory_order_acq_rel);
    return is_first ? *fresh.release() : *former;
  }

  std::atomic<VersionCounter*> counter_{nullptr}; // owns one reference
};

// The sizes and strides of a tensor in one array. Up to five dimensions need no allocation.
class SizesAndStrides final {
 public:
  size_t size() const {
    return values_.size() / 2;
  }
  IntArrayRef sizes() const {
    return IntArrayRef(values_.data(), size());
  }
  IntArrayRef strides() const {
    return IntArrayRef(values_.data() + size(), size());
  }
  void set(IntArrayRef sizes, IntArrayRef strides) {
    // The arguments may point into values_, so the new array is built before the old one is freed.
    SmallVector<int64_t, 10> fresh(sizes);
    fresh.append(strides.begin(), strides.end());
    values_ = std::move(fresh);
  }
  // Sets sizes with row-major strides. `sizes` may point into values_.
  void set_contiguous(IntArrayRef sizes) {
    const size_t n = sizes.size();
    SmallVector<int64_t, 10> fresh(2 * n, 1);
    std::copy(sizes.begin(), sizes.end(), fresh.begin());
    for (size_t i = n; i-- > 1;) {
      fresh[n + i - 1] = fresh[n + i] * std::max<int64_t>(fresh[i], 1);
    }
    values_ = std::move(fresh);
  }

 private:
  SmallVector<int64_t, 10> values_;
};

struct C10_API TensorImpl : public intrusive_ptr_target {
  TensorImpl(Storage storage, DispatchKeySet key_set, ScalarType data_type)
      : storage_(std::move(storage)),
        data_type_(data_type),
        device_(storage_.device()),
        key_set_(key_set),
        is_inference_(InferenceMode::is_enabled()) {}

  IntArrayRef sizes() const {
    return sizes_and_strides_.sizes();
  }
  IntArrayRef strides() const {
    return sizes_and_strides_.strides();
  }
  int64_t dim() const {
    return static_cast<int64_t>(sizes_and_strides_.size());
  }
  int64_t numel() const {
    return numel_;
  }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return format == MemoryFormat::ChannelsLast ? is_channels_last_contiguous() : is_contiguous_;
  }
  // Whether the elements fill one block of memory, each position exactly once, in any order of dimensions.
  bool is_non_overlapping_and_dense() const;

  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset);
  void set_sizes_contiguous(IntArrayRef sizes);

  // Returns the address of the first element; null for a tensor without elements.
  void* mutable_data() const {
    constexpr DispatchKeySet wrappers =
        DispatchKeySet(DispatchKey::FuncTorchDynamicLayerFrontMode) | DispatchKey::Python;
    if (__builtin_expect(!(key_set_ & wrappers).empty(), 0)) {
      check_memory();
    }
    if (__builtin_expect(storage_.storage_impl_->shrunk_, 0)) {
      check_elements_in_storage();
    }
    // The sum is computed on integers, because the storage of a meta tensor has a null pointer, and adding an offset to
    // a null pointer is undefined in C++.
    const auto first = reinterpret_cast<uintptr_t>(storage_.mutable_data()) + storage_offset_ * itemsize();
    return numel_ == 0 ? nullptr : reinterpret_cast<void*>(first);
  }
  size_t itemsize() const {
    return elementSize(data_type_);
  }

  // Adds one to the version. Does nothing for an inference tensor, which has no version.
  void bump_version() {
    if (!is_inference_) {
      version_counter_.bump();
    }
  }
  // Returns a tensor with this storage and geometry, and without autograd metadata. With `allow_version_sharing` the
  // copy shares the version counter (`detach()`); without it the copy has its own (`.data`). If the Python key is
  // active, __torch_dispatch__ makes the copy.
  virtual intrusive_ptr<TensorImpl> shallow_copy_and_detach(bool allow_version_sharing);

  Storage storage_;
  LazyPtr<AutogradMetaInterface> autograd_meta_;
  VariableVersion version_counter_;
  SizesAndStrides sizes_and_strides_;
  int64_t storage_offset_ = 0; // in elements
  int64_t numel_ = 1;
  ScalarType data_type_;
  Device device_;
  DispatchKeySet key_set_;
  bool is_contiguous_ = true;
  bool is_wrapped_number_ = false; // made from a Python number, which has low priority in type promotion
  bool is_inference_;              // see Note [Inference tensors]

  // The Python object that stands for this tensor, or null if there is none. The caller holds the GIL. See
  // Note [One PyObject per TensorImpl].
  PyObject* pyobj() const {
    return pyobj_;
  }
  // Makes `obj` the Python object of this tensor. The reference that the caller holds belongs to the object from now
  // on.
  void set_pyobj(PyObject* obj);
  // Separates the tensor from its Python object. Returns the number of references to the tensor. If there are several,
  // C++ owned a reference to the Python object, and that reference now belongs to the caller.
  size_t clear_pyobj();

 private:
  void incref_pyobject() const noexcept override;
  void decref_pyobject() const noexcept override;
  bool is_channels_last_contiguous() const;
  // Raises RuntimeError for a wrapper, which stands for other tensors and has no memory.
  void check_memory() const;
  // Raises RuntimeError if the storage was made smaller and no longer holds all elements.
  void check_elements_in_storage() const;

  PyObject* pyobj_ = nullptr;
};

// Functions that change the reference count of a Python object, on a thread that may not hold the GIL.
// csrc/autograd/python_variable.cpp sets both, so that c10 needs no Python.
struct PyObjectHooks {
  void (*incref)(PyObject* obj) = nullptr;
  void (*decref)(PyObject* obj) = nullptr;
};
C10_API extern PyObjectHooks pyobject_hooks;

// Returns aten::detach(self) as computed by __torch_dispatch__; see Note [The Python key].
// csrc/python_torch_dispatch.cpp sets the pointer.
C10_API extern intrusive_ptr<TensorImpl> (*python_detach_hook)(TensorImpl* self);

} // namespace reftorch::c10
