// Mirrors: aten/src/ATen/native/transformers/attention.cpp, aten/src/ATen/native/transformers/sdp_utils_cpp.cpp
//
// Scaled dot-product attention: softmax(scale * Q K^T + mask) V. The composite chooses between two ways, as PyTorch
// does on a CPU: small operations, which are the ones to read (_scaled_dot_product_attention_math), and a kernel that
// never stores the whole matrix of weights (Note [Flash attention]). On CUDA, small operations compute every call. Left
// out: the kernels for GPUs, nested tensors, the functions that switch a way off, and the fused multi-head attention of
// nn.TransformerEncoder.
#include <ATen/native/attention.h>

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/functorch/DynamicLayer.h>
#include <ATen/native/TypeMetaName.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(flash_attention_stub)
DEFINE_DISPATCH(flash_attention_backward_stub)

namespace {

using OptionalTensor = std::optional<Tensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool mask_given(const OptionalTensor& t) {
  return t.has_value() && t->defined();
}

double scale_of(const Tensor& query, std::optional<double> scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

// --- the choice ------------------------------------------------------------------------------------------------------

// The numbers are PyTorch's (SDPBackend).
enum class SDPBackend : int64_t { Error = -1, Math = 0, FlashAttention = 1 };

bool mask_fits_flash(const Tensor& mask, const Tensor& query, const Tensor& key) {
  const auto is_one_or = [&mask](int64_t dim, int64_t size) { return mask.size(dim) == 1 || mask.size(dim) == size; };
  return !mask.requires_grad() && is_one_or(-2, query.size(2)) && is_one_or(-1, key.size(2)) &&
         (mask.dim() == 2 || (mask.dim() == 4 && is_one_or(0, query.size(0)) && is_one_or(1, query.size(1)))) &&
         mask.stride(-1) == 1;
}

bool fits_flash(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask,
                double dropout_p, bool enable_gqa) {
  const bool has_four_dims = query.dim() == 4 && key.dim() == 4 && value.dim() == 4;
  const bool has_kernel = !query.device().is_cuda(); // the op has the CPU's name, and no kernel for CUDA
  if (!has_kernel || !has_four_dims || dropout_p > 0 || !query.is_floating_point()) {
    return false;
  }
  const int64_t batch = query.size(0), heads = query.size(1), groups = key.size(1), head_size = query.size(3);
  const bool heads_fit = value.size(1) == groups && (enable_gqa ? groups > 0 && heads % groups == 0 : heads == groups);
  return key.size(0) == batch && value.size(0) == batch && heads_fit && key.size(3) == head_size &&
         value.size(3) == head_size && query.size(2) != 0 && key.size(2) != 0 && query.stride(3) == 1 &&
         key.stride(3) == 1 && value.stride(3) == 1 && (!mask_given(mask) || mask_fits_flash(*mask, query, key));
}

// Raises RuntimeError if the one way that the program allows cannot compute this call.
SDPBackend select_backend(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask,
                          double dropout_p, bool enable_gqa) {
  const Context& context = globalContext();
  if (context.userEnabledFlashSDP() && fits_flash(query, key, value, mask, dropout_p, enable_gqa)) {
    return SDPBackend::FlashAttention;
  }
  if (context.userEnabledMathSDP()) {
    return SDPBackend::Math;
  }
  TORCH_CHECK(!context.userEnabledFlashSDP(), "No available kernel.  Aborting execution.");
  return SDPBackend::Error;
}

int64_t _fused_sdp_choice(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& attn_mask,
                          double dropout_p, bool /*is_causal*/, std::optional<double> /*scale*/, bool enable_gqa) {
  return static_cast<int64_t>(select_backend(query, key, value, attn_mask, dropout_p, enable_gqa));
}

// --- in small operations ---------------------------------------------------------------------------------------------

// Returns 0 where a boolean mask is true, which keeps a key, and -inf elsewhere.
OptionalTensor convert_boolean_attn_mask(const OptionalTensor& mask, ScalarType dtype) {
  if (!mask_given(mask) || mask->scalar_type() != kBool) {
    return mask;
  }
  const auto number = [&](double value) { return at::scalar_tensor(value, dtype, mask->device()); };
  return at::where(*mask, number(0.0), number(-kInfinity));
}

// Repeats the heads of keys or values that several heads of queries share.
Tensor for_all_heads(const Tensor& heads, int64_t groups, int64_t count) {
  TORCH_CHECK(groups > 0 && count % groups == 0,
              "Number of heads in key and value must divide the number of heads in query");
  return at::repeat_interleave(heads, count / groups, -3);
}

// A softmax whose rows of nothing but -inf are 0. The plain softmax makes NaN of them.
Tensor _safe_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  const Tensor result = at::softmax(self, dim, dtype);
  const auto number = [&](double value, ScalarType type) { return at::scalar_tensor(value, type, self.device()); };
  const Tensor is_masked = at::eq(self, number(-kInfinity, self.is_floating_point() ? self.scalar_type() : kFloat));
  return at::where(at::all(is_masked, dim, /*keepdim=*/true), number(0.0, result.scalar_type()), result);
}

// query (*, L, E), key (*, S, E), value (*, S, D), attn_mask broadcast to (*, L, S); returns the result, (*, L, D), and
// the weights, (*, L, S). Query and key are both multiplied by the root of the scale, so that neither the product nor
// its factors become large.
std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math(const Tensor& query, const Tensor& key,
                                                              const Tensor& value, const OptionalTensor& attn_mask,
                                                              double dropout_p, bool is_causal,
                                                              const OptionalTensor& dropout_mask,
                                                              std::optional<double> scale, bool enable_gqa) {
  const ScalarType dtype = query.scalar_type();
  const auto widened = [](const Tensor& t) {
    return c10::isReducedFloatingType(t.scalar_type()) ? at::to(t, kFloat) : t;
  };
  const Tensor wide_query = widened(query);
  Tensor keys = widened(key), values = widened(value);

  const double whole = scale_of(query, scale), root = std::sqrt(std::abs(whole));
  const Tensor scaled_query = at::mul(wide_query, whole < 0 ? -root : root);
  OptionalTensor mask = attn_mask;
  if (is_causal) {
    TORCH_CHECK(!mask_given(attn_mask),
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
    const Tensor earlier = at::tril(at::ones({query.size(-2), key.size(-2)}, kBool, query.device()));
    mask = convert_boolean_attn_mask(earlier, scaled_query.scalar_type());
  }
  if (enable_gqa) {
    const int64_t heads = query.size(-3), key_groups = keys.size(-3), value_groups = values.size(-3);
    keys = for_all_heads(keys, key_groups, heads);
    values = for_all_heads(values, value_groups, heads);
  }
  Tensor weights = at::matmul(scaled_query, at::mul(at::transpose(keys, -2, -1), root));
  if (mask_given(mask)) {
    // In place, so that a mask with more dimensions is an error. Under vmap, the mask alone may be a batch.
    weights = functorch::current_layer() == nullptr ? at::add_(weights, *mask) : at::add(weights, *mask);
  }
  weights = at::_safe_softmax(weights, -1);
  if (dropout_p > 0 && mask_given(dropout_mask)) {
    weights = at::masked_fill(weights, at::logical_not(*dropout_mask), 0.0);
    values = at::mul(values, 1 / (1 - dropout_p));
  } else if (dropout_p > 0) {
    weights = at::dropout(weights, dropout_p, /*train=*/true);
  }
  const Tensor result = at::matmul(weights, values);
  return {at::to(result, dtype), at::to(weights, dtype)};
}

// --- by tiles --------------------------------------------------------------------------------------------------------

#define FLASH "scaled_dot_product_attention_flash_attention: "

void check_flash(const Tensor& query, const Tensor& key, const Tensor& value, double dropout_p,
                 const OptionalTensor& mask) {
  const ScalarType dtype = query.scalar_type();
  query.size(2); // raises IndexError for a tensor with fewer dimensions, as in PyTorch
  TORCH_CHECK(query.is_floating_point(), FLASH "Expected data type in FP32, FP64, BF16, FP16, but got ", dtype,
              " instead.");
  TORCH_CHECK(query.dim() == 4 && key.dim() == 4 && value.dim() == 4,
              FLASH "Accept only 4 dims inputs shape of {B, H, T, K}");
  TORCH_CHECK(dropout_p == 0, FLASH "Currently do not support dropout > 0");
  TORCH_CHECK(query.size(3) == value.size(3) && key.size(3) == value.size(3),
              FLASH "Q/K/V should have the same head size");
  TORCH_CHECK(!mask_given(mask) || mask->scalar_type() == kFloat || mask->scalar_type() == dtype,
              FLASH "Attention mask is the same data type as query");
  TORCH_CHECK(!mask_given(mask) || mask->dim() == 2 || mask->dim() == 4, FLASH "Attention mask dim in {2, 4}");
  for (const Tensor* t : {&key, &value}) {
    TORCH_CHECK(t->scalar_type() == dtype, "expected scalar type ", dtype, " but found ", t->scalar_type());
    TORCH_CHECK(t->device() == query.device(), FLASH "expected key and value on ", query.device(), ", but got ",
                t->device());
  }
  const int64_t heads = query.size(1), groups = key.size(1);
  TORCH_CHECK(key.sizes() == value.sizes() && key.size(0) == query.size(0) && groups > 0 && heads % groups == 0,
              FLASH
              "expected key and value of one shape, (B, G, S, E), where B and E are those of query, (B, H, L, E), "
              "and G divides H, but got query ",
              query.sizes(), ", key ", key.sizes(), " and value ", value.sizes());
}

// The dtype in which the kernels compute.
ScalarType computing(const Tensor& t) {
  return t.scalar_type() == kDouble ? kDouble : kFloat;
}

// Returns t, (B, H, L, E), in the dtype of the computation. Each row is dense, and no two rows overlap.
Tensor ready(const Tensor& t, ScalarType dtype) {
  const Tensor converted = at::to(t, dtype);
  const bool dense = converted.size(3) == 1 || converted.stride(3) == 1;
  const bool apart = converted.size(2) == 1 || converted.stride(2) >= converted.size(3);
  return dense && apart ? converted : converted.contiguous();
}

// Returns the mask broadcast to (B, H, L, S), or an undefined tensor.
Tensor broadcast_mask(const OptionalTensor& mask, const Tensor& query, const Tensor& key, ScalarType dtype) {
  if (!mask_given(mask)) {
    return Tensor();
  }
  return at::expand(at::to(*mask, dtype), {query.size(0), query.size(1), query.size(2), key.size(2)});
}

// Returns a tensor of the shape of `like` whose heads lie next to each other, (B, L, H, E), as in PyTorch.
Tensor empty_heads(const Tensor& like, ScalarType dtype) {
  return at::transpose(
      detail::empty_generic({like.size(0), like.size(2), like.size(1), like.size(3)}, dtype, like.device()), 1, 2);
}

// Returns the result, of the shape of query, and the logarithm of the sum of the exponentials of each query's scores.
std::tuple<Tensor, Tensor> flash_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                           double dropout_p, bool is_causal, const OptionalTensor& attn_mask,
                                           std::optional<double> scale) {
  check_flash(query, key, value, dropout_p, attn_mask);
  const ScalarType dtype = computing(query);
  const Tensor queries = ready(query, dtype), output = at::empty_like(queries); // of dense rows
  const Tensor logsumexp =
      at::transpose(detail::empty_generic({query.size(0), query.size(2), query.size(1)}, dtype, query.device()), 1, 2);
  if (query.numel() == 0 || key.numel() == 0) {
    return {at::zeros_like(query), at::zeros_like(logsumexp)};
  }
  flash_attention_stub(query.device().type(), output, logsumexp, queries, ready(key, dtype), ready(value, dtype),
                       broadcast_mask(attn_mask, query, key, dtype),
                       AttentionOptions{is_causal, scale_of(query, scale)});
  return {at::to(output, query.scalar_type()), logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> flash_attention_backward(const Tensor& grad_out, const Tensor& query,
                                                            const Tensor& key, const Tensor& value, const Tensor& out,
                                                            const Tensor& logsumexp, double dropout_p, bool is_causal,
                                                            const OptionalTensor& attn_mask,
                                                            std::optional<double> scale) {
  check_flash(query, key, value, dropout_p, attn_mask);
  const IntArrayRef sizes = query.sizes();
  TORCH_CHECK(grad_out.sizes() == sizes && out.sizes() == sizes && logsumexp.sizes() == sizes.slice(0, 3),
              FLASH "expected grad_out and out of the shape of query, ", sizes,
              ", and logsumexp without its last size, "
              "but got ",
              grad_out.sizes(), ", ", out.sizes(), " and ", logsumexp.sizes());
  const ScalarType dtype = computing(query);
  Tensor grad_query = empty_heads(query, dtype), grad_key = empty_heads(key, dtype);
  Tensor grad_value = empty_heads(value, dtype);
  if (query.numel() == 0 || key.numel() == 0) {
    for (Tensor* grad : {&grad_query, &grad_key, &grad_value}) {
      at::zero_(*grad);
    }
  } else {
    flash_attention_backward_stub(query.device().type(), grad_query, grad_key, grad_value, ready(grad_out, dtype),
                                  ready(query, dtype), ready(key, dtype), ready(value, dtype), ready(out, dtype),
                                  at::to(logsumexp, dtype), broadcast_mask(attn_mask, query, key, dtype),
                                  AttentionOptions{is_causal, scale_of(query, scale)});
  }
  const ScalarType given = query.scalar_type();
  return {at::to(grad_query, given), at::to(grad_key, given), at::to(grad_value, given)};
}

// --- the composite ---------------------------------------------------------------------------------------------------

void validate_sdpa_input(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask) {
  const ScalarType dtype = query.scalar_type();
  const auto name = [](const Tensor& t) { return type_meta_name(t.scalar_type()); };
  TORCH_CHECK(key.scalar_type() == dtype && value.scalar_type() == dtype,
              "Expected query, key, and value to have the same dtype, but got query.dtype: ", name(query),
              " key.dtype: ", name(key), " and value.dtype: ", name(value), " instead.");
  TORCH_CHECK(key.device() == query.device() && value.device() == query.device(),
              "Expected query, key, and value to have the same device type, but got query.device: ", query.device(),
              " key.device: ", key.device(), " and value.device: ", value.device(), " instead.");
  TORCH_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
              "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: ", query.dim(),
              " key.dim: ", key.dim(), " and value.dim: ", value.dim(), " instead.");
  if (mask_given(mask)) {
    TORCH_CHECK(mask->scalar_type() == kBool || mask->scalar_type() == kFloat || mask->scalar_type() == dtype,
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ",
                name(*mask), " and  query.dtype: ", name(query), " instead.");
  }
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const OptionalTensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  validate_sdpa_input(query, key, value, attn_mask);
  // Without queries or values, the result is zeros that depend on all three tensors, for the graph. The batches do not
  // broadcast then, as in PyTorch. Other calls without elements are made of small operations, which broadcast.
  if (query.size(-2) == 0 || value.numel() == 0) {
    DimVector sizes(query.sizes());
    sizes.back() = value.size(-1);
    const Tensor sum = at::add(at::add(at::sum(query), at::sum(key)), at::sum(value));
    return at::add(at::zeros(sizes, query.scalar_type(), query.device()), at::mul(sum, 0));
  }
  const SDPBackend backend = select_backend(query, key, value, attn_mask, dropout_p, enable_gqa);
  TORCH_CHECK(
      backend != SDPBackend::Error,
      "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the "
      "math kernel and the fused kernels.");
  const OptionalTensor mask = convert_boolean_attn_mask(attn_mask, query.scalar_type());
  if (backend == SDPBackend::FlashAttention) {
    return std::get<0>(
        at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, mask, scale));
  }
  return std::get<0>(at::_scaled_dot_product_attention_math(query, key, value, mask, dropout_p, is_causal,
                                                            /*dropout_mask=*/std::nullopt, scale, enable_gqa));
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  const Tags random = tags(Tag::nondeterministic_seeded);
  m.def_composite(
      "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
      "dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
      TORCH_FN(scaled_dot_product_attention), variants::NN, random);
  m.def_composite(
      "_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
      "dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> "
      "(Tensor, Tensor)",
      TORCH_FN(_scaled_dot_product_attention_math), variants::FUNCTION, random);
  m.def(
      "_fused_sdp_choice(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool "
      "is_causal=False, *, float? scale=None, bool enable_gqa=False) -> int",
      TORCH_FN(_fused_sdp_choice), variants::FUNCTION, random);
  m.def("_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", TORCH_FN(_safe_softmax),
        variants::FUNCTION);
  m.def(
      "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool "
      "is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
      TORCH_FN(flash_attention), kernels(flash_attention_stub), variants::FUNCTION, random);
  m.def(
      "_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, "
      "Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) -> "
      "(Tensor grad_query, Tensor grad_key, Tensor grad_value)",
      TORCH_FN(flash_attention_backward), kernels(flash_attention_backward_stub), variants::NN);
}

#undef FLASH

} // namespace reftorch::at::native
