// Mirrors: aten/src/ATen/core/dispatch/OperatorEntry.h
//
// One op: its schema, the facts that were given where it was registered, and its table of kernels.
//
// Note [How a row is filled]
// Problem: a row may be asked for by several registrations: one for the row itself, one for an alias that stands for
// many rows (CompositeExplicitAutograd), and a fallback that serves every op. They arrive in any order, and some leave.
// Trick: an op keeps what was registered (`kernels`, by key, the newest first), and its table is computed from that
// whenever something changes (OperatorEntry::updateDispatchTable). A row takes the first of these that there is:
//   1. the newest kernel registered for the row's own key, if its stubs serve the device (Note [Kernels per device]);
//   2. for a backend's row, the kernel of CompositeExplicitAutograd;
//   3. the kernel of CompositeImplicitAutograd; for the rows above the backends only where the op has nothing for a
//      backend, because the ops that it is made of are recorded and transformed in its place;
//   4. the fallback of the key.
// A call reads the table only, so it costs nothing more.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/DispatchStubImpl.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/function_schema.h>

#include <list>
#include <map>
#include <string>
#include <vector>

namespace reftorch::at {

// How Python reaches an op: a function of the module, a method of Tensor, a function of `_C._nn` or `_C._linalg`.
namespace variants {
constexpr int FUNCTION = 1, METHOD = 2, NN = 4, LINALG = 8;
}

// The rows that belong to a device, and the device of each.
struct Backend final {
  c10::DispatchKey key;
  c10::DeviceType device;
};
constexpr Backend kBackends[] = {{c10::DispatchKey::CPU, c10::DeviceType::CPU},
                                 {c10::DispatchKey::CUDA, c10::DeviceType::CUDA},
                                 {c10::DispatchKey::Meta, c10::DeviceType::Meta}};

using Stubs = std::vector<native::DispatchStubImpl*>;

// A kernel as it was registered: what serves the row, and where in the source it was said to.
struct AnnotatedKernel final {
  KernelFunction kernel;
  std::string function; // as the registration writes it: "unary_float_op_out<exp_stub>"
  std::string file;
  int line = 0;
  Stubs stubs;                   // the kernel serves a device only while all of these do
  const void* address = nullptr; // of the function, for debuggers; null for a kernel that is written in Python
};

struct TORCH_API OperatorEntry final {
  FunctionSchema schema;
  size_t index = 0; // position in registration order: the key of side tables (autograd's formulas)
  int variants = 0;
  TagSet tags;
  bool defined = true; // false after Dispatcher::deregisterDef; the entry itself lives as long as the process
  std::string file;    // where the op was defined, for the learner and for debug.where_op
  int line = 0;
  KernelFunction table[c10::kNumDispatchKeys];
  // What was registered for each key, aliases included, the newest first; see Note [How a row is filled].
  std::map<c10::DispatchKey, std::list<AnnotatedKernel>> kernels;

  bool hasTag(Tag tag) const {
    return tags.has(tag);
  }
  bool is_composite = false; // the op is made of other ops that are recorded in its place

  // Whether something was registered for the key itself, and serves its device. A fallback or an alias does not count.
  bool hasKernelForDispatchKey(c10::DispatchKey key) const;
  // What fills the row; null where a fallback does, or nothing.
  const AnnotatedKernel* kernelOfRow(c10::DispatchKey row) const;
  // Computes the table anew. `fallbacks` has an element per row.
  void updateDispatchTable(const AnnotatedKernel* fallbacks);

  // The table for a reader, a row to a line: "CPU: registered at UnaryOps.cpp:120 [kernel]", and below it the stubs'
  // kernels for the device.
  std::string dumpComputedTable(const AnnotatedKernel* fallbacks) const;
  // What was registered, in the order of the keys; a kernel that another one hides is marked "(inactive)".
  std::string dumpState() const;

  // Derived from the schema once, for the fallback and the binding.
  SmallVector<uint8_t, 8> tensor_args; // positions of arguments that hold tensors
  OperatorEntry* functional = nullptr; // for `add_` and `add.out`: the entry of `add`
  OperatorEntry* inplace = nullptr;
  OperatorEntry* out = nullptr;
  OperatorEntry* alias_of = nullptr; // for `absolute`: the entry of `abs`, which is called in its place
};

} // namespace reftorch::at
