r"""Attention with several heads, as a module.

Mirrors: torch/nn/modules/activation.py (``MultiheadAttention``)
Leaves out: the fused kernel that PyTorch calls without gradients; nested tensors.
"""

from __future__ import annotations

from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn import init as _init
from reftorch.nn.functional.multi_head_attention import _canonical_mask, _none_or_dtype
from reftorch.nn.modules.linear import NonDynamicallyQuantizableLinear
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    r"""Attention of several heads, each on a part of the features: :math:`\mathrm{concat}(h_1, ..., h_H) W^O`.

    Head :math:`h_i` is the attention of the projections :math:`Q W_i^Q`, :math:`K W_i^K` and :math:`V W_i^V`.

    Args:
        embed_dim: :math:`E`, the number of features.
        num_heads: :math:`H`, the number of heads; it divides :math:`E`.
        dropout: the probability with which weights of attention are dropped in training (default 0.0).
        bias: whether the projections have a bias (default True).
        add_bias_kv: whether to add a learned key and value (default False).
        add_zero_attn: whether to add a key and a value of zeros (default False).
        kdim: the number of features of the keys; None means :math:`E`.
        vdim: the number of features of the values; None means :math:`E`.
        batch_first: whether the batch is the first dimension and not the second (default False).
        device: the device of the parameters.
        dtype: floating point dtype of the parameters.

    Shape:
        Query :math:`(L, N, E)`, or :math:`(N, L, E)` if ``batch_first``, or :math:`(L, E)`; key and value with the
        length :math:`S` in place of :math:`L`. Output as the query, and weights :math:`(N, L, S)`.

    Raises:
        ValueError: ``embed_dim`` or ``num_heads`` is not positive.
        AssertionError: ``num_heads`` does not divide ``embed_dim``.

    Example:
        >>> attention = torch.nn.MultiheadAttention(8, 2)
        >>> x = torch.randn(5, 3, 8)
        >>> output, weights = attention(x, x, x)
        >>> output.shape, weights.shape
        (torch.Size([5, 3, 8]), torch.Size([3, 5, 5]))

    Mirrors torch/nn/modules/activation.py, ``MultiheadAttention``.
    """

    bias_k: Tensor | None
    bias_v: Tensor | None
    in_proj_weight: Any
    in_proj_bias: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != self.embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def parameter(*shape: int) -> Parameter:
            return Parameter(_VF.empty(shape, device=device, dtype=dtype))

        # Either one matrix for all three projections, or three matrices: the names of the others are registered too.
        if self._qkv_same_embed_dim:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = parameter(embed_dim, embed_dim)
            self.k_proj_weight = parameter(embed_dim, self.kdim)
            self.v_proj_weight = parameter(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = parameter(3 * embed_dim)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        if add_bias_kv:
            self.bias_k = parameter(1, 1, embed_dim)
            self.bias_v = parameter(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            _init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                _init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            _init.constant_(self.in_proj_bias, 0.0)
            _init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                _init.xavier_normal_(bias)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)  # very old pickles lack it
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Args:
            query, key, value: see the class.
            key_padding_mask: :math:`(N, S)` or :math:`(S)`; True in a boolean mask removes a key, a float is added.
            need_weights: whether to return the weights; without them, the kernel of attention can be used.
            attn_mask: :math:`(L, S)` or :math:`(N H, L, S)`; True removes a key for a query, a float is added.
            average_attn_weights: whether to return the mean of the heads' weights.
            is_causal: a hint that ``attn_mask`` is the causal mask.

        Returns:
            The output, and the weights or None.
        """
        key_padding_mask = _canonical_mask(
            key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
        )
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        transposed = self.batch_first and query.dim() == 3
        if transposed:
            # Equal inputs stay one object, because they are projected together.
            turned = {id(x): x.transpose(1, 0) for x in (query, key, value)}
            query, key, value = turned[id(query)], turned[id(key)], turned[id(value)]
        separate: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            separate = {
                "use_separate_proj_weight": True,
                "q_proj_weight": self.q_proj_weight,
                "k_proj_weight": self.k_proj_weight,
                "v_proj_weight": self.v_proj_weight,
            }
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            **separate,
        )
        return (output.transpose(1, 0) if transposed else output), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Return one mask for both, and its kind: 1 for a mask of keys alone, 2 for one of four dimensions.

        Args:
            attn_mask: :math:`(L, L)` or :math:`(N H, L, L)`, or None.
            key_padding_mask: :math:`(N, L)`, or None.
            query: :math:`(N, L, E)`.
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2
