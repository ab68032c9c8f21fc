// Mirrors: aten/src/ATen/core/dispatch/Dispatcher.h
//
// Holds every op by its name, and for each op a table with one row for each DispatchKey. A call takes the union of the
// keys of its tensors, adds the keys that the thread includes, removes the keys that the thread excludes, and calls the
// kernel in the highest row that is left. OperatorEntry.h says how a row gets its kernel. Left out: listeners for new
// ops; kernels that outlive the definition of their op.
#pragma once

#include <ATen/core/dispatch/OperatorEntry.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Mutex.h>

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
  // Returns a handle for unboxed calls. Ret(Args...) must be the signature with which the kernels were registered.
  template <typename Sig>
  TypedOperatorHandle<Sig> typed() const;

  void callBoxed(Stack* stack) const;
  // Calls the kernel of the highest key in `keys`, from which the caller has removed the keys that it handled.
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const {
    lookup(keys)(*this, keys, stack);
  }

 protected:
  const TableRow& row_of(DispatchKeySet keys) const {
    return entry_->table[static_cast<int>(keys.highestPriorityTypeId())];
  }
  BoxedKernel lookup(DispatchKeySet keys) const {
    const BoxedKernel boxed = row_of(keys).boxed();
    if (__builtin_expect(boxed == nullptr, 0)) {
      reportMissingKernel(keys);
    }
    return boxed;
  }
  [[noreturn]] void reportMissingKernel(DispatchKeySet keys) const;
  [[noreturn]] void reportUndefinedResult() const;
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

// A call without tensors (a factory) uses the CPU backend.
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
    if (void* const unboxed = row_of(keys).unboxed()) {
      return reinterpret_cast<Ret (*)(Args...)>(unboxed)(std::forward<Args>(args)...);
    }
    return call_boxed(lookup(keys), keys, args...);
  }

 private:
  // A function of its own, so that call() needs no stack frame and ends in a jump to the unboxed kernel.
  __attribute__((noinline)) Ret call_boxed(BoxedKernel boxed, DispatchKeySet keys,
                                           std::remove_reference_t<Args>&... args) const {
    Stack stack;
    (stack.emplace_back(borrow(args)), ...);
    boxed(*this, keys, &stack);
    if constexpr (std::is_reference_v<Ret>) {
      return reference_to_written(args...); // the tensor that the op wrote to belongs to the caller
    } else {
      // A Python kernel, a `__torch_dispatch__` or a batching rule can return None for a tensor, which the C++ code
      // that calls the op would dereference. A caller in Python gets the None: see python_dispatch.cpp.
      for (const IValue& result : stack) {
        if (__builtin_expect(result.isNone(), 0)) {
          reportUndefinedResult();
        }
      }
      return impl::pop_result<Ret>::get(stack);
    }
  }

  // The caller holds the tensors to which the parameters refer; see Note [Borrowed arguments].
  static Borrowed borrow(const Tensor& t) {
    return Borrowed{t};
  }
  template <typename T>
  static const T& borrow(const T& value) {
    return value;
  }
  template <typename First, typename... Rest>
  static Ret reference_to_written(First& first, Rest&... rest) {
    if constexpr (std::is_same_v<First, Tensor>) {
      return first; // the tensor that is written to; `const Tensor&` parameters do not match
    } else {
      return reference_to_written(rest...);
    }
  }
};

template <typename Sig>
TypedOperatorHandle<Sig> OperatorHandle::typed() const {
  for (const TableRow& row : entry_->table) {
    TORCH_INTERNAL_ASSERT(row.unboxed() == nullptr || row.signature() == &signature_tag<std::add_pointer_t<Sig>>,
                          "typed<...>() called with another signature than the kernel's: ", entry_->schema.str());
  }
  return TypedOperatorHandle<Sig>(entry_);
}

class TORCH_API Dispatcher final {
 public:
  static Dispatcher& singleton();

  // Finds an op by "aten::add.Tensor" or "add.Tensor". findSchema returns null if there is none. findSchemaOrThrow
  // raises RuntimeError that lists the other overloads of the name.
  OperatorEntry* findSchema(const std::string& operator_name);
  OperatorHandle findSchemaOrThrow(const std::string& operator_name);
  const std::vector<std::unique_ptr<OperatorEntry>>& entries() const {
    return entries_;
  }

  OperatorEntry* registerDef(FunctionSchema schema, int variants, TagSet tags, std::string file, int line);
  // Removes the op and all its kernels from the registry. Handles to the op stay valid, but calling them raises
  // NotImplementedError.
  void deregisterDef(OperatorEntry* entry);
  // Registers a kernel. `key` may be an alias key, which fills several rows: see Note [How a row is filled]. Returns
  // the handle that deregisterImpl needs.
  using KernelHandle = std::list<AnnotatedKernel>::iterator;
  KernelHandle registerImpl(OperatorEntry* entry, c10::DispatchKey key, AnnotatedKernel kernel);
  // Removes a kernel. Does nothing if the op has been deregistered.
  void deregisterImpl(OperatorEntry* entry, c10::DispatchKey key, KernelHandle kernel);
  // Registers the kernel of `key` for every op that has no other kernel there, including ops that are defined later.
  void registerFallback(c10::DispatchKey key, AnnotatedKernel kernel);
  // Recomputes the rows of the ops that named the stub, after the stub got a new kernel.
  void stubChanged(const native::DispatchStubImpl* stub);
  std::string dumpComputedTable(const OperatorEntry& entry) const;
  // Returns the object in a row; null if there is none. See Note [Tables that change while they are read].
  std::shared_ptr<OperatorKernel> functor_of(const TableRow& row) const;
  const AnnotatedKernel& fallback(c10::DispatchKey key) const {
    return fallbacks_[static_cast<int>(key)];
  }

 private:
  Dispatcher() = default;
  OperatorEntry* find(const std::string& name) const; // the caller holds the mutex

  mutable c10::Mutex mutex_; // see Note [Tables that change while they are read]
  std::vector<std::unique_ptr<OperatorEntry>> entries_;
  std::unordered_map<std::string, OperatorEntry*> by_name_;
  std::unordered_map<const native::DispatchStubImpl*, std::vector<OperatorEntry*>> users_; // the ops that named a stub
  AnnotatedKernel fallbacks_[c10::kNumDispatchKeys];
};

// Returns the handle of the op that a function of at:: calls. Each function searches once. The search is a function of
// its own, so that it is not inlined into each of them (in PyTorch: create_add_Tensor_typed_handle and so on).
template <typename Sig>
__attribute__((noinline)) TypedOperatorHandle<Sig> create_typed_handle(const char* name) {
  return Dispatcher::singleton().findSchemaOrThrow(name).typed<Sig>();
}

} // namespace reftorch::at
