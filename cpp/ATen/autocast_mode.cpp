// Mirrors: aten/src/ATen/autocast_mode.cpp
#include <ATen/autocast_lists.h>
#include <ATen/autocast_mode.h>

#include <ATen/Functions.h>
#include <ATen/ThreadLocalState.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <mutex>
#include <unordered_map>

namespace reftorch::at::autocast {

bool (*is_leaf_and_no_view)(const Tensor& t) = nullptr;

using c10::DeviceType;
using c10::DispatchKey;
using c10::impl::tls_local_dispatch_key_set;

namespace {

// --- the state of a thread -------------------------------------------------------------------------------------------

// The mode of one type of device.
struct DeviceMode {
  DeviceType type;
  ScalarType dtype;
  bool enabled = false;
};

struct AutocastState {
  DeviceMode cpu{DeviceType::CPU, kBFloat16}, cuda{DeviceType::CUDA, kHalf};
  bool profiler_needs_key = false;
  bool cache_enabled = true;
  int nesting = 0;
};
thread_local AutocastState state;

AutocastState get_state() {
  return state;
}
void set_state(const AutocastState& fresh) {
  state = fresh;
}
const RegisterThreadLocal<&get_state, &set_state> register_state("autocast_mode.cpp: state");

[[noreturn]] void report_unknown_device(DeviceType device) {
  TORCH_CHECK(false, "unknown device type for autocast in get_autocast_dispatch_key_from_device_type: ",
              c10::DeviceTypeName(device), ". Hint: autocast serves the CPU and CUDA devices.");
}

DeviceMode& mode_of(DeviceType device) {
  switch (device) {
    case DeviceType::CPU: return state.cpu;
    case DeviceType::CUDA: return state.cuda;
    default: report_unknown_device(device);
  }
}

// --- the casts of weights --------------------------------------------------------------------------------------------

struct CachedCasts {
  std::mutex mutex;
  std::unordered_map<const c10::TensorImpl*, std::pair<Tensor, Tensor>>
      casts; // the weight, which stays alive; its cast
};

CachedCasts& cached() {
  static auto* casts = new CachedCasts; // never destroyed: tensors must not die after Python has ended
  return *casts;
}

bool is_eligible(const Tensor& t, const DeviceMode& mode) {
  return t.defined() && t.device().type() == mode.type && t.is_floating_point() && t.scalar_type() != kDouble;
}

Tensor cached_cast(ScalarType dtype, const Tensor& t, const DeviceMode& mode) {
  if (!is_eligible(t, mode) || t.scalar_type() == dtype) {
    return t;
  }
  // See Note [Cast weights].
  const bool keeps = state.cache_enabled && dtype == mode.dtype && t.scalar_type() == kFloat && t.requires_grad() &&
                     is_leaf_and_no_view != nullptr && is_leaf_and_no_view(t);
  if (!keeps) {
    return at::to(t, dtype);
  }
  CachedCasts& all = cached();
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (const auto found = all.casts.find(t.unsafeGetTensorImpl()); found != all.casts.end()) {
      return found->second.second;
    }
  }
  const Tensor cast = at::to(t, dtype);
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.casts.emplace(t.unsafeGetTensorImpl(), std::pair(t, cast));
  return cast;
}

// --- the arguments ---------------------------------------------------------------------------------------------------

// Calls f on each tensor among the arguments, also on those in lists, and stores what f returns.
template <typename F>
void map_tensors(IValue* values, size_t count, F&& f) {
  for (size_t i = 0; i < count; i++) {
    if (values[i].isTensor()) {
      values[i] = f(values[i].toTensor());
    } else if (values[i].isTensorList()) {
      std::vector<Tensor> list = values[i].toTensorVector();
      for (Tensor& t : list) {
        t = f(t);
      }
      values[i] = std::move(list);
    }
  }
}

// Returns the widest dtype among the arguments.
ScalarType widest(IValue* args, size_t count, const DeviceMode& mode) {
  ScalarType result = mode.dtype;
  map_tensors(args, count, [&](const Tensor& t) {
    if (is_eligible(t, mode) && t.scalar_type() != result) {
      TORCH_CHECK(t.scalar_type() == kFloat || result == kFloat,
                  "Unexpected floating ScalarType in at::autocast::prioritize");
      result = kFloat;
    }
    return t;
  });
  return result;
}

void update_key() {
  DispatchKeySet& included = tls_local_dispatch_key_set.included_;
  const bool on = state.cpu.enabled || state.cuda.enabled || state.profiler_needs_key;
  included = on ? included | DispatchKey::Profiler : included - DispatchKey::Profiler;
}

// --- the policies ----------------------------------------------------------------------------------------------------

enum class CastPolicy : uint8_t { None, LowerPrecision, Float32, Float32Dtype, Promote, Banned };

class Policies {
 public:
  template <typename Names>
  Policies& add(const Names& names, CastPolicy policy) {
    for (const char* name : names) {
      table_[&Dispatcher::singleton().findSchemaOrThrow(name).entry()] = policy;
    }
    return *this;
  }
  CastPolicy of(const OperatorEntry& entry) const {
    const auto found = table_.find(&entry);
    return found != table_.end() ? found->second : CastPolicy::None;
  }

 private:
  std::unordered_map<const OperatorEntry*, CastPolicy> table_;
};

// Finds the policy of an op in a table that the first op inside the mode makes.
CastPolicy policy_of(const OperatorEntry& entry, DeviceType device) {
  if (device == DeviceType::CUDA) {
    static const auto* policies = new Policies(Policies()
                                                   .add(kCudaLowerPrecision, CastPolicy::LowerPrecision)
                                                   .add(kCudaFloat32, CastPolicy::Float32)
                                                   .add(kCudaFloat32Dtype, CastPolicy::Float32Dtype)
                                                   .add(kCudaPromote, CastPolicy::Promote)
                                                   .add(kCudaBanned, CastPolicy::Banned));
    return policies->of(entry);
  }
  static const auto* policies = new Policies(Policies()
                                                 .add(kLowerPrecision, CastPolicy::LowerPrecision)
                                                 .add(kFloat32, CastPolicy::Float32)
                                                 .add(kPromote, CastPolicy::Promote));
  return policies->of(entry);
}

// Returns the enabled mode that serves an op: that of CUDA if an argument is on a CUDA device, otherwise that of the
// CPU; null outside both.
DeviceMode* mode_for(IValue* args, size_t count) {
  if (state.cuda.enabled) {
    bool has_cuda = false;
    map_tensors(args, count, [&has_cuda](const Tensor& t) {
      has_cuda = has_cuda || (t.defined() && t.device().is_cuda());
      return t;
    });
    if (has_cuda) {
      return &state.cuda;
    }
  }
  return state.cpu.enabled ? &state.cpu : nullptr;
}

// Sets the argument dtype= to float32 if it is None and the first argument is one that autocast casts.
void set_dtype_argument(const FunctionSchema& schema, IValue* args, const DeviceMode& mode) {
  if (!args[0].isTensor() || !is_eligible(args[0].toTensor(), mode)) {
    return;
  }
  for (size_t i = 0; i < schema.arguments.size(); i++) {
    if (schema.arguments[i].name == "dtype" && args[i].isNone()) {
      args[i] = kFloat;
    }
  }
}

} // namespace

Casts::Casts(const OperatorHandle& op, Stack* stack) {
  if (!state.cpu.enabled && !state.cuda.enabled) {
    return;
  }
  const size_t count = op.schema().arguments.size();
  IValue* args = last(*stack, count);
  DeviceMode* const mode = mode_for(args, count);
  const CastPolicy policy = mode == nullptr ? CastPolicy::None : policy_of(op.entry(), mode->type);
  switch (policy) {
    case CastPolicy::None: return;
    case CastPolicy::Banned:
      TORCH_CHECK(false,
                  "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: in float16 a "
                  "probability near 1 is rounded to 1, and its logarithm is lost. Hint: "
                  "binary_cross_entropy_with_logits and BCEWithLogitsLoss take the numbers before the sigmoid and are "
                  "safe.");
    case CastPolicy::Float32Dtype: set_dtype_argument(op.schema(), args, *mode); break;
    default: {
      const ScalarType dtype = policy == CastPolicy::LowerPrecision ? mode->dtype
                               : policy == CastPolicy::Float32      ? kFloat
                                                                    : widest(args, count, *mode);
      map_tensors(args, count, [&](const Tensor& t) { return cached_cast(dtype, t, *mode); });
    }
  }
  suspended_ = &mode->enabled;
  *suspended_ = false; // the key stays included
}

Casts::~Casts() {
  if (suspended_ != nullptr) {
    *suspended_ = true;
  }
}

// --- the public functions --------------------------------------------------------------------------------------------

bool is_autocast_enabled(DeviceType device) {
  return mode_of(device).enabled;
}

void set_autocast_enabled(DeviceType device, bool enabled) {
  mode_of(device).enabled = enabled;
  update_key();
}

ScalarType get_autocast_dtype(DeviceType device) {
  return mode_of(device).dtype;
}

void set_autocast_dtype(DeviceType device, ScalarType dtype) {
  mode_of(device).dtype = dtype;
}

bool profiler_needs_key() {
  return state.profiler_needs_key;
}

void set_profiler_needs_key(bool needs) {
  state.profiler_needs_key = needs;
  update_key();
}

bool is_autocast_cache_enabled() {
  return state.cache_enabled;
}

void set_autocast_cache_enabled(bool enabled) {
  state.cache_enabled = enabled;
}

int increment_nesting() {
  return ++state.nesting;
}

int decrement_nesting() {
  return --state.nesting;
}

void clear_cache() {
  CachedCasts& all = cached();
  decltype(all.casts) ended; // destroyed after the lock is released, because a tensor may run Python when it dies
  const std::lock_guard<std::mutex> lock(all.mutex);
  ended.swap(all.casts);
}

} // namespace reftorch::at::autocast
