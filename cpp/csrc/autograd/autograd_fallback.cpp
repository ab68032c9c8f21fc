// Mirrors: torch/csrc/autograd/autograd_not_implemented_fallback.cpp, tools/autograd/gen_variable_type.py
//
// Left out: PyTorch's checks that a kernel returns what its schema promises about aliasing.
#include <csrc/autograd/autograd_fallback.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <c10/core/GradMode.h>
#include <csrc/autograd/forward_grad.h>
#include <csrc/autograd/functions/basic_ops.h>
#include <csrc/autograd/functions/utils.h>
#include <csrc/autograd/operator_info.h>

#include <optional>

namespace reftorch::torch::autograd {
namespace {

using Kind = OperatorInfo::Kind;
using WrittenTensors = c10::SmallVector<Variable, 2>;

template <typename F>
void for_each_tensor(const at::IValue& value, F&& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const Variable& t : value.toTensorVector()) {
      if (t.defined()) {
        visit(t);
      }
    }
  }
}

inline __attribute__((always_inline)) bool requires_grad(const at::IValue& arg) {
  if (arg.isTensor()) {
    return arg.toTensor().requires_grad();
  }
  bool any = false;
  for_each_tensor(arg, [&](const Variable& t) { any = any || t.requires_grad(); });
  return any;
}

// An op whose tensors are all inference tensors is not recorded, even if one of them, such as a parameter that was made
// in inference mode, requires a gradient. If it meets a normal tensor, or is copied into one, it gets its gradient.
bool meets_autograd(const OperatorInfo& info, const at::IValue* args) {
  bool meets = info.copies && !c10::InferenceMode::is_enabled();
  for (uint8_t i : info.tensor_args) {
    for_each_tensor(args[i], [&](const Variable& t) { meets = meets || !t.is_inference(); });
  }
  return meets;
}

inline __attribute__((always_inline)) bool any_requires_grad(const OperatorInfo& info, const at::IValue* args) {
  for (uint8_t i : info.tensor_args) {
    if (requires_grad(args[i])) {
      return meets_autograd(info, args);
    }
  }
  return false;
}

void redispatch(const at::OperatorHandle& op, c10::DispatchKeySet keys, at::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard guard(c10::autograd_dispatch_keyset);
  op.redispatchBoxed(keys - c10::autograd_dispatch_keyset, stack);
}

WrittenTensors written_tensors(const OperatorInfo& info, const at::IValue* args) {
  WrittenTensors written;
  for (uint8_t i : info.written_args) {
    for_each_tensor(args[i], [&](const Variable& t) { written.push_back(t); });
  }
  return written;
}

// Checks what must hold before a kernel changes tensors in place, whether or not the call is recorded.
void before_write(const WrittenTensors& written) {
  for (const Variable& t : written) {
    TORCH_CHECK(
        !t.is_inference() || c10::InferenceMode::is_enabled(),
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
        "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.");
    if (before_write_hook != nullptr) {
      before_write_hook(t);
    }
  }
}

void bump_versions(const WrittenTensors& written) {
  for (const Variable& t : written) {
    impl::bump_version(t);
  }
}

// The arguments of a view op, stored so that the op can be called again on another base. They are stored only under
// view replay; see Note [View + Inplace update].
using ViewCall = std::vector<at::IValue>;

ViewCall to_replay(const OperatorInfo& info, const at::IValue* args) {
  if (!c10::ViewReplay::is_enabled()) {
    return {};
  }
  ViewCall call(args, args + info.num_arguments);
  call[info.view_source] = at::IValue();
  return call;
}

// Returns a function that makes the view again from a base: it first makes the op's argument, if that is a view too,
// and then calls the op. If the op returns a list, the function returns element `index`.
std::function<Variable(const Variable&)> view_fn_of(const at::OperatorHandle& op, const OperatorInfo& info,
                                                    const ViewCall& call, const Variable& source, size_t index) {
  std::function<Variable(const Variable&)> former;
  if (const DifferentiableViewMeta* view = impl::get_view_autograd_meta(source)) {
    former = view->view_fn_;
    if (former == nullptr) {
      former = [sizes = source.sizes().vec(), strides = source.strides().vec(), offset = source.storage_offset()](
                   const Variable& base) { return at::as_strided(base, sizes, strides, offset); };
    }
  }
  return [op, call, at = info.view_source, former = std::move(former), index](const Variable& base) {
    at::Stack stack;
    for (const at::IValue& arg : call) {
      stack.emplace_back(arg);
    }
    stack.begin()[at] = former != nullptr ? former(base) : base;
    op.callBoxed(&stack);
    const at::IValue& result = stack.begin()[0];
    return result.isTensorList() ? result.toTensorVector()[index] : result.toTensor();
  };
}

void make_views(const at::OperatorHandle& op, const OperatorInfo& info, const ViewCall& call, const Variable& source,
                at::IValue* results, size_t num_results) {
  if (source.is_inference()) {
    return; // inference tensors track neither versions nor views
  }
  CreationMeta creation_meta = info.multi_output_view ? CreationMeta::MULTI_OUTPUT_NODE : CreationMeta::DEFAULT;
  if (c10::InferenceMode::is_enabled()) {
    creation_meta = CreationMeta::INFERENCE_MODE;
  } else if (!c10::GradMode::is_enabled()) {
    creation_meta = CreationMeta::NO_GRAD_MODE;
  }
  for (size_t r = 0; r < num_results; r++) {
    if (results[r].isTensorList()) {
      std::vector<Variable> views;
      for (const Variable& t : results[r].toTensorVector()) {
        views.push_back(as_view(source, t, creation_meta));
      }
      results[r] = std::move(views);
    } else if (results[r].isTensor()) {
      results[r] = as_view(source, std::move(results[r]).toTensor(), creation_meta);
    }
    size_t index = 0;
    for_each_tensor(call.empty() ? at::IValue() : results[r], [&](const Variable& view) {
      impl::get_view_autograd_meta(view)->view_fn_ = view_fn_of(op, info, call, source, index++);
    });
  }
}

// Calls an op that is not recorded. Every op without a gradient takes this path, so the function does no more than
// necessary.
void call_unrecorded(const OperatorInfo& info, const at::OperatorHandle& op, c10::DispatchKeySet keys,
                     at::Stack* stack) {
  if (info.kind == Kind::Functional) {
    redispatch(op, keys, stack);
    return;
  }
  const size_t base = stack->size() - info.num_arguments;
  const at::IValue* args = stack->begin() + base;
  if (info.kind == Kind::View) {
    const Variable source = args[info.view_source].toTensor();
    const ViewCall call = to_replay(info, args);
    redispatch(op, keys, stack);
    make_views(op, info, call, source, stack->begin() + base, stack->size() - base);
    return;
  }
  const WrittenTensors written = written_tensors(info, args);
  before_write(written);
  const at::DimVector former_sizes(info.counts_new_shapes ? written[0].sizes() : at::IntArrayRef());
  redispatch(op, keys, stack);
  if (!info.counts_new_shapes || written[0].sizes() != at::IntArrayRef(former_sizes)) {
    bump_versions(written);
  }
  if (info.new_storage) {
    impl::reset_grad_accumulator(written[0]);
  }
}

void check_recordable(const OperatorInfo& info, const at::FunctionSchema& schema, const at::IValue* args) {
  TORCH_CHECK(info.kind != Kind::Out, schema.name,
              "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
              "requires grad.");
  for (uint8_t i : info.undifferentiable_args) {
    TORCH_CHECK(!requires_grad(args[i]), "The function '", schema.name,
                "' is not differentiable with respect to argument '", schema.arguments[i].name,
                "'. This input cannot have requires_grad True.");
  }
  if (info.kind == Kind::Inplace) {
    for (uint8_t i : info.written_args) {
      for_each_tensor(args[i], check_inplace);
    }
  }
}

// Only the arguments that require a gradient become edges of the node, as in PyTorch.
std::shared_ptr<Node> make_not_implemented(const OperatorInfo& info, const at::FunctionSchema& schema,
                                           const at::IValue* args) {
  auto node = std::make_shared<NotImplemented>(schema.qualified_name());
  for (uint8_t i : info.tensor_args) {
    for_each_tensor(args[i], [&](const Variable& t) {
      if (t.requires_grad()) {
        node->add_next_edge(impl::gradient_edge(t));
      }
    });
  }
  return node;
}

void set_histories(const std::shared_ptr<Node>& grad_fn, bool inplace, uint64_t undifferentiable,
                   const at::IValue* results, size_t num_results) {
  for (size_t r = 0; r < num_results; r++) {
    if ((undifferentiable >> r & 1) != 0) {
      continue;
    }
    if (results[r].isNone()) {
      grad_fn->add_undefined_input_metadata();
    }
    for_each_tensor(results[r], [&](const Variable& t) {
      if (!t.is_floating_point()) {
        return; // an index or a count takes no gradient and is not numbered among the node's outputs
      }
      if (inplace) {
        impl::rebase_history(t, Edge(grad_fn, grad_fn->add_input_metadata(t)));
      } else {
        set_history(t, grad_fn);
      }
    });
  }
}

// Calls an op and records it. `tangents` is not null if an argument is a dual number. The tangents are set before the
// results are saved, because a saved result keeps its tangent.
void call_recorded(const OperatorInfo& info, const at::OperatorHandle& op, c10::DispatchKeySet keys, at::Stack* stack,
                   DualCall* tangents) {
  const size_t base = stack->size() - info.num_arguments;
  at::IValue* const args = stack->begin() + base;
  check_recordable(info, op.schema(), args);
  const bool inplace = info.kind == Kind::Inplace;

  std::shared_ptr<Node> grad_fn;
  FormulaNode* formula_node = nullptr; // grad_fn, if the op has a formula
  uint64_t needed = 0;
  if (info.formula != nullptr) {
    std::shared_ptr<FormulaNode> node = info.formula->make_node();
    formula_node = node.get();
    grad_fn = std::move(node);
    needed = formula_node->collect_next_edges(args);
    Variable self_before;
    if (inplace && formula_node->saves_argument(0, needed)) {
      self_before = at::clone(args[0].toTensor());
    }
    formula_node->save_arguments(args, needed, self_before);
  } else {
    grad_fn = make_not_implemented(info, op.schema(), args);
  }

  const Variable source = info.kind == Kind::View ? args[info.view_source].toTensor() : Variable();
  const ViewCall call = info.kind == Kind::View ? to_replay(info, args) : ViewCall();
  const WrittenTensors written = inplace ? written_tensors(info, args) : WrittenTensors();
  before_write(written);
  redispatch(op, keys, stack);
  bump_versions(written);

  at::IValue* const results = stack->begin() + base;
  const size_t num_results = stack->size() - base;
  if (info.kind == Kind::View) {
    make_views(op, info, call, source, results, num_results);
  }
  // After an in-place view op such as t_, the tensor gets a history of its own, and the history of its base does not
  // change.
  set_histories(grad_fn, inplace && !info.inplace_view,
                info.formula != nullptr ? info.formula->undifferentiable_results : 0, results, num_results);
  if (tangents != nullptr) {
    tangents->set_tangents(results, num_results);
  }
  for (size_t r = 0; formula_node != nullptr && r < num_results; r++) {
    if (results[r].isTensor()) {
      formula_node->save_result(r, results[r].toTensor(), needed, inplace && impl::is_view(results[r].toTensor()));
    }
  }
}

// A hook on a result that the kernel itself has recorded; warns when a gradient arrives.
class WarnHook final : public FunctionPreHook {
 public:
  explicit WarnHook(std::string op_name) : op_name_(std::move(op_name)) {}
  variable_list operator()(const variable_list& grads) override {
    warn_not_implemented(op_name_);
    return grads;
  }

 private:
  std::string op_name_;
};

// Calls an op of a library other than aten that has no kernel for Autograd. Autograd is not excluded below the op, so
// the ops that the kernel calls are recorded. A gradient that arrives at a result warns, because the author of the op
// did not say how to differentiate the op.
void call_without_formula(const OperatorInfo& info, const at::OperatorHandle& op, c10::DispatchKeySet keys,
                          at::Stack* stack) {
  const size_t base = stack->size() - info.num_arguments;
  const at::IValue* args = stack->begin() + base;
  const std::string name = op.schema().qualified_name();
  const bool recorded = c10::GradMode::is_enabled() && any_requires_grad(info, args);
  const auto node = std::make_shared<WarnNotImplemented>(name);
  for (uint8_t i : info.tensor_args) {
    for_each_tensor(args[i], [&](const Variable& t) {
      node->add_next_edge(recorded && t.requires_grad() ? impl::gradient_edge(t) : Edge());
    });
  }
  const WrittenTensors written = written_tensors(info, args);
  before_write(written);
  op.redispatchBoxed(keys - c10::autograd_dispatch_keyset, stack);
  bump_versions(written);
  for (size_t r = base; recorded && written.empty() && r < stack->size(); r++) {
    for_each_tensor(stack->begin()[r], [&](const Variable& t) {
      if (const auto grad_fn = impl::grad_fn(t)) {
        grad_fn->add_tensor_pre_hook(std::make_unique<WarnHook>(name));
      } else if (t.requires_grad()) {
        impl::add_hook(t, std::make_unique<WarnHook>(name));
      } else if (t.is_floating_point()) {
        set_history(t, node);
      }
    });
  }
}

} // namespace

void autograd_fallback(const at::OperatorHandle& op, c10::DispatchKeySet keys, at::Stack* stack) {
  const OperatorInfo& info = operator_info(op.entry());
  if (info.warns_not_implemented) {
    call_without_formula(info, op, keys, stack);
    return;
  }
  const size_t base = stack->size() - info.num_arguments;
  const at::IValue* args = stack->begin() + base;
  std::optional<DualCall> tangents;
  if (c10::ForwardAD::is_active() && any_fw_grad(info, args)) {
    tangents.emplace(op, info, args);
  }
  if (c10::GradMode::is_enabled() && !info.non_differentiable && any_requires_grad(info, args)) {
    call_recorded(info, op, keys, stack, tangents ? &*tangents : nullptr);
    return;
  }
  call_unrecorded(info, op, keys, stack);
  if (tangents) {
    tangents->set_tangents(stack->begin() + base, stack->size() - base);
  }
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.fallback(c10::DispatchKey::Autograd, &autograd_fallback);
}

} // namespace reftorch::torch::autograd
