// Mirrors: aten/src/ATen/autocast_mode.cpp
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

struct AutocastState {
  bool cpu_enabled = false;
  bool profiler_needs_key = false;
  ScalarType cpu_dtype = kBFloat16;
  ScalarType cuda_dtype = kHalf;
  bool cuda_enabled = false;
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
              c10::DeviceTypeName(device), ". Hint: autocast serves the CPU.");
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

bool is_eligible(const Tensor& t) {
  return t.defined() && t.device().type() == DeviceType::CPU && t.is_floating_point() && t.scalar_type() != kDouble;
}

Tensor cached_cast(ScalarType dtype, const Tensor& t) {
  if (!is_eligible(t) || t.scalar_type() == dtype) {
    return t;
  }
  // See Note [Cast weights].
  const bool keeps = state.cache_enabled && dtype == state.cpu_dtype && t.scalar_type() == kFloat &&
                     t.requires_grad() && is_leaf_and_no_view != nullptr && is_leaf_and_no_view(t);
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
ScalarType widest(IValue* args, size_t count) {
  ScalarType result = state.cpu_dtype;
  map_tensors(args, count, [&result](const Tensor& t) {
    if (is_eligible(t) && t.scalar_type() != result) {
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
  const bool on = state.cpu_enabled || state.profiler_needs_key;
  included = on ? included | DispatchKey::Profiler : included - DispatchKey::Profiler;
}

// --- the lists -------------------------------------------------------------------------------------------------------

constexpr const char* kLowerPrecision[] = {"conv1d",
                                           "conv1d.padding",
                                           "conv2d",
                                           "conv2d.padding",
                                           "conv3d",
                                           "conv3d.padding",
                                           "bmm",
                                           "mm",
                                           "linalg_vecdot",
                                           "baddbmm",
                                           "addmm",
                                           "addbmm",
                                           "linear",
                                           "matmul",
                                           "mkldnn_rnn_layer",
                                           "conv_tbc",
                                           "conv_transpose1d",
                                           "conv_transpose2d.input",
                                           "conv_transpose3d.input",
                                           "prelu",
                                           "scaled_dot_product_attention"};

constexpr const char* kFloat32[] = {"adaptive_avg_pool3d",
                                    "adaptive_max_pool3d",
                                    "avg_pool3d",
                                    "binary_cross_entropy",
                                    "binary_cross_entropy_with_logits",
                                    "cdist",
                                    "cholesky",
                                    "cholesky_inverse",
                                    "cholesky_solve",
                                    "cosine_embedding_loss",
                                    "cross_entropy_loss",
                                    "ctc_loss.IntList",
                                    "ctc_loss.Tensor",
                                    "fractional_max_pool2d",
                                    "fractional_max_pool3d",
                                    "geqrf",
                                    "grid_sampler",
                                    "grid_sampler_2d",
                                    "grid_sampler_3d",
                                    "hinge_embedding_loss",
                                    "huber_loss",
                                    "inverse",
                                    "kl_div",
                                    "l1_loss",
                                    "linalg_cholesky",
                                    "linalg_cholesky_ex",
                                    "linalg_cond",
                                    "linalg_cond.p_str",
                                    "linalg_eig",
                                    "linalg_eigh",
                                    "linalg_eigvals",
                                    "linalg_eigvalsh",
                                    "linalg_householder_product",
                                    "linalg_inv",
                                    "linalg_inv_ex",
                                    "linalg_lstsq",
                                    "linalg_matrix_rank",
                                    "linalg_matrix_rank.atol_rtol_float",
                                    "linalg_matrix_rank.atol_rtol_tensor",
                                    "linalg_matrix_rank.tol_tensor",
                                    "linalg_qr",
                                    "linalg_solve",
                                    "linalg_svd",
                                    "linalg_svdvals",
                                    "linalg_tensorinv",
                                    "linalg_tensorsolve",
                                    "lu_solve",
                                    "margin_ranking_loss",
                                    "max_pool3d",
                                    "max_unpool2d",
                                    "max_unpool3d",
                                    "mse_loss",
                                    "multi_margin_loss",
                                    "multilabel_margin_loss",
                                    "multilabel_margin_loss_forward",
                                    "nanquantile",
                                    "nanquantile.scalar",
                                    "nll_loss",
                                    "nll_loss2d",
                                    "orgqr",
                                    "ormqr",
                                    "pinverse",
                                    "poisson_nll_loss",
                                    "prod",
                                    "prod.dim_int",
                                    "qr",
                                    "quantile",
                                    "quantile.scalar",
                                    "reflection_pad1d",
                                    "reflection_pad2d",
                                    "replication_pad1d",
                                    "replication_pad2d",
                                    "replication_pad3d",
                                    "smooth_l1_loss",
                                    "soft_margin_loss",
                                    "svd",
                                    "trace",
                                    "triangular_solve",
                                    "triplet_margin_loss"};

constexpr const char* kPromote[] = {"stack", "cat", "index_copy"};

enum class CastPolicy : uint8_t { None, LowerPrecision, Float32, Promote };

// Finds the policy of an op in a table that the first op inside the mode makes.
CastPolicy policy_of(const OperatorEntry& entry) {
  static const auto* policies = [] {
    auto* table = new std::unordered_map<const OperatorEntry*, CastPolicy>;
    const auto add = [table](const auto& names, CastPolicy policy) {
      for (const char* name : names) {
        (*table)[&Dispatcher::singleton().findSchemaOrThrow(name).entry()] = policy;
      }
    };
    add(kLowerPrecision, CastPolicy::LowerPrecision);
    add(kFloat32, CastPolicy::Float32);
    add(kPromote, CastPolicy::Promote);
    return table;
  }();
  const auto found = policies->find(&entry);
  return found != policies->end() ? found->second : CastPolicy::None;
}

} // namespace

Casts::Casts(const OperatorHandle& op, Stack* stack) {
  const CastPolicy policy = state.cpu_enabled ? policy_of(op.entry()) : CastPolicy::None;
  if (policy == CastPolicy::None) {
    return;
  }
  const size_t count = op.schema().arguments.size();
  IValue* args = last(*stack, count);
  const ScalarType dtype = policy == CastPolicy::LowerPrecision ? state.cpu_dtype
                           : policy == CastPolicy::Float32      ? kFloat
                                                                : widest(args, count);
  map_tensors(args, count, [dtype](const Tensor& t) { return cached_cast(dtype, t); });
  is_listed_ = true;
  state.cpu_enabled = false; // the key stays included
}

Casts::~Casts() {
  if (is_listed_) {
    state.cpu_enabled = true;
  }
}

// --- the public functions --------------------------------------------------------------------------------------------

bool is_autocast_enabled(DeviceType device) {
  switch (device) {
    case DeviceType::CPU: return state.cpu_enabled;
    case DeviceType::CUDA: return state.cuda_enabled;
    default: report_unknown_device(device);
  }
}

void set_autocast_enabled(DeviceType device, bool enabled) {
  switch (device) {
    case DeviceType::CPU:
      state.cpu_enabled = enabled;
      update_key();
      break;
    case DeviceType::CUDA: state.cuda_enabled = enabled; break;
    default: report_unknown_device(device);
  }
}

ScalarType get_autocast_dtype(DeviceType device) {
  switch (device) {
    case DeviceType::CPU: return state.cpu_dtype;
    case DeviceType::CUDA: return state.cuda_dtype;
    default: report_unknown_device(device);
  }
}

void set_autocast_dtype(DeviceType device, ScalarType dtype) {
  switch (device) {
    case DeviceType::CPU: state.cpu_dtype = dtype; break;
    case DeviceType::CUDA: state.cuda_dtype = dtype; break;
    default: report_unknown_device(device);
  }
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
