// Mirrors: nothing in PyTorch: see operator_info.h
#include <csrc/autograd/operator_info.h>

#include <c10/util/Mutex.h>
#include <csrc/autograd/autograd_fallback.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace reftorch::torch::autograd {
namespace {

struct Registration {
  std::unique_ptr<DerivativeFormula> formula;
  bool non_differentiable = false;
};

// Every op call reads this table without a lock. Extensions may register ops later, so the capacity is fixed: the table
// never moves.
constexpr size_t kMaxOperators = 8192;
std::array<std::atomic<const OperatorInfo*>, kMaxOperators> infos;
bool has_infos = false; // guarded by registry_mutex

c10::Mutex registry_mutex;
std::unordered_map<size_t, Registration>& registry() {
  static auto* map = new std::unordered_map<size_t, Registration>;
  return *map;
}

bool holds_tensors(const at::Argument& arg) {
  return arg.type == at::TypeKind::Tensor || arg.type == at::TypeKind::TensorList ||
         arg.type == at::TypeKind::OptionalTensorList;
}

const Registration* find_registration(const at::OperatorEntry& entry) {
  auto it = registry().find(entry.index);
  if (it == registry().end()) {
    const at::OperatorEntry* functional = entry.functional;
    if (functional == nullptr || (it = registry().find(functional->index)) == registry().end()) {
      return nullptr;
    }
  }
  return &it->second;
}

std::unique_ptr<OperatorInfo> make_info(const at::OperatorEntry& entry) {
  const at::FunctionSchema& schema = entry.schema;
  auto info = std::make_unique<OperatorInfo>();
  info->num_arguments = schema.arguments.size();
  for (size_t i = 0; i < schema.arguments.size(); i++) {
    if (holds_tensors(schema.arguments[i])) {
      info->tensor_args.push_back(static_cast<uint8_t>(i));
      if (schema.is_changed(schema.arguments[i])) {
        info->written_args.push_back(static_cast<uint8_t>(i));
      }
    }
  }
  const std::string name = schema.qualified_name();
  info->copies = name == "aten::clone" || name == "aten::_to_copy";
  if (!info->written_args.empty()) {
    info->kind = schema.is_out() ? OperatorInfo::Kind::Out : OperatorInfo::Kind::Inplace;
    info->counts_new_shapes = entry.hasTag(at::Tag::resizes);
    info->new_storage = entry.hasTag(at::Tag::new_storage);
    // resize_ and set_ change the geometry of their tensor too, but the result is not a view of the former tensor.
    info->inplace_view = entry.hasTag(at::Tag::inplace_view) && !info->counts_new_shapes && !info->new_storage;
  } else if (!schema.returns.empty() && !schema.returns[0].alias.set.empty()) {
    info->kind = OperatorInfo::Kind::View;
    info->multi_output_view = schema.returns[0].type == at::TypeKind::TensorList;
    for (size_t i = 0; i < schema.arguments.size(); i++) {
      if (schema.arguments[i].alias.set == schema.returns[0].alias.set) {
        info->view_source = static_cast<uint8_t>(i);
      }
    }
  }
  if (const Registration* found = find_registration(entry)) {
    info->formula = found->formula.get();
    info->non_differentiable = found->non_differentiable;
  }
  if (info->formula != nullptr) {
    const auto& covered = info->formula->inputs;
    for (uint8_t i : info->tensor_args) {
      if (std::find(covered.begin(), covered.end(), i) == covered.end()) {
        info->undifferentiable_args.push_back(i);
      }
    }
  }
  info->warns_not_implemented = info->formula == nullptr && schema.ns != "aten";
  return info;
}

Registration& new_registration(const at::OperatorEntry& entry) {
  Registration& registration = registry()[entry.index];
  TORCH_CHECK(registration.formula == nullptr && !registration.non_differentiable, entry.schema.operator_name(),
              " has a derivative, or a mark that it has none, already");
  return registration;
}

// Infos that were built before the registration are out of date. They are not deleted, because another thread may still
// read them. While reftorch is imported, a thousand formulas are registered before the first info is built.
void forget_infos() {
  if (!has_infos) {
    return;
  }
  has_infos = false;
  for (auto& info : infos) {
    info.store(nullptr, std::memory_order_release);
  }
}

} // namespace

const OperatorInfo& operator_info(const at::OperatorEntry& entry) {
  TORCH_INTERNAL_ASSERT(entry.index < kMaxOperators, "more than ", kMaxOperators, " operators");
  std::atomic<const OperatorInfo*>& slot = infos[entry.index];
  const OperatorInfo* info = slot.load(std::memory_order_acquire);
  if (info == nullptr) {
    std::lock_guard<c10::Mutex> lock(registry_mutex);
    info = slot.load(std::memory_order_acquire);
    if (info == nullptr) {
      info = make_info(entry).release();
      has_infos = true;
      slot.store(info, std::memory_order_release);
    }
  }
  return *info;
}

void register_derivative(at::OperatorEntry& entry, std::unique_ptr<DerivativeFormula> formula) {
  std::lock_guard<c10::Mutex> lock(registry_mutex);
  new_registration(entry).formula = std::move(formula);
  forget_infos();
}

void register_non_differentiable(at::OperatorEntry& entry) {
  std::lock_guard<c10::Mutex> lock(registry_mutex);
  new_registration(entry).non_differentiable = true;
  forget_infos();
}

DerivativeState derivative_state(const at::OperatorEntry& entry) {
  if (entry.is_composite || entry.hasKernelForDispatchKey(c10::DispatchKey::Autograd)) {
    return DerivativeState::Composite;
  }
  if (entry.schema.is_out()) { // an out variant is never recorded: what counts is the functional form
    const at::OperatorEntry* functional = entry.functional;
    if (functional != nullptr && derivative_state(*functional) == DerivativeState::Composite) {
      return DerivativeState::Composite;
    }
  }
  const OperatorInfo& info = operator_info(entry);
  if (info.formula != nullptr) {
    return DerivativeState::Formula;
  }
  return info.non_differentiable ? DerivativeState::NonDifferentiable : DerivativeState::Missing;
}

} // namespace reftorch::torch::autograd
