// Mirrors: aten/src/ATen/core/dispatch/OperatorEntry.h
//
// An op: its schema, the facts that were given at its registration, and its table of kernels.
//
// Note [How a row is filled]
// Problem: several registrations may provide a kernel for one row: one for the row's own key, one for an alias key that
// stands for many rows (CompositeExplicitAutograd), and a fallback that serves every op. They come in any order, and
// some are removed again. Trick: an op stores all its registrations (`kernels`, by key, the newest first), and its
// table is computed from them after every change (OperatorEntry::updateDispatchTable). A row gets the first of these
// kernels that exists:
//   1. the newest kernel registered for the row's own key, if its stubs serve the device (Note [Kernels per device]);
//   2. for the row of a backend, the kernel of CompositeExplicitAutograd;
//   3. the kernel of CompositeImplicitAutograd. The rows Autograd and FuncTorchDynamicLayerFrontMode get this kernel
//      only if the op has no kernel for a backend: the ops that it is made of are then recorded and transformed
//      instead of the op. The other rows above the backends never get it;
//   4. the fallback of the key.
// A call only reads the table, so these rules cost a call nothing.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/DispatchStubImpl.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/function_schema.h>

#include <atomic>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace reftorch::at {

// How Python reaches an op: as a function of the module, a method of Tensor, or a function of `_C._nn`, `_C._linalg` or
// `_C._special`. An op with none of these is for C++ code; Python reaches it in torch.ops only.
namespace variants {
constexpr int NONE = 0, FUNCTION = 1, METHOD = 2, NN = 4, LINALG = 8, SPECIAL = 16;
}

// The rows that belong to a device, with their devices.
struct Backend final {
  c10::DispatchKey key;
  c10::DeviceType device;
};
constexpr Backend kBackends[] = {{c10::DispatchKey::CPU, c10::DeviceType::CPU},
                                 {c10::DispatchKey::CUDA, c10::DeviceType::CUDA},
                                 {c10::DispatchKey::Meta, c10::DeviceType::Meta}};

using Stubs = std::vector<native::DispatchStubImpl*>;

// A kernel with the place of its registration.
struct AnnotatedKernel final {
  KernelFunction kernel;
  std::string function; // the text at the registration: "unary_float_op_out<exp_stub>"
  std::string file;
  int line = 0;
  Stubs stubs;                   // the kernel serves a device only while all of these stubs do
  const void* address = nullptr; // the address of the function, for debuggers; null for a kernel written in Python
};

// Note [Tables that change while they are read]
// Problem: Python may register a kernel, holding the GIL, while other threads call ops without the GIL. A lock would
// cost every call as much as a small kernel. Trick: a call reads a row without a lock, one pointer at a time:
// `unboxed`, and `boxed` if that is null. Each pointer is atomic and leads to a function that stays callable for ever,
// so it does not matter whether a call meets the former function or the new one, nor that `boxed` and `unboxed` may
// belong to different kernels for a moment. Only an object may go away. Its `boxed` is call_functor, which copies the
// object's shared_ptr under the Dispatcher's mutex, and looks at the row again if the object has been removed
// meanwhile. The same mutex guards everything else in the registry: the names, the registrations, and changes of rows.
class TableRow final {
 public:
  BoxedKernel boxed() const {
    return boxed_.load(std::memory_order_acquire);
  }
  void* unboxed() const {
    return unboxed_.load(std::memory_order_acquire);
  }
  const void* signature() const {
    return signature_.load(std::memory_order_acquire);
  }
  bool valid() const {
    return boxed() != nullptr;
  }
  // The caller of these two holds the mutex. `set` returns the former object, to be dropped after the mutex is
  // unlocked.
  const std::shared_ptr<OperatorKernel>& functor() const {
    return functor_;
  }
  std::shared_ptr<OperatorKernel> set(const KernelFunction& kernel) {
    std::shared_ptr<OperatorKernel> former = std::exchange(functor_, kernel.functor);
    unboxed_.store(nullptr, std::memory_order_release);
    boxed_.store(kernel.boxed, std::memory_order_release);
    if (kernel.unboxed != nullptr) { // all functions of an op have one signature
      signature_.store(kernel.signature, std::memory_order_release);
      unboxed_.store(kernel.unboxed, std::memory_order_release);
    }
    return former;
  }

 private:
  std::atomic<BoxedKernel> boxed_{nullptr};
  std::atomic<void*> unboxed_{nullptr};
  std::atomic<const void*> signature_{nullptr};
  std::shared_ptr<OperatorKernel> functor_;
};

using RetiredKernels = std::vector<std::shared_ptr<OperatorKernel>>;

struct TORCH_API OperatorEntry final {
  FunctionSchema schema;
  size_t index = 0; // the position in registration order, which indexes side tables (autograd's formulas)
  int variants = 0;
  TagSet tags;
  bool defined = true; // false after Dispatcher::deregisterDef; the entry itself lives as long as the process
  std::string file;    // where the op was defined, for debug.where_op
  int line = 0;
  TableRow table[c10::kNumDispatchKeys];
  // The registered kernels for each key, including alias keys, the newest first; see Note [How a row is filled].
  std::map<c10::DispatchKey, std::list<AnnotatedKernel>> kernels;

  bool hasTag(Tag tag) const {
    return tags.has(tag);
  }
  std::atomic<bool> is_composite{false}; // the op is made of other ops, which are recorded instead of it

  // Returns whether a kernel is registered for the key itself and serves its device. Fallbacks and alias keys do not
  // count.
  bool hasKernelForDispatchKey(c10::DispatchKey key) const;
  // Returns the kernel that fills the row; null if a fallback fills it or if it is empty.
  const AnnotatedKernel* kernelOfRow(c10::DispatchKey row) const;
  // Recomputes the table. `fallbacks` has an element for each row. Moves the objects that are no longer in the table to
  // `retired`.
  void updateDispatchTable(const AnnotatedKernel* fallbacks, RetiredKernels& retired);

  // Returns the table as text, one line for each row: "CPU: registered at UnaryOps.cpp:120 [kernel]", followed by lines
  // with the kernels of the stubs for the device.
  std::string dumpComputedTable(const AnnotatedKernel* fallbacks) const;
  // Returns the registrations as text, in the order of the keys. A kernel that is hidden by another one is marked
  // "(inactive)".
  std::string dumpState() const;

  // Derived once from the schema, for the fallbacks and the Python binding.
  SmallVector<uint8_t, 8>
      tensor_args; // the positions of arguments that determine keys: tensors, lists of tensors, devices
  OperatorEntry* functional = nullptr; // for `add_` and `add.out`, the entry of `add`
  OperatorEntry* inplace = nullptr;
  OperatorEntry* out = nullptr;
  OperatorEntry* alias_of = nullptr; // for `absolute`, the entry of `abs`, which is called instead
};

} // namespace reftorch::at
