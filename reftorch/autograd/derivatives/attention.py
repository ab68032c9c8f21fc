"""Derivatives of attention.

Mirrors: tools/autograd/derivatives.yaml (_safe_softmax, _scaled_dot_product_flash_attention_for_cpu)

PyTorch has no second gradient of its fused attention. Here the backward consists of small operations where a second
gradient is wanted, and these have derivatives themselves.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_fn, _nn = _C._VariableFunctions, _C._nn

derivative(
    "_safe_softmax",
    self=lambda grad, result, dim, self_scalar_type: _fn._softmax_backward_data(grad, result, dim, self_scalar_type),
)


def _by_ops(
    grad: Any, query: Any, key: Any, value: Any, is_causal: bool, attn_mask: Any, scale: float | None
) -> tuple[Any, Any, Any]:
    """The gradients of query (B, H, L, E), key and value (B, G, S, E), with all weights in memory."""
    # Heads without elements have gradients without elements, whatever the factor is.
    factor = max(query.shape[-1], 1) ** -0.5 if scale is None else scale
    groups = key.shape[1]
    if groups != query.shape[1]:
        key, value = (_fn.repeat_interleave(t, query.shape[1] // groups, 1) for t in (key, value))
    scores = query @ key.transpose(-2, -1) * factor
    if attn_mask is not None:
        scores = scores + attn_mask
    if is_causal:
        later = _fn.ones(scores.shape[-2:], dtype=_C.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, -float("inf"))
    weights = _fn._safe_softmax(scores, -1)
    grad_weights = grad @ value.transpose(-2, -1)
    grad_scores = _fn._softmax_backward_data(grad_weights, weights, -1, weights.dtype) * factor
    grad_key, grad_value = grad_scores.transpose(-2, -1) @ query, weights.transpose(-2, -1) @ grad
    if groups != query.shape[1]:  # a shared head of keys gets the sum of its heads of queries
        grad_key, grad_value = (t.unflatten(1, (groups, -1)).sum(2) for t in (grad_key, grad_value))
    return grad_scores @ key, grad_key, grad_value


@derivative(
    "_scaled_dot_product_flash_attention_for_cpu",
    inputs=["query", "key", "value"],
    output_differentiability=[True, False],
)
def flash_attention(
    grad: Any, query: Any, key: Any, value: Any, dropout_p: float, is_causal: bool, attn_mask: Any,
    scale: float | None, output: Any, logsumexp: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    if _C.is_grad_enabled():
        return _by_ops(grad, query, key, value, is_causal, attn_mask, scale)
    return _nn._scaled_dot_product_flash_attention_for_cpu_backward(
        grad, query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask=attn_mask, scale=scale
    )


non_differentiable("_fused_sdp_choice")  # a number
