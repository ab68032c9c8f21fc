r"""Layers of encoders and decoders with attention, and the whole transformer.

Mirrors: torch/nn/modules/transformer.py
Leaves out: the fused kernel and the nested tensors that PyTorch uses without gradients; there, PyTorch's encoder sets
    padded positions to zero, which are values here that nobody should use. The file is more than 500 lines long,
    because five classes share helpers.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.nn import functional as F
from reftorch.nn.functional.multi_head_attention import _canonical_mask, _none_or_dtype
from reftorch.nn.init import xavier_uniform_
from reftorch.nn.modules.activation import GELU, MultiheadAttention, ReLU
from reftorch.nn.modules.container import ModuleList
from reftorch.nn.modules.dropout import Dropout
from reftorch.nn.modules.linear import Linear
from reftorch.nn.modules.module import Module
from reftorch.nn.modules.normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    return _VF.full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)


def _get_seq_len(src: Tensor, batch_first: bool) -> int:
    return src.size(1) if src.dim() == 3 and batch_first else src.size(0)


def _get_clones(module: Module, N: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _get_activation_fn(activation: str) -> Callable[[Tensor], Tensor]:
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")


def _detect_is_causal_mask(mask: Tensor | None, is_causal: bool | None, size: int) -> bool:
    """Return the hint, or compare the mask with the causal one if there is no hint."""
    if is_causal is not None or mask is None:
        return is_causal is True
    causal = _generate_square_subsequent_mask(size, device=mask.device, dtype=mask.dtype)
    return mask.size() == causal.size() and bool((mask == causal).all())


class TransformerEncoderLayer(Module):
    r"""Self-attention, then two linear maps with an activation between them, each with a residual and a layer norm.

    With the norm last, :math:`x \leftarrow \mathrm{norm}_1(x + \mathrm{attention}(x))`, then
    :math:`x \leftarrow \mathrm{norm}_2(x + W_2 \, \sigma(W_1 x))`; with the norm first,
    :math:`x \leftarrow x + \mathrm{attention}(\mathrm{norm}_1(x))`, and the same for the maps.

    Args:
        d_model: :math:`E`, the number of features.
        nhead: the number of heads.
        dim_feedforward: the number of features between the two maps (default 2048).
        dropout: the probability of dropout (default 0.1).
        activation: :math:`\sigma`, a function, or ``"relu"`` or ``"gelu"`` (default relu).
        layer_norm_eps: ``eps`` of the layer norms (default 1e-5).
        batch_first: whether the batch is the first dimension and not the second (default False).
        norm_first: whether the norms come before attention and maps (default False).
        bias: whether maps and norms have a bias (default True).
        device: the device of the parameters.
        dtype: floating point dtype of the parameters.

    Shape:
        Input and output :math:`(S, N, E)`, or :math:`(N, S, E)` if ``batch_first``, or :math:`(S, E)`.

    Example:
        >>> layer = torch.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
        >>> layer(torch.rand(10, 3, 8)).shape
        torch.Size([10, 3, 8])

    Mirrors torch/nn/modules/transformer.py, ``TransformerEncoderLayer``.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **factory
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        activation = _get_activation_fn(activation) if isinstance(activation, str) else activation
        is_relu = activation is F.relu or isinstance(activation, ReLU)
        is_gelu = activation is F.gelu or isinstance(activation, GELU)
        self.activation_relu_or_gelu = 1 if is_relu else 2 if is_gelu else 0
        self.activation = activation

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Encode.

        Args:
            src: the input.
            src_mask: the mask of attention: see :class:`MultiheadAttention`.
            src_key_padding_mask: the mask of keys.
            is_causal: a hint that ``src_mask`` is the causal mask.
        """
        src_key_padding_mask = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(src_mask), "src_mask", src.dtype
        )
        src_mask = _canonical_mask(src_mask, "src_mask", None, "", src.dtype, check_other=False)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        x = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )[0]
        return self.dropout1(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    r"""Self-attention, attention to the output of the encoder, then two linear maps, as in the encoder's layer.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation: see :class:`TransformerEncoderLayer`.
        layer_norm_eps, batch_first, norm_first, bias, device, dtype: see there too.

    Shape:
        Input and output :math:`(T, N, E)`, output of the encoder :math:`(S, N, E)`; see
        :class:`TransformerEncoderLayer`.

    Example:
        >>> layer = torch.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
        >>> layer(torch.rand(5, 3, 8), torch.rand(10, 3, 8)).shape
        torch.Size([5, 3, 8])

    Mirrors torch/nn/modules/transformer.py, ``TransformerDecoderLayer``.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        attention: dict[str, Any] = {"dropout": dropout, "batch_first": batch_first, "bias": bias, **factory}
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("activation", F.relu)
        super().__setstate__(state)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode.

        Args:
            tgt: the input.
            memory: the output of the encoder.
            tgt_mask, tgt_key_padding_mask: the masks of self-attention: see :class:`MultiheadAttention`.
            memory_mask, memory_key_padding_mask: the masks of the attention to ``memory``.
            tgt_is_causal, memory_is_causal: hints that the masks of attention are causal.
        """
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        of_memory = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), *of_memory)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, *of_memory))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        x = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )[0]
        return self.dropout1(x)

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        x = self.multihead_attn(
            x,
            mem,
            mem,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )[0]
        return self.dropout2(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


def _why_not_nested(layer: Any) -> str:
    """Return why PyTorch would not use nested tensors for this layer; "" if it would."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not attention.batch_first
        ),
        ".self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((text for text, applies in reasons.items() if applies), "")


class TransformerEncoder(Module):
    """Copies of an encoder layer, one after another, and a norm.

    Args:
        encoder_layer: the layer; it is copied, so all copies start from the same values.
        num_layers: the number of copies.
        norm: a module for the last output, or None.
        enable_nested_tensor, mask_check: have no effect, because nested tensors do not exist here. PyTorch's warning
            for a layer that could not use them appears here, too.

    Shape:
        See :class:`TransformerEncoderLayer`.

    Example:
        >>> layer = torch.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        >>> torch.nn.TransformerEncoder(layer, num_layers=2)(torch.rand(10, 3, 8)).shape
        torch.Size([10, 3, 8])

    Mirrors torch/nn/modules/transformer.py, ``TransformerEncoder``.
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        reason = _why_not_nested(encoder_layer)
        if enable_nested_tensor and reason:
            warn(f"enable_nested_tensor is True, but self.use_nested_tensor is False because encoder_layer{reason}")
        self.use_nested_tensor = False
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Encode.

        Args:
            src: the input.
            mask: the mask of attention: see :class:`MultiheadAttention`.
            src_key_padding_mask: the mask of keys.
            is_causal: a hint that ``mask`` is the causal mask; None compares it with the causal mask.
        """
        src_key_padding_mask = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(mask), "mask", src.dtype
        )
        mask = _canonical_mask(mask, "mask", None, "", src.dtype, check_other=False)
        seq_len = _get_seq_len(src, self.layers[0].self_attn.batch_first)
        is_causal = _detect_is_causal_mask(mask, is_causal, seq_len)
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=src_key_padding_mask)
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(Module):
    """Copies of a decoder layer, one after another, and a norm.

    Args:
        decoder_layer: the layer; it is copied, so all copies start from the same values.
        num_layers: the number of copies.
        norm: a module for the last output, or None.

    Shape:
        See :class:`TransformerDecoderLayer`.

    Example:
        >>> layer = torch.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
        >>> torch.nn.TransformerDecoder(layer, num_layers=2)(torch.rand(5, 3, 8), torch.rand(10, 3, 8)).shape
        torch.Size([5, 3, 8])

    Mirrors torch/nn/modules/transformer.py, ``TransformerDecoder``.
    """

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode: see :meth:`TransformerDecoderLayer.forward`; ``tgt_is_causal=None`` looks at the mask."""
        seq_len = _get_seq_len(tgt, self.layers[0].self_attn.batch_first)
        tgt_is_causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, seq_len)
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder and a decoder, as in *Attention Is All You Need*.

    Args:
        d_model: :math:`E`, the number of features (default 512).
        nhead: the number of heads (default 8).
        num_encoder_layers: the number of layers of the encoder (default 6).
        num_decoder_layers: the number of layers of the decoder (default 6).
        dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype: see
            :class:`TransformerEncoderLayer`.
        custom_encoder, custom_decoder: modules to use instead.

    Shape:
        ``src`` :math:`(S, N, E)`, ``tgt`` and output :math:`(T, N, E)`; see :class:`TransformerEncoderLayer`.

    Example:
        >>> model = torch.nn.Transformer(8, 2, 1, 1, dim_feedforward=16, batch_first=True)
        >>> model(torch.rand(3, 10, 8), torch.rand(3, 5, 8)).shape
        torch.Size([3, 5, 8])

    Mirrors torch/nn/modules/transformer.py, ``Transformer``.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            encoder_layer = TransformerEncoderLayer(*options, **factory)
            encoder_norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
            self.encoder = TransformerEncoder(encoder_layer, num_encoder_layers, encoder_norm)
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            decoder_layer = TransformerDecoderLayer(*options, **factory)
            decoder_norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
            self.decoder = TransformerDecoder(decoder_layer, num_decoder_layers, decoder_norm)
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode ``src``, and decode ``tgt`` with the result.

        Args:
            src, tgt: the inputs of encoder and decoder.
            src_mask, src_key_padding_mask, src_is_causal: see :meth:`TransformerEncoder.forward`.
            tgt_mask, tgt_key_padding_mask, tgt_is_causal: the masks of the decoder's self-attention.
            memory_mask, memory_key_padding_mask, memory_is_causal: the masks of its attention to the encoder's output.

        Raises:
            RuntimeError: the inputs have batches of different sizes, or the number of features is not ``d_model``.
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Return the causal mask: minus infinity above the diagonal, and zero elsewhere.

        Example:
            >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
            tensor([[0., -inf],
                    [0., 0.]])
        """
        return _generate_square_subsequent_mask(sz, dtype=dtype, device=device)

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.dim() > 1:
                xavier_uniform_(p)
