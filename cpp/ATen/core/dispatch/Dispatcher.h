// Mirrors: aten/src/ATen/core/dispatch/Dispatcher.h
//
// Every op by name, and for each op a table with one row per DispatchKey. A call takes the union of its tensors' keys,
// drops what this thread excludes, and goes to the highest row that is left. How a row comes by its kernel is told in
// OperatorEntry.h. Left out: listeners that are told of new ops; kernels that outlive the
// definition of their op.
#pragma once

#include <ATen/core/dispatch/OperatorEntry.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <memory>
#include <unordered_map>

namespace reftorch::at {

template <typename Sig>
class TypedOperatorHandle;

class TORCH_API OperatorHandle {
 public:
  explicit OperatorHandle(OperatorEntry* entry) : entry_(entry) {}

  const FunctionSchema& schema() const {
    return entry_->schema;
  }
  OperatorEntry& entry() const {
    return *entry_;
  }
  // Ret(Args...) must be the signature the kernels were registered with.
  template <typename Sig>
  TypedOperatorHandle<Sig> typed() const;

  void callBoxed(Stack* stack) const;
  // Goes on below the keys that the caller has handled.
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const {
    lookup(keys).boxed(*this, keys, stack);
  }

 protected:
  const KernelFunction& lookup(DispatchKeySet keys) const {
    const KernelFunction& kernel = entry_->table[static_cast<int>(keys.highestPriorityTypeId())];
    if (__builtin_expect(!kernel.valid(), 0)) {
      reportMissingKernel(keys);
    }
    return kernel;
  }
  [[noreturn]] void reportMissingKernel(DispatchKeySet keys) const;
  OperatorEntry* entry_;
};

namespace impl {

inline DispatchKeySet keys_of(const Tensor& t) {
  return t.defined() ? t.key_set() : DispatchKeySet();
}
inline DispatchKeySet keys_of(const std::optional<Tensor>& t) {
  return t.has_value() ? keys_of(*t) : DispatchKeySet();
}
inline DispatchKeySet keys_of(TensorList list) {
  DispatchKeySet keys;
  for (const Tensor& t : list) {
    keys = keys | keys_of(t);
  }
  return keys;
}
inline DispatchKeySet keys_of(Device device) {
  return c10::computeDispatchKey(device.type());
}
inline DispatchKeySet keys_of(const std::optional<Device>& device) {
  return device.has_value() ? keys_of(*device) : DispatchKeySet();
}
template <typename T>
DispatchKeySet keys_of(const T&) {
  return DispatchKeySet();
}

// Without a tensor (a factory) the op belongs to the CPU backend.
inline DispatchKeySet effective_keys(DispatchKeySet keys) {
  if (keys.empty()) {
    keys = c10::DispatchKey::CPU;
  }
  const c10::impl::LocalDispatchKeySet& local = c10::impl::tls_local_dispatch_key_set;
  return (keys | local.included_) - local.excluded_;
}

TORCH_API DispatchKeySet keys_of_stack(const OperatorEntry& entry, const Stack& stack);

} // namespace impl

template <typename Ret, typename... Args>
class TypedOperatorHandle<Ret(Args...)> final : public OperatorHandle {
 public:
  explicit TypedOperatorHandle(OperatorEntry* entry) : OperatorHandle(entry) {}

  Ret call(Args... args) const {
    const DispatchKeySet keys = impl::effective_keys((DispatchKeySet() | ... | impl::keys_of(args)));
    const KernelFunction& kernel = lookup(keys);
    if (kernel.unboxed != nullptr) {
      return reinterpret_cast<Ret (*)(Args...)>(kernel.unboxed)(std::forward<Args>(args)...);
    }
    Stack stack;
    (stack.emplace_back(args), ...);
    kernel.boxed(*this, keys, &stack);
    if constexpr (std::is_reference_v<Ret>) {
      return reference_to_written(args...); // the tensor the op wrote to is the caller's own
    } else {
      return impl::pop_result<Ret>::get(stack);
    }
  }

 private:
  template <typename First, typename... Rest>
  static Ret reference_to_written(First& first, Rest&... rest) {
    if constexpr (std::is_same_v<First, Tensor>) {
      return first; // in-place: self. `const Tensor&` parameters do not match.
    } else {
      return reference_to_written(rest...);
    }
  }
};

template <typename Sig>
TypedOperatorHandle<Sig> OperatorHandle::typed() const {
  for (const KernelFunction& kernel : entry_->table) {
    TORCH_INTERNAL_ASSERT(kernel.unboxed == nullptr || kernel.signature == &signature_tag<std::add_pointer_t<Sig>>,
                          "typed<...>() called with another signature than the kernel's: ", entry_->schema.str());
  }
  return TypedOperatorHandle<Sig>(entry_);
}

class TORCH_API Dispatcher final {
 public:
  static Dispatcher& singleton();

  // "aten::add.Tensor" or "add.Tensor". The throwing form names the nearest registered names.
  OperatorEntry* findSchema(const std::string& operator_name);
  OperatorHandle findSchemaOrThrow(const std::string& operator_name);
  const std::vector<std::unique_ptr<OperatorEntry>>& entries() const {
    return entries_;
  }

  OperatorEntry* registerDef(FunctionSchema schema, int variants, TagSet tags, std::string file, int line);
  // Takes the op out of the registry, with all its kernels. Handles to the op stay valid; their calls raise
  // NotImplementedError.
  void deregisterDef(OperatorEntry* entry);
  // `key` may be an alias, which stands for several rows: see Note [How a row is filled]. Returns what deregisterImpl
  // asks for.
  using KernelHandle = std::list<AnnotatedKernel>::iterator;
  KernelHandle registerImpl(OperatorEntry* entry, c10::DispatchKey key, AnnotatedKernel kernel);
  // Nothing where the op has been taken out meanwhile.
  void deregisterImpl(OperatorEntry* entry, c10::DispatchKey key, KernelHandle kernel);
  // The kernel of `key` for every op that has no other, present and future.
  void registerFallback(c10::DispatchKey key, AnnotatedKernel kernel);
  // Fills the rows of the ops that named the stub, which has a new kernel.
  void stubChanged(const native::DispatchStubImpl* stub);
  std::string dumpComputedTable(const OperatorEntry& entry) const {
    return entry.dumpComputedTable(fallbacks_);
  }
  const AnnotatedKernel& fallback(c10::DispatchKey key) const {
    return fallbacks_[static_cast<int>(key)];
  }

 private:
  Dispatcher() = default;

  std::vector<std::unique_ptr<OperatorEntry>> entries_;
  std::unordered_map<std::string, OperatorEntry*> by_name_;
  std::unordered_map<const native::DispatchStubImpl*, std::vector<OperatorEntry*>> users_; // the ops that named a stub
  AnnotatedKernel fallbacks_[c10::kNumDispatchKeys];
};

} // namespace reftorch::at
