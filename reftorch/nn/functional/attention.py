r"""Scaled dot-product attention.

Mirrors: torch/nn/functional.py (``scaled_dot_product_attention``), aten/src/ATen/native/transformers/attention.cpp
Leaves out: the kernels that never store the whole matrix of weights. Causal attention goes by blocks of queries.
"""

from __future__ import annotations

import math

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable_as_called
from reftorch._utils import scalar_type_name
from reftorch.amp._casts import lower_precision_fp

__all__ = ["scaled_dot_product_attention"]

_QUERIES_OF_A_BLOCK = 64


def _name(tensor: Tensor) -> str:
    return scalar_type_name(tensor.dtype).lower()


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool) -> None:
    if query.dtype != key.dtype or query.dtype != value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got "
            f"query.dtype: {_name(query)} key.dtype: {_name(key)} and value.dtype: {_name(value)} instead."
        )
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
    if attn_mask is None:
        return
    if is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if attn_mask.dtype not in (_C.bool, _C.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {_name(attn_mask)} and  query.dtype: {_name(query)} instead."
        )


def _for_all_heads(heads: Tensor, count: int) -> Tensor:
    """Repeat keys or values that several query heads share, so that there is one for each query head."""
    if count % heads.shape[-3] != 0:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in query")
    return heads.repeat_interleave(count // heads.shape[-3], -3)


def _causal_weights(queries: Tensor, keys: Tensor, first: int) -> Tensor:
    """Return the weights of the queries from number ``first`` on; a query has only the keys up to its own number."""
    scores = queries @ keys.transpose(-2, -1)
    later = _VF.ones(scores.shape[-2:], dtype=_C.bool, device=scores.device).triu(first + 1)
    return scores.masked_fill_(later, -math.inf).softmax(-1)  # no row is empty: each query has the first key


def _causal_by_blocks(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend causally, block of queries by block of queries, which saves nearly half of the products.

    Keys after the last query of a block have weight 0 for the whole block, so its products leave them out. Without
    gradients, only the weights of one block are in memory at a time. The blocks are taken from the last to the first:
    the keys of a block are then a slice of the keys of the block before, and their gradient is padded to that length
    instead of the full one.
    """
    results = []
    first = query.shape[-2]
    for queries in reversed(query.split(_QUERIES_OF_A_BLOCK, -2)):
        last, first = first, first - queries.shape[-2]
        if last < key.shape[-2]:
            key, value = key[..., :last, :], value[..., :last, :]
        results.append(_causal_weights(queries, key, first) @ value)
    return _VF.cat(results[::-1], -2)


@overridable_as_called
@lower_precision_fp
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    r"""Give each query a mean of the values, weighted by how well their keys match the query.

    The result is :math:`\mathrm{softmax}(s\, Q K^T + M)\, V`; the softmax runs along the keys. If all keys of a query
    are masked, the query gets zeros.

    Args:
        query: :math:`Q`, :math:`(*, L, E)`.
        key: :math:`K`, :math:`(*, S, E)`.
        value: :math:`V`, :math:`(*, S, D)`.
        attn_mask: :math:`M`, of a shape that broadcasts to :math:`(*, L, S)`; in a boolean mask, True keeps a key.
        dropout_p: the probability with which weights are dropped; it must be 0 when not training.
        is_causal: whether query :math:`i` can use only the keys up to :math:`i`.
        scale: :math:`s`, by default :math:`1 / \sqrt{E}`.
        enable_gqa: whether several query heads share a head of keys and values; the heads are the third dimension from
            the end.

    Returns:
        :math:`(*, L, D)`.

    Raises:
        RuntimeError: shapes or dtypes do not match, or ``attn_mask`` is given together with ``is_causal``.

    Example:
        >>> import reftorch as torch
        >>> x = torch.eye(2).unsqueeze(0)
        >>> torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
        tensor([[[1.0000, 0.0000],
                 [0.3302, 0.6698]]])

    Mirrors torch/nn/functional.py, ``scaled_dot_product_attention``.
    """
    _check(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        key, value = (_for_all_heads(heads, query.shape[-3]) for heads in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    query = query * scale
    long = (
        query.shape[-2] > _QUERIES_OF_A_BLOCK and key.shape[-2] == value.shape[-2]
    )  # the product refuses other values
    if is_causal and dropout_p == 0 and long:
        return _causal_by_blocks(query, key, value)
    if is_causal:
        weights = _causal_weights(query, key, 0)
    elif attn_mask is None:
        weights = (query @ key.transpose(-2, -1)).softmax(-1)
    else:
        scores = query @ key.transpose(-2, -1)
        kept = attn_mask if attn_mask.dtype == _C.bool else attn_mask != -math.inf
        scores = scores.masked_fill(~kept, -math.inf) if attn_mask is kept else scores + attn_mask.to(scores.dtype)
        nothing_kept = ~kept.any(-1, keepdim=True)  # softmax would return NaN
        weights = scores.masked_fill(nothing_kept, 0).softmax(-1).masked_fill(nothing_kept, 0)
    if dropout_p > 0:
        weights = _VF.dropout(weights, dropout_p, True)
    return weights @ value
