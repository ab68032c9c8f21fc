// Mirrors: aten/src/ATen/functorch/DynamicLayer.cpp, aten/src/ATen/functorch/ADInterpreters.cpp
#include <ATen/functorch/DynamicLayer.h>

#include <ATen/ThreadLocalState.h>
#include <ATen/core/library.h>
#include <c10/core/InferenceMode.h>

namespace reftorch::at::functorch {

using c10::DispatchKey;
using c10::impl::tls_local_dispatch_key_set;

void (*batch_rule_hook)(const OperatorHandle& op, const DynamicLayer& layer, Stack* stack) = nullptr;

static thread_local std::vector<DynamicLayer> layers;

static std::vector<DynamicLayer> get_layers() {
  return layers;
}
static void set_layers(const std::vector<DynamicLayer>& fresh) {
  layers = fresh;
}
static const RegisterThreadLocal<&get_layers, &set_layers> register_layers("DynamicLayer.cpp: layers");

// Includes the key Front if there is a layer, and removes it otherwise.
static void update_included_keys() {
  const DispatchKeySet front = DispatchKey::FuncTorchDynamicLayerFrontMode;
  const DispatchKeySet others = tls_local_dispatch_key_set.included_ - front;
  tls_local_dispatch_key_set.included_ = layers.empty() ? others : others | front;
}

static void set_inference_mode(bool enabled) {
  c10::InferenceMode::restore({enabled, c10::GradMode::is_enabled()});
}

int64_t push_layer(TransformType type, int64_t batch_size, RandomnessType randomness) {
  DynamicLayer layer;
  layer.level = layers.empty() ? 1 : layers.back().level + 1;
  layer.type = type;
  layer.batch_size = batch_size;
  layer.randomness = randomness;
  layer.previous_grad_mode = c10::GradMode::is_enabled();
  layer.previous_fw_grad_mode = c10::ForwardAD::is_enabled();
  layer.previous_inference_mode = c10::InferenceMode::is_enabled();
  layer.is_alive = std::make_shared<bool>(true);
  set_inference_mode(layer.previous_inference_mode && type == TransformType::Vmap);
  layers.push_back(std::move(layer));
  update_included_keys();
  return layers.back().level;
}

void pop_layer() {
  TORCH_CHECK(!layers.empty(), "there is no function transform at work that could end");
  *layers.back().is_alive = false;
  set_inference_mode(layers.back().previous_inference_mode);
  layers.pop_back();
  update_included_keys();
}

const DynamicLayer* current_layer() {
  return layers.empty() ? nullptr : &layers.back();
}

Tensor wrap(const Tensor& t, const DynamicLayer& layer, std::optional<int64_t> bdim) {
  if (!t.defined()) {
    return t;
  }
  auto wrapper = c10::make_intrusive<TensorWrapper>(t, layer.level, bdim, layer.is_alive);
  return Tensor(intrusive_ptr<TensorImpl>(std::move(wrapper)));
}

Tensor lift_fresh(Tensor t) {
  for (const DynamicLayer& layer : layers) {
    if (layer.type != TransformType::Vmap) {
      t = wrap(t, layer);
    }
  }
  return t;
}

WithoutTop::WithoutTop() : excluded_(tls_local_dispatch_key_set.excluded_) {
  TORCH_CHECK(!layers.empty(), "there is no function transform at work, so there is no level below the current one");
  layer_ = std::move(layers.back());
  layers.pop_back();
  update_included_keys();
  // Autograd was excluded for this level. The level below records for itself.
  tls_local_dispatch_key_set.excluded_ = excluded_ - c10::autograd_dispatch_keyset;
}

WithoutTop::~WithoutTop() {
  layers.push_back(std::move(layer_));
  update_included_keys();
  tls_local_dispatch_key_set.excluded_ = excluded_;
}

namespace {

// Replaces each tensor among `values`, also those in lists.
template <typename F>
void map_tensors(IValue* values, size_t count, F&& change) {
  for (size_t i = 0; i < count; i++) {
    if (values[i].isTensor()) {
      values[i] = change(values[i].toTensor(), i);
    } else if (values[i].isTensorList()) {
      std::vector<Tensor> list = values[i].toTensorVector();
      for (Tensor& t : list) {
        t = t.defined() ? change(t, i) : t;
      }
      values[i] = std::move(list);
    }
  }
}

bool is_of(const Tensor& t, int64_t level) {
  const TensorWrapper* wrapper = maybe_get_wrapper(t);
  return wrapper != nullptr && wrapper->level_ == level;
}

bool any_of(const IValue* values, size_t count, int64_t level) {
  for (size_t i = 0; i < count; i++) {
    if (values[i].isTensor() && is_of(values[i].toTensor(), level)) {
      return true;
    }
    if (values[i].isTensorList()) {
      for (const Tensor& t : values[i].toTensorVector()) {
        if (is_of(t, level)) {
          return true;
        }
      }
    }
  }
  return false;
}

void through_vmap(const OperatorHandle& op, const DynamicLayer& layer, Stack* stack) {
  const size_t count = op.schema().arguments.size();
  const bool is_ours =
      any_of(last(*stack, count), count, layer.level) || op.entry().hasTag(Tag::nondeterministic_seeded);
  const DynamicLayer copy = layer; // a copy, because the layer is removed while the op runs
  const WithoutTop without_top;
  if (is_ours) {
    batch_rule_hook(op, copy, stack);
  } else {
    op.callBoxed(stack);
  }
}

void through_grad(const OperatorHandle& op, const DynamicLayer& layer, Stack* stack) {
  const FunctionSchema& schema = op.schema();
  map_tensors(last(*stack, schema.arguments.size()), schema.arguments.size(), [&](const Tensor& t, size_t i) {
    if (is_of(t, layer.level)) {
      return t;
    }
    TORCH_CHECK(!schema.arguments[i].alias.is_write,
                "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
                "operation (",
                schema.operator_name(),
                ") that would mutate a captured Tensor. This is not supported; please rewrite the function being "
                "transformed to explicitly accept the mutated Tensor(s) as inputs.");
    return wrap(t, layer);
  });
  op.redispatchBoxed(c10::autograd_dispatch_keyset | DispatchKey::FuncTorchDynamicLayerBackMode, stack);
}

// Returns the tensors that an op writes to. If an op writes to tensors, they are also its results.
std::vector<Tensor> written_wrappers(const FunctionSchema& schema, const IValue* args) {
  std::vector<Tensor> written;
  for (size_t i = 0; i < schema.arguments.size(); i++) {
    if (schema.is_changed(schema.arguments[i]) && args[i].isTensor()) {
      written.push_back(args[i].toTensor());
    }
  }
  return written;
}

} // namespace

static void front_fallback(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const size_t count = op.schema().arguments.size();
  map_tensors(last(*stack, count), count, [](const Tensor& t, size_t) { return unwrap_dead(t); });
  const DynamicLayer* layer = current_layer();
  if (layer == nullptr) {
    map_tensors(last(*stack, count), count, [&](const Tensor& t, size_t) {
      TORCH_CHECK(!is_wrapper(t), op.schema().operator_name(),
                  ": a tensor that belongs to a function transform is used where that transform is not at work");
      return t;
    });
    op.callBoxed(stack);
  } else if (layer->type == TransformType::Vmap) {
    through_vmap(op, *layer, stack);
  } else if (op.entry().is_composite) {
    op.redispatchBoxed(c10::autograd_dispatch_keyset,
                       stack); // made of other ops, but it has its own batching rule for vmap
  } else {
    through_grad(op, *layer, stack);
  }
}

static void back_fallback(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments.size();
  const size_t base = stack->size() - count;
  const std::vector<Tensor> written = written_wrappers(schema, stack->begin() + base);
  map_tensors(stack->begin() + base, count, [](const Tensor& t, size_t) {
    const TensorWrapper* wrapper = maybe_get_wrapper(t);
    return wrapper != nullptr ? wrapper->value_ : t;
  });
  const DynamicLayer layer = *current_layer();
  {
    const WithoutTop without_top;
    const c10::AutoGradMode grad_mode(c10::GradMode::is_enabled() && layer.previous_grad_mode);
    const c10::AutoFwGradMode fw_grad_mode(c10::ForwardAD::is_enabled() && layer.previous_fw_grad_mode);
    op.callBoxed(stack);
  }
  if (written.empty()) {
    map_tensors(stack->begin() + base, stack->size() - base, [&](const Tensor& t, size_t) { return wrap(t, layer); });
    return;
  }
  for (size_t i = 0; i < written.size(); i++) {
    static_cast<TensorWrapper*>(written[i].unsafeGetTensorImpl())->refresh_metadata();
    if (base + i < stack->size()) {
      stack->begin()[base + i] = written[i];
    }
  }
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.fallback(DispatchKey::FuncTorchDynamicLayerFrontMode, &front_fallback);
  m.fallback(DispatchKey::FuncTorchDynamicLayerBackMode, &back_fallback);
}

} // namespace reftorch::at::functorch
