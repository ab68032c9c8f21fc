// Mirrors: c10/core/TensorImpl.h, c10/core/impl/SizesAndStrides.h
// What a tensor is: a storage, the geometry with which it is read, a dtype, a version, and (behind an interface) its
// place in the graph. Left out: named, sparse, symbolic and meta tensors; custom size policies; weak references.
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

// CPython's object, named here so that the field has its type; no Python header is needed to hold a pointer.
struct _object;
using PyObject = _object;

namespace reftorch::at {
class Tensor;
}

namespace reftorch::c10 {

// What the core knows of autograd: enough to ask, nothing of how it is kept (csrc/autograd/variable.h has that).
struct C10_API AutogradMetaInterface : SmallObject {
  virtual ~AutogradMetaInterface() = default;
  virtual void set_requires_grad(bool requires_grad, at::Tensor& self) = 0;
  virtual bool requires_grad() const = 0;
  virtual at::Tensor& mutable_grad() = 0;
  virtual const at::Tensor& grad() const = 0;
};

// Note [Version counter]
// Problem: a node that saved a tensor for backward must not use it after an in-place op changed its values; and a view
// must notice that its base was changed. Trick: every in-place op adds one to a counter that a tensor shares with all
// its views (and with `detach()`, not with `.data`). A SavedVariable remembers the count and refuses to unpack when it
// differs. The counter is made when it is first shared or bumped, so that most tensors never pay for one; a missing
// counter reads as 0. Several threads may take the first views of a tensor at once: the counter that is stored first
// counts, and the others are dropped, so that all views share one.
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
  // For code that takes changes back, or answers for them: see _unsafe_set_version_counter.
  void set_version(uint32_t version) {
    counter().version_ = version;
  }
  // Makes this tensor, which no other thread has seen, share the counter of `other`.
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

  std::atomic<VersionCounter*> counter_{nullptr}; // owned: one count of the target is ours
};

// Sizes and strides side by side; five dimensions or fewer need no allocation.
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
    // Both may point into values_: build the new pair before the old one goes.
    SmallVector<int64_t, 10> fresh(sizes);
    fresh.append(strides.begin(), strides.end());
    values_ = std::move(fresh);
  }
  // Row-major strides. `sizes` may point into values_.
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
  // Elements fill one block of memory, in whatever order, each exactly once.
  bool is_non_overlapping_and_dense() const;

  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset);
  void set_sizes_contiguous(IntArrayRef sizes);

  // The first element; null for a tensor without elements.
  void* mutable_data() const {
    constexpr DispatchKeySet wrappers =
        DispatchKeySet(DispatchKey::FuncTorchDynamicLayerFrontMode) | DispatchKey::Python;
    if (__builtin_expect(!(key_set_ & wrappers).empty(), 0)) {
      check_memory();
    }
    if (__builtin_expect(storage_.storage_impl_->shrunk_, 0)) {
      check_elements_in_storage();
    }
    // Integer arithmetic: a meta tensor's storage has a null pointer, to which C++ does not let us add an offset.
    const auto first = reinterpret_cast<uintptr_t>(storage_.mutable_data()) + storage_offset_ * itemsize();
    return numel_ == 0 ? nullptr : reinterpret_cast<void*>(first);
  }
  size_t itemsize() const {
    return elementSize(data_type_);
  }

  // Nothing to do for an inference tensor: it has no version.
  void bump_version() {
    if (!is_inference_) {
      version_counter_.bump();
    }
  }
  // Same storage and geometry, no autograd metadata. `allow_version_sharing` false gives `.data`'s independent counter.
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
  bool is_wrapped_number_ = false; // came from a Python number: takes part in type promotion with low priority
  bool is_inference_;              // see Note [Inference tensors]

  // The Python object that stands for this tensor; null while there is none. Needs the GIL.
  // See Note [One PyObject per TensorImpl].
  PyObject* pyobj() const {
    return pyobj_;
  }
  // Makes `obj` the Python object of this tensor. The caller's count is the object's from now on.
  void set_pyobj(PyObject* obj);
  // Parts the tensor from its Python object. Returns the number of counts: if there are several, C++ owned a reference
  // to the object, which is the caller's now.
  size_t clear_pyobj();

 private:
  void incref_pyobject() const noexcept override;
  void decref_pyobject() const noexcept override;
  bool is_channels_last_contiguous() const;
  // Throws RuntimeError for a wrapper, which stands for other tensors.
  void check_memory() const;
  // Throws RuntimeError if the storage was made smaller and no longer holds all elements.
  void check_elements_in_storage() const;

  PyObject* pyobj_ = nullptr;
};

// How to count the references of a Python object, on a thread that may not hold the GIL. csrc/autograd/
// python_variable.cpp sets both, so that c10 needs no Python.
struct PyObjectHooks {
  void (*incref)(PyObject* obj) = nullptr;
  void (*decref)(PyObject* obj) = nullptr;
};
C10_API extern PyObjectHooks pyobject_hooks;

// Returns aten::detach of the tensor as Python answers it; see Note [The Python key]. Set by
// csrc/python_torch_dispatch.cpp.
C10_API extern intrusive_ptr<TensorImpl> (*python_detach_hook)(TensorImpl* self);

} // namespace reftorch::c10
