r"""Attention with several heads: projections before and after scaled dot-product attention.

Mirrors: torch/nn/functional.py (``multi_head_attention_forward`` and its helpers)
Leaves out: calls while TorchScript traces.
"""

from __future__ import annotations

import math
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._warnings import warn
from reftorch.nn.functional.attention import scaled_dot_product_attention
from reftorch.nn.functional.dropouts import dropout
from reftorch.nn.functional.linear_maps import linear
from reftorch.nn.functional.padding import pad

__all__ = ["multi_head_attention_forward"]


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Project by one matrix that has the three matrices below each other; equal inputs are projected together."""
    E = q.size(-1)
    if k is not v:
        biases = (None, None, None) if b is None else b.chunk(3)
        q, k, v = (linear(x, each, bias) for x, each, bias in zip((q, k, v), w.chunk(3), biases, strict=True))
        return q, k, v
    if q is k:
        # (..., 3E) -> (3, ..., E)
        q, k, v = linear(q, w, b).unflatten(-1, (3, E)).movedim(-2, 0).contiguous().unbind(0)
        return q, k, v
    w_q, w_kv = w.split([E, 2 * E])
    b_q, b_kv = (None, None) if b is None else b.split([E, 2 * E])
    projected = linear(q, w_q, b_q)
    k, v = linear(k, w_kv, b_kv).unflatten(-1, (2, E)).movedim(-2, 0).contiguous().unbind(0)
    return projected, k, v


def _in_projection(inputs: Any, weights: Any, biases: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Project query, key and value by a matrix for each."""
    E = inputs[0].size(-1)
    for x, w, name in zip(inputs, weights, ("query", "key", "value"), strict=True):
        _check(w.shape == (E, x.size(-1)), f"expecting {name} weights shape of {(E, x.size(-1))}, but got {w.shape}")
    for b, name in zip(biases, ("query", "key", "value"), strict=True):
        if b is not None:
            _check(b.shape == (E,), f"expecting {name} bias shape of {(E,)}, but got {b.shape}")
    q, k, v = (linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True))
    return q, k, v


def _none_or_dtype(input: Tensor | None) -> Any:
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Tensor | None:
    """Return a mask that is added to the scores: minus infinity where a boolean mask is True."""
    if mask is None:
        return None
    if mask.dtype != _C.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
        )
    if mask.is_floating_point():
        return mask
    return _VF.zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _mha_shape_check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Check the numbers of dimensions; return whether there is a batch."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    batched = query.dim() == 3
    kind, rank = ("batched (3-D)", 3) if batched else ("unbatched (2-D)", 2)
    _check(
        key.dim() == rank and value.dim() == rank,
        f"For {kind} `query`, expected `key` and `value` to be {rank}-D but found {key.dim()}-D and {value.dim()}-D "
        "tensors respectively",
    )
    if key_padding_mask is not None:
        _check(
            key_padding_mask.dim() == rank - 1,
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead",
        )
    if attn_mask is not None:
        _check(
            attn_mask.dim() in (2, 3),
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor "
            "instead",
        )
        expected = (num_heads, query.shape[0], key.shape[0])
        _check(
            batched or attn_mask.dim() == 2 or attn_mask.shape == expected,
            f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}",
        )
    return batched


def _check_attn_mask(attn_mask: Tensor, heads: int, tgt_len: int, src_len: int) -> Tensor:
    """Return the mask with three dimensions."""
    expected = (tgt_len, src_len) if attn_mask.dim() == 2 else (heads, tgt_len, src_len)
    if attn_mask.dim() not in (2, 3):
        raise RuntimeError(f"attn_mask's dimension {attn_mask.dim()} is not supported")
    if attn_mask.shape != expected:
        raise RuntimeError(
            f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {expected}."
        )
    return attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask


def _heads(x: Tensor, static: Tensor | None, name: str, heads: int, head_dim: int) -> Tensor:
    """Split the features into heads, (S, N, E) -> (N heads, S, E / heads), or take a tensor that is split already."""
    if static is None:
        return x.view(x.shape[0], heads, head_dim).transpose(0, 1)
    _check(static.size(0) == heads, f"expecting {name}.size(0) of {heads}, but got {static.size(0)}")
    _check(static.size(2) == head_dim, f"expecting {name}.size(2) of {head_dim}, but got {static.size(2)}")
    return static


@overridable
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    r"""Project query, key and value, attend with each head, join the heads and project again.

    Args:
        query: :math:`(L, N, E)`, or :math:`(L, E)` without a batch.
        key: :math:`(S, N, E_k)` or :math:`(S, E_k)`.
        value: :math:`(S, N, E_v)` or :math:`(S, E_v)`.
        embed_dim_to_check: :math:`E`.
        num_heads: the number of heads; it divides :math:`E`.
        in_proj_weight, in_proj_bias: the three projections below each other, :math:`(3E, E)` and :math:`(3E)`.
        bias_k, bias_v: a further key and value, :math:`(1, 1, E)`.
        add_zero_attn: whether to add a key and a value of zeros.
        dropout_p: the probability with which weights are dropped in training.
        out_proj_weight, out_proj_bias: the last projection.
        training: whether weights are dropped.
        key_padding_mask: :math:`(N, S)` or :math:`(S)`; True in a boolean mask removes a key, a float is added.
        need_weights: whether to return the weights; without them, the kernel of attention can be used.
        attn_mask: :math:`(L, S)` or :math:`(N H, L, S)` with :math:`H` heads; True removes a key for a query.
        use_separate_proj_weight: whether there are three projections instead of ``in_proj_weight``.
        q_proj_weight, k_proj_weight, v_proj_weight: these projections.
        static_k, static_v: keys and values after projection, :math:`(N H, S, E / H)`.
        average_attn_weights: whether to return the mean of the heads' weights.
        is_causal: a hint that ``attn_mask`` is the causal mask.

    Returns:
        The output, :math:`(L, N, E)` or :math:`(L, E)`, and the weights, :math:`(N, L, S)`, :math:`(N, H, L, S)`,
        without :math:`N` if there is no batch, or None.

    Raises:
        AssertionError: the shapes of inputs and weights do not fit.
        RuntimeError: ``attn_mask`` has another shape, or is missing although ``is_causal`` is set.

    Mirrors torch/nn/functional.py, ``multi_head_attention_forward``.
    """
    is_batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)

    tgt_len, bsz, embed_dim = query.shape
    src_len = key.shape[0]
    key_padding_mask = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the hint is enough
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        is_causal = is_causal and key_padding_mask is None

    _check(
        embed_dim == embed_dim_to_check,
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}",
    )
    head_dim, heads = embed_dim // num_heads, bsz * num_heads
    _check(head_dim * num_heads == embed_dim, f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        _check(
            key.shape[:2] == value.shape[:2],
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}",
        )
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        for name, weight in zip("qkv", weights, strict=True):
            _check(weight is not None, f"use_separate_proj_weight is True but {name}_proj_weight is None")
        biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = _in_projection((query, key, value), weights, biases)
    else:
        _check(key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}")
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)

    if attn_mask is not None:
        attn_mask = _check_attn_mask(attn_mask, heads, tgt_len, src_len)
    further = 0  # keys that have no column in the masks
    if bias_k is not None and bias_v is not None:
        _check(static_k is None, "bias cannot be added to static key.")
        _check(static_v is None, "bias cannot be added to static value.")
        k = _VF.cat([k, bias_k.repeat(1, bsz, 1)])
        v = _VF.cat([v, bias_v.repeat(1, bsz, 1)])
        further += 1
    else:
        _check(bias_k is None, "bias_k is set but bias_v is None")
        _check(bias_v is None, "bias_v is set but bias_k is None")

    q = q.view(tgt_len, heads, head_dim).transpose(0, 1)
    k = _heads(k, static_k, "static_k", heads, head_dim)
    v = _heads(v, static_v, "static_v", heads, head_dim)
    if add_zero_attn:
        zeros = k.new_zeros(heads, 1, head_dim)
        k, v = _VF.cat([k, zeros], dim=1), _VF.cat([v, zeros], dim=1)
        further += 1
    src_len = k.size(1)
    if further and attn_mask is not None:
        attn_mask = pad(attn_mask, (0, further))
    if key_padding_mask is not None:
        key_padding_mask = pad(key_padding_mask, (0, further)) if further else key_padding_mask
        _check(
            key_padding_mask.shape[0] == bsz,
            f"Expected key_padded_mask.shape[0] to be {bsz}, but got {key_padding_mask.shape[0]}",
        )
        _check(
            key_padding_mask.shape[1] == src_len,
            f"Expected key_padded_mask.shape[1] to be {src_len}, but got {key_padding_mask.shape[1]}",
        )
        key_padding_mask = (
            key_padding_mask.view(bsz, 1, 1, src_len).expand(-1, num_heads, -1, -1).reshape(heads, 1, src_len)
        )
        attn_mask = key_padding_mask if attn_mask is None else attn_mask + key_padding_mask
    if not training:
        dropout_p = 0.0

    output_weights = None
    if need_weights:
        scaled = q * math.sqrt(1.0 / head_dim)
        keys = k.transpose(-2, -1)
        scores = _VF.bmm(scaled, keys) if attn_mask is None else _VF.baddbmm(attn_mask, scaled, keys)
        output_weights = scores.softmax(-1)
        if dropout_p > 0.0:
            output_weights = dropout(output_weights, p=dropout_p)
        output = _VF.bmm(output_weights, v).transpose(0, 1).reshape(tgt_len * bsz, embed_dim)
        output_weights = output_weights.view(bsz, num_heads, tgt_len, src_len)
        if average_attn_weights:
            output_weights = output_weights.mean(dim=1)
        if not is_batched:
            output_weights = output_weights.squeeze(0)
    else:
        if attn_mask is not None:
            # (1, L, S) serves all heads of all examples; (N heads, L, S) is split.
            one = attn_mask.size(0) == 1 and attn_mask.dim() == 3
            attn_mask = attn_mask.unsqueeze(0) if one else attn_mask.view(bsz, num_heads, -1, src_len)
        q, k, v = (x.view(bsz, num_heads, -1, head_dim) for x in (q, k, v))
        output = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
        output = output.permute(2, 0, 1, 3).reshape(bsz * tgt_len, embed_dim)
    output = linear(output, out_proj_weight, out_proj_bias)
    output = output.view(tgt_len, bsz, output.size(1))
    return (output if is_batched else output.squeeze(1)), output_weights
