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

// --- the lists of the CPU --------------------------------------------------------------------------------------------

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

// --- the lists of CUDA -----------------------------------------------------------------------------------------------

constexpr const char* kCudaLowerPrecision[] = {"conv1d",
                                               "conv2d",
                                               "conv3d",
                                               "conv_tbc",
                                               "conv_transpose1d",
                                               "conv_transpose2d.input",
                                               "conv_transpose3d.input",
                                               "convolution",
                                               "prelu",
                                               "addmm",
                                               "addmv",
                                               "addr",
                                               "matmul",
                                               "einsum",
                                               "mm",
                                               "mv",
                                               "linalg_vecdot",
                                               "linear",
                                               "addbmm",
                                               "baddbmm",
                                               "bmm",
                                               "chain_matmul",
                                               "linalg_multi_dot",
                                               "_thnn_fused_lstm_cell",
                                               "lstm_cell",
                                               "gru_cell",
                                               "rnn_tanh_cell",
                                               "rnn_relu_cell",
                                               "scaled_dot_product_attention"};

constexpr const char* kCudaFloat32[] = {"acos",
                                        "asin",
                                        "cosh",
                                        "erfinv",
                                        "exp",
                                        "expm1",
                                        "log",
                                        "log10",
                                        "log2",
                                        "log1p",
                                        "reciprocal",
                                        "rsqrt",
                                        "sinh",
                                        "tan",
                                        "pow.Tensor_Scalar",
                                        "pow.Tensor_Tensor",
                                        "pow.Scalar",
                                        "softplus",
                                        "layer_norm",
                                        "native_layer_norm",
                                        "rms_norm",
                                        "group_norm",
                                        "norm.Scalar",
                                        "norm.ScalarOpt_dim",
                                        "cosine_similarity",
                                        "poisson_nll_loss",
                                        "cosine_embedding_loss",
                                        "nll_loss",
                                        "nll_loss2d",
                                        "hinge_embedding_loss",
                                        "kl_div",
                                        "l1_loss",
                                        "smooth_l1_loss",
                                        "huber_loss",
                                        "mse_loss",
                                        "margin_ranking_loss",
                                        "multilabel_margin_loss",
                                        "soft_margin_loss",
                                        "triplet_margin_loss",
                                        "multi_margin_loss",
                                        "binary_cross_entropy_with_logits",
                                        "dist",
                                        "pdist",
                                        "cdist",
                                        "renorm",
                                        "logsumexp",
                                        "upsample_nearest1d",
                                        "_upsample_nearest_exact1d",
                                        "upsample_nearest2d",
                                        "_upsample_nearest_exact2d",
                                        "upsample_nearest3d",
                                        "_upsample_nearest_exact3d",
                                        "upsample_linear1d",
                                        "upsample_bilinear2d",
                                        "_upsample_bilinear2d_aa",
                                        "upsample_trilinear3d",
                                        "upsample_bicubic2d",
                                        "_upsample_bicubic2d_aa"};

// Ops with an argument dtype=, which becomes float32 unless the program has chosen one.
constexpr const char* kCudaFloat32Dtype[] = {"prod",
                                             "prod.dim_int",
                                             "softmax.int",
                                             "log_softmax.int",
                                             "cumprod",
                                             "cumsum",
                                             "linalg_vector_norm",
                                             "linalg_matrix_norm",
                                             "linalg_matrix_norm.str_ord",
                                             "sum",
                                             "sum.dim_IntList"};

constexpr const char* kCudaPromote[] = {"addcdiv", "addcmul",      "atan2",     "bilinear",  "cross",      "dot",
                                        "vdot",    "grid_sampler", "index_put", "tensordot", "scatter_add"};

constexpr const char* kCudaBanned[] = {"binary_cross_entropy"};

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
