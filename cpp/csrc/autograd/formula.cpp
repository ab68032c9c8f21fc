// Mirrors: nothing in PyTorch: see formula.h
#include <csrc/autograd/formula.h>

namespace reftorch::torch::autograd {

namespace {

bool strip_suffix(std::string& name, const std::string& suffix) {
  if (name.size() <= suffix.size() || name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) {
    return false;
  }
  name.resize(name.size() - suffix.size());
  return true;
}

bool is_list(const at::Argument& arg) {
  return arg.type == at::TypeKind::TensorList || arg.type == at::TypeKind::OptionalTensorList;
}

// Returns the index of the result that a name stands for, -1 if there is none.
int result_index(const at::FunctionSchema& schema, const std::string& name) {
  for (size_t i = 0; i < schema.returns.size(); i++) {
    if (name == schema.returns[i].name || name == "result" + std::to_string(i) || (i == 0 && name == "result")) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

[[noreturn]] void report_unknown(const at::FunctionSchema& schema, const std::string& name) {
  std::string known = "grad, grads, needs_input_grad, result";
  for (const at::Argument& arg : schema.arguments) {
    known += ", " + arg.name;
  }
  TORCH_CHECK(false, "derivative of ", schema.operator_name(), ": a parameter is called '", name,
              "', which names nothing to save. It may be one of: ", known,
              "; <argument>_sizes, _strides, _storage_offset, _scalar_type, _device; or a return's name.");
}

SavedField resolve(const at::FunctionSchema& schema, const std::string& name) {
  using Kind = SavedField::Kind;
  int index = schema.argument_index(name);
  if (index >= 0) {
    const at::Argument& arg = schema.arguments[index];
    const Kind kind = is_list(arg)                       ? Kind::VariableList
                      : arg.type == at::TypeKind::Tensor ? Kind::Variable
                                                         : Kind::Value;
    return {kind, static_cast<uint8_t>(index), 0, 0, name};
  }
  index = result_index(schema, name);
  if (index >= 0) {
    return {Kind::Result, static_cast<uint8_t>(index), 0, 0, name};
  }
  constexpr std::pair<const char*, Kind> kProperties[] = {{"_sizes", Kind::Sizes},
                                                          {"_strides", Kind::Strides},
                                                          {"_storage_offset", Kind::StorageOffset},
                                                          {"_scalar_type", Kind::ScalarType},
                                                          {"_device", Kind::Device}};
  for (const auto& [suffix, kind] : kProperties) {
    std::string base = name;
    index = strip_suffix(base, suffix) ? schema.argument_index(base) : -1;
    if (index >= 0 && schema.arguments[index].type == at::TypeKind::Tensor) {
      return {kind, static_cast<uint8_t>(index), 0, 0, name};
    }
    if (index >= 0 && kind == Kind::Sizes && is_list(schema.arguments[index])) {
      return {Kind::SizesList, static_cast<uint8_t>(index), 0, 0, name};
    }
  }
  report_unknown(schema, name);
}

at::IValue property_of(const Variable& t, SavedField::Kind kind) {
  switch (kind) {
    case SavedField::Kind::Sizes: return t.sizes();
    case SavedField::Kind::Strides: return t.strides();
    case SavedField::Kind::StorageOffset: return t.storage_offset();
    case SavedField::Kind::Device: return t.device();
    default: return t.scalar_type();
  }
}

} // namespace

const SavedField& DerivativeFormula::field(const at::FunctionSchema& schema, const std::string& name,
                                           uint64_t asked_by) {
  for (SavedField& known : fields) {
    if (known.name == name) {
      known.asked_by |= asked_by;
      return known;
    }
  }
  SavedField fresh = resolve(schema, name);
  fresh.asked_by = asked_by;
  switch (fresh.kind) {
    case SavedField::Kind::Variable:
    case SavedField::Kind::Result: fresh.slot = num_variables++; break;
    case SavedField::Kind::VariableList: fresh.slot = num_lists++; break;
    case SavedField::Kind::SizesList: fresh.slot = num_sizes_lists++; break;
    default: fresh.slot = num_values++;
  }
  fields.push_back(std::move(fresh));
  return fields.back();
}

uint64_t FormulaNode::collect_next_edges(const at::IValue* args) {
  uint64_t needed = 0;
  auto add = [&](const Variable& t, size_t input) {
    if (t.defined() && t.requires_grad()) {
      needed |= uint64_t(1) << input;
      add_next_edge(impl::gradient_edge(t));
    } else {
      add_next_edge(Edge());
    }
  };
  for (size_t i = 0; i < formula.inputs.size(); i++) {
    const at::IValue& arg = args[formula.inputs[i]];
    if (arg.isTensorList()) {
      for (const Variable& t : arg.toTensorVector()) {
        add(t, i);
      }
    } else {
      add(arg.toTensor(), i);
    }
    if (formula.has_list_inputs) {
      edge_ends_.push_back(num_outputs());
    }
  }
  return needed;
}

void FormulaNode::save_arguments(const at::IValue* args, uint64_t needed, const Variable& self_before) {
  for (const SavedField& field : formula.fields) {
    if ((field.asked_by & needed) == 0 || field.kind == SavedField::Kind::Result) {
      continue;
    }
    const at::IValue& arg = args[field.index];
    switch (field.kind) {
      case SavedField::Kind::Variable:
        saved_variables_[field.slot] =
            SavedVariable(field.index == 0 && self_before.defined() ? self_before : arg.toTensor(), false);
        break;
      case SavedField::Kind::VariableList:
        for (const Variable& t : arg.toTensorVector()) {
          saved_lists_[field.slot].emplace_back(t, false);
        }
        break;
      case SavedField::Kind::SizesList:
        for (const Variable& t : arg.toTensorVector()) {
          saved_sizes_lists_[field.slot].push_back(t.defined() ? at::DimVector(t.sizes()) : at::DimVector());
        }
        break;
      case SavedField::Kind::Value: saved_values_[field.slot] = arg; break;
      default: saved_values_[field.slot] = arg.isNone() ? at::IValue() : property_of(arg.toTensor(), field.kind);
    }
  }
}

void FormulaNode::save_result(size_t index, const Variable& result, uint64_t needed, bool is_inplace_on_view) {
  for (const SavedField& field : formula.fields) {
    if (field.kind == SavedField::Kind::Result && field.index == index && (field.asked_by & needed) != 0) {
      saved_variables_[field.slot] = SavedVariable(result, /*is_output=*/true, is_inplace_on_view);
    }
  }
}

bool FormulaNode::saves_argument(size_t index, uint64_t needed) const {
  for (const SavedField& field : formula.fields) {
    if (field.kind == SavedField::Kind::Variable && field.index == index && (field.asked_by & needed) != 0) {
      return true;
    }
  }
  return false;
}

// Unpack hooks run Python, which may release the GIL. So a saved variable that has hooks is copied under the lock and
// unpacked without the lock.
Variable FormulaNode::unpack(const SavedVariable& saved) {
  SavedVariable copy;
  {
    std::lock_guard<c10::Mutex> lock(mutex_);
    if (!saved.has_hooks()) {
      return saved.unpack(shared_from_this());
    }
    copy = saved;
  }
  return copy.unpack(shared_from_this());
}

Variable FormulaNode::unpack(const SavedField& field) {
  return unpack(saved_variables_[field.slot]);
}

std::vector<Variable> FormulaNode::unpack_list(const SavedField& field) {
  std::vector<Variable> list;
  for (const SavedVariable& saved : saved_lists_[field.slot]) {
    list.push_back(unpack(saved));
  }
  return list;
}

at::ArrayRef<SavedVariable> FormulaNode::raw(const SavedField& field) {
  using Kind = SavedField::Kind;
  if (field.kind == Kind::VariableList) {
    return saved_lists_[field.slot];
  }
  TORCH_INTERNAL_ASSERT(field.kind == Kind::Variable || field.kind == Kind::Result, field.name, " is no tensor");
  return at::ArrayRef<SavedVariable>(&saved_variables_[field.slot], 1);
}

void FormulaNode::visit_owned(OwnedVisitor& visitor) const {
  Node::visit_owned(visitor);
  for (const SavedVariable& saved : saved_variables_) {
    saved.visit_owned(visitor);
  }
  for (const auto& list : saved_lists_) {
    for (const SavedVariable& saved : list) {
      saved.visit_owned(visitor);
    }
  }
}

// The dropped tensors are destroyed after the lock is released; see Note [Locks and the GIL].
void FormulaNode::release_variables() {
  c10::SmallVector<SavedVariable, 4> dropped;
  std::lock_guard<c10::Mutex> lock(mutex_);
  for (SavedVariable& saved : saved_variables_) {
    dropped.push_back(saved.release());
  }
  for (auto& list : saved_lists_) {
    for (SavedVariable& saved : list) {
      dropped.push_back(saved.release());
    }
  }
}

} // namespace reftorch::torch::autograd
