// Mirrors: aten/src/ATen/core/dispatch/Dispatcher.cpp, aten/src/ATen/core/dispatch/OperatorEntry.cpp
#include <ATen/core/dispatch/Dispatcher.h>

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
  lookup(keys).boxed(*this, keys, stack);
}

void OperatorHandle::reportMissingKernel(DispatchKeySet keys) const {
  std::string available;
  for (int k = 1; k < c10::kNumDispatchKeys; k++) {
    if (entry_->table[k].valid() && static_cast<DispatchKey>(k) != DispatchKey::Profiler) {
      available += (available.empty() ? "" : ", ") + std::string(toString(static_cast<DispatchKey>(k)));
    }
  }
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Could not run '", schema().operator_name(), "' with arguments from the '",
                              keys.highestPriorityTypeId(), "' backend. '", schema().operator_name(),
                              "' is only available for these backends: [", available, "].");
}

Dispatcher& Dispatcher::singleton() {
  static Dispatcher* dispatcher = new Dispatcher; // never destroyed: ops may be called while static objects die
  return *dispatcher;
}

static std::string without_namespace(const std::string& name) {
  return name.compare(0, 6, "aten::") == 0 ? name.substr(6) : name;
}

OperatorEntry* Dispatcher::findSchema(const std::string& operator_name) {
  auto it = by_name_.find(without_namespace(operator_name));
  return it == by_name_.end() ? nullptr : it->second;
}

OperatorHandle Dispatcher::findSchemaOrThrow(const std::string& operator_name) {
  OperatorEntry* entry = findSchema(operator_name);
  if (entry == nullptr) {
    const std::string wanted = without_namespace(operator_name);
    const std::string base = wanted.substr(0, wanted.find('.'));
    std::string overloads;
    for (const auto& candidate : entries_) {
      if (candidate->schema.name == base) {
        overloads += (overloads.empty() ? "" : ", ") + candidate->schema.operator_name();
      }
    }
    TORCH_CHECK(false, "Could not find schema for ", operator_name, ". ",
                overloads.empty() ? "No op of that name is registered." : "Hint: there are " + overloads + ".");
  }
  return OperatorHandle(entry);
}

OperatorEntry* Dispatcher::registerDef(FunctionSchema schema, int variants, const char* file, int line) {
  const std::string name = without_namespace(schema.operator_name());
  TORCH_CHECK(by_name_.find(name) == by_name_.end(), "Tried to register an operator (", schema.str(),
              ") with the same name and overload name twice; it is registered at ",
              by_name_.count(name) ? by_name_[name]->file : "", ":", by_name_.count(name) ? by_name_[name]->line : 0,
              " and at ", file, ":", line);
  auto entry = std::make_unique<OperatorEntry>();
  entry->index = entries_.size();
  entry->variants = variants;
  entry->file = file;
  entry->line = line;
  for (size_t i = 0; i < schema.arguments.size(); i++) {
    const TypeKind type = schema.arguments[i].type;
    if (type == TypeKind::Tensor || type == TypeKind::TensorList || type == TypeKind::OptionalTensorList ||
        type == TypeKind::Device) {
      entry->tensor_args.push_back(static_cast<uint8_t>(i));
    }
  }
  entry->schema = std::move(schema);
  for (int k = 0; k < c10::kNumDispatchKeys; k++) {
    entry->table[k] = fallbacks_[k];
  }
  by_name_[name] = entry.get();
  entries_.push_back(std::move(entry));
  return entries_.back().get();
}

void Dispatcher::registerImpl(OperatorEntry* entry, DispatchKey key, KernelFunction kernel) {
  auto fill = [&](DispatchKey row) {
    KernelFunction& slot = entry->table[static_cast<int>(row)];
    if (!slot.valid() || slot.boxed == fallbacks_[static_cast<int>(row)].boxed) {
      slot = kernel;
    }
  };
  switch (key) {
    case DispatchKey::CompositeImplicitAutograd:
      fill(DispatchKey::FuncTorchDynamicLayerFrontMode);
      fill(DispatchKey::Autograd);
      [[fallthrough]];
    case DispatchKey::CompositeExplicitAutograd:
      fill(DispatchKey::CPU);
      fill(DispatchKey::CUDA);
      fill(DispatchKey::Meta);
      break;
    default: entry->table[static_cast<int>(key)] = kernel;
  }
}

void Dispatcher::registerFallback(DispatchKey key, KernelFunction kernel) {
  fallbacks_[static_cast<int>(key)] = kernel;
  for (auto& entry : entries_) {
    KernelFunction& slot = entry->table[static_cast<int>(key)];
    if (!slot.valid()) {
      slot = kernel;
    }
  }
}

} // namespace reftorch::at
