// Mirrors: aten/src/ATen/core/dispatch/Dispatcher.cpp
#include <ATen/core/dispatch/Dispatcher.h>

#include <mutex>

namespace reftorch::at {

using c10::DispatchKey;

namespace impl {

DispatchKeySet keys_of_stack(const OperatorEntry& entry, const Stack& stack) {
  const IValue* args = last(stack, entry.schema.arguments.size());
  DispatchKeySet keys;
  for (uint8_t i : entry.tensor_args) {
    const IValue& arg = args[i];
    if (arg.isTensor()) {
      keys = keys | arg.toTensor().key_set();
    } else if (arg.isTensorList()) {
      keys = keys | keys_of(TensorList(arg.toTensorVector()));
    } else if (arg.tag() == IValue::Tag::Device) {
      keys = keys | keys_of(arg.toDevice());
    }
  }
  return keys;
}

} // namespace impl

void OperatorHandle::callBoxed(Stack* stack) const {
  const DispatchKeySet keys = impl::effective_keys(impl::keys_of_stack(*entry_, *stack));
  lookup(keys)(*this, keys, stack);
}

void OperatorHandle::reportMissingKernel(DispatchKeySet keys) const {
  std::string available;
  for (int k = 1; k < c10::kNumDispatchKeys; k++) {
    if (entry_->table[k].valid() && static_cast<DispatchKey>(k) != DispatchKey::Profiler) {
      available += (available.empty() ? "" : ", ") + std::string(toString(static_cast<DispatchKey>(k)));
    }
  }
  const std::string name = schema().operator_name();
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Could not run '", name, "' with arguments from the '", keys.highestPriorityTypeId(),
      "' backend. This could be because the operator doesn't exist for this backend, or was omitted during the "
      "selective/custom build process (if using custom build). '",
      name, "' is only available for these backends: [", available, "].\n\n",
      Dispatcher::singleton().dumpComputedTable(*entry_));
}

void OperatorHandle::reportUndefinedResult() const {
  TORCH_CHECK(false, schema().operator_name(), ": expected the result ", schema().returns[0].type_str(),
              ", but got None (an undefined tensor). Hint: the op was called by other code of the library, which uses "
              "the result. A __torch_dispatch__, a kernel of torch.library or a batching rule that answers the op must "
              "return a tensor.");
}

Dispatcher& Dispatcher::singleton() {
  static Dispatcher* dispatcher =
      new Dispatcher; // never destroyed, because ops may be called while static objects are destroyed
  return *dispatcher;
}

static std::string without_namespace(const std::string& name) {
  return name.compare(0, 6, "aten::") == 0 ? name.substr(6) : name;
}

OperatorEntry* Dispatcher::find(const std::string& name) const {
  auto it = by_name_.find(without_namespace(name));
  return it == by_name_.end() ? nullptr : it->second;
}

OperatorEntry* Dispatcher::findSchema(const std::string& operator_name) {
  std::lock_guard<c10::Mutex> lock(mutex_);
  return find(operator_name);
}

OperatorHandle Dispatcher::findSchemaOrThrow(const std::string& operator_name) {
  std::lock_guard<c10::Mutex> lock(mutex_);
  OperatorEntry* entry = find(operator_name);
  if (entry == nullptr) {
    const std::string wanted = without_namespace(operator_name);
    const std::string base = wanted.substr(0, wanted.find('.'));
    std::string overloads;
    for (const auto& candidate : entries_) {
      if (candidate->defined && without_namespace(candidate->schema.qualified_name()) == base) {
        overloads += (overloads.empty() ? "" : ", ") + candidate->schema.operator_name();
      }
    }
    TORCH_CHECK(false, "Could not find schema for ", operator_name, ". ",
                overloads.empty() ? "No op of that name is registered." : "Hint: there are " + overloads + ".");
  }
  return OperatorHandle(entry);
}

OperatorEntry* Dispatcher::registerDef(FunctionSchema schema, int variants, TagSet tags, std::string file, int line) {
  const std::string name = without_namespace(schema.operator_name());
  RetiredKernels retired;
  std::lock_guard<c10::Mutex> lock(mutex_);
  const OperatorEntry* other = find(name);
  TORCH_CHECK(other == nullptr, "Tried to register an operator (", schema.str(),
              ") with the same name and overload name twice; it is registered at ", other->file, ":", other->line,
              " and at ", file, ":", line);
  auto entry = std::make_unique<OperatorEntry>();
  entry->index = entries_.size();
  entry->variants = variants;
  entry->tags = tags;
  entry->file = std::move(file);
  entry->line = line;
  for (size_t i = 0; i < schema.arguments.size(); i++) {
    const TypeKind type = schema.arguments[i].type;
    if (type == TypeKind::Tensor || type == TypeKind::TensorList || type == TypeKind::OptionalTensorList ||
        type == TypeKind::Device) {
      entry->tensor_args.push_back(static_cast<uint8_t>(i));
    }
  }
  entry->schema = std::move(schema);
  entry->updateDispatchTable(fallbacks_, retired);
  by_name_[name] = entry.get();
  entries_.push_back(std::move(entry));
  return entries_.back().get();
}

// What these functions remove is destroyed after the mutex is unlocked, because a Python function may run code when it
// dies. So the variables that hold it stand in front of the lock.

void Dispatcher::deregisterDef(OperatorEntry* entry) {
  RetiredKernels retired;
  decltype(entry->kernels) removed;
  std::lock_guard<c10::Mutex> lock(mutex_);
  by_name_.erase(without_namespace(entry->schema.operator_name()));
  entry->defined = false;
  removed.swap(entry->kernels);
  for (TableRow& row : entry->table) {
    retired.push_back(row.set(KernelFunction()));
  }
}

Dispatcher::KernelHandle Dispatcher::registerImpl(OperatorEntry* entry, DispatchKey key, AnnotatedKernel kernel) {
  RetiredKernels retired;
  std::lock_guard<c10::Mutex> lock(mutex_);
  for (const native::DispatchStubImpl* stub : kernel.stubs) {
    std::vector<OperatorEntry*>& users = users_[stub];
    if (users.empty() || users.back() != entry) { // an op may name the same stub for several rows
      users.push_back(entry);
    }
  }
  entry->kernels[key].push_front(std::move(kernel));
  entry->updateDispatchTable(fallbacks_, retired);
  return entry->kernels[key].begin();
}

void Dispatcher::deregisterImpl(OperatorEntry* entry, DispatchKey key, KernelHandle kernel) {
  RetiredKernels retired;
  std::list<AnnotatedKernel> removed;
  std::lock_guard<c10::Mutex> lock(mutex_);
  if (entry->defined) {
    removed.splice(removed.begin(), entry->kernels[key], kernel);
    entry->updateDispatchTable(fallbacks_, retired);
  }
}

void Dispatcher::registerFallback(DispatchKey key, AnnotatedKernel kernel) {
  RetiredKernels retired;
  std::lock_guard<c10::Mutex> lock(mutex_);
  std::swap(fallbacks_[static_cast<int>(key)], kernel); // the parameter is destroyed by the caller
  for (auto& entry : entries_) {
    if (entry->defined) {
      entry->updateDispatchTable(fallbacks_, retired);
    }
  }
}

void Dispatcher::stubChanged(const native::DispatchStubImpl* stub) {
  RetiredKernels retired;
  std::lock_guard<c10::Mutex> lock(mutex_);
  for (OperatorEntry* entry : users_[stub]) {
    entry->updateDispatchTable(fallbacks_, retired);
  }
}

std::string Dispatcher::dumpComputedTable(const OperatorEntry& entry) const {
  std::lock_guard<c10::Mutex> lock(mutex_);
  return entry.dumpComputedTable(fallbacks_);
}

std::shared_ptr<OperatorKernel> Dispatcher::functor_of(const TableRow& row) const {
  std::lock_guard<c10::Mutex> lock(mutex_);
  return row.functor();
}

// ---- kernels that are objects

static void call_functor(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  // A copy keeps the object alive, because the kernel may deregister itself.
  const auto functor =
      Dispatcher::singleton().functor_of(op.entry().table[static_cast<int>(keys.highestPriorityTypeId())]);
  if (functor == nullptr) { // another thread has removed the object since the row was read
    op.redispatchBoxed(keys, stack);
  } else {
    (*functor)(op, keys, stack);
  }
}

KernelFunction KernelFunction::makeFromFunctor(std::shared_ptr<OperatorKernel> functor) {
  return {&call_functor, nullptr, nullptr, std::move(functor)};
}

static void fall_through(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  op.redispatchBoxed(keys - keys.highestPriorityTypeId(), stack);
}

KernelFunction KernelFunction::makeFallthrough() {
  return makeFromBoxed(&fall_through);
}

} // namespace reftorch::at

namespace reftorch::at::native {

StubCallObserver stub_call_observer = nullptr;

void DispatchStubImpl::registerKernel(c10::DeviceType device, StubKernel kernel) {
  kernels[static_cast<int>(device)] = kernel;
  Dispatcher::singleton().stubChanged(this);
}

} // namespace reftorch::at::native
