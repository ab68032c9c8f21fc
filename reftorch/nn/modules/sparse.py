"""Embeddings: tables whose rows are looked up.

Mirrors: torch/nn/modules/sparse.py
Leaves out: sparse gradients.
"""

from __future__ import annotations

from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.nn import functional as F
from reftorch.nn import init
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(Module):
    """A table with a row for each item, such as a word. The rows start from a standard normal distribution.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: the length of a row.
        padding_idx: a row that starts as zeros and gets no gradient; a negative number counts from the end.
        max_norm: rows that are looked up and have a larger norm are first scaled down to this norm, in place.
        norm_type: the order of the norm (default 2).
        scale_grad_by_freq: whether to divide the gradient of a row by the number of times it is looked up.
        sparse: must be False.
        device: the device of the parameter.
        dtype: the floating-point dtype of the parameter.

    Shape:
        Input :math:`(*)`, int64 or int32; output :math:`(*, D)`; ``weight`` :math:`(V, D)`.

    Raises:
        AssertionError: ``padding_idx`` is out of range.
        IndexError: (from a call) a row number is out of range.
        NotImplementedError: (from a call) ``sparse`` is True.

    Example:
        >>> layer = torch.nn.Embedding(10, 3, padding_idx=0)
        >>> layer(torch.tensor([[0, 1], [4, 4]])).shape
        torch.Size([2, 2, 3])
        >>> layer(torch.tensor(0)).tolist()
        [0.0, 0.0, 0.0]

    Mirrors torch/nn/modules/sparse.py, ``Embedding``.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            empty = _VF.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(empty, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw new numbers for the table."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Make an embedding from an existing table.

        Args:
            embeddings: the table, :math:`(V, D)`.
            freeze: whether to exclude the table from training.
            padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse: options of the class.

        Raises:
            AssertionError: ``embeddings`` has not two dimensions.

        Example:
            >>> layer = torch.nn.Embedding.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
            >>> layer(torch.tensor([1]))
            tensor([[3., 4.]])

        Mirrors torch/nn/modules/sparse.py, ``Embedding.from_pretrained``.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(Module):
    """A table whose rows are looked up and joined, bag by bag, by their sum, mean or maximum.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: the length of a row.
        max_norm: rows that are looked up and have a larger norm are first scaled down to this norm, in place.
        norm_type: the order of the norm (default 2).
        scale_grad_by_freq: whether to divide the gradient of a row by the number of times it is looked up.
        mode: ``"sum"``, ``"mean"`` (default) or ``"max"``.
        sparse: must be False.
        include_last_offset: whether the offsets have a further number at their end, where the last bag ends.
        padding_idx: a row that starts as zeros, is left out and gets no gradient; negative numbers count from the end.
        device: the device of the parameter.
        dtype: the floating-point dtype of the parameter.

    Shape:
        Input :math:`(B, N)`, where each row is a bag, or :math:`(N)` with offsets :math:`(B)` at which the bags begin;
        int64 or int32; weights of the samples, for sums only, of the shape of the input; output :math:`(B, D)`;
        ``weight`` :math:`(V, D)`.

    Raises:
        AssertionError: ``padding_idx`` is out of range.
        ValueError: (from a call) input or offsets have wrong dimensions, or ``mode`` is unknown.
        RuntimeError: (from a call) a row number is out of range.
        NotImplementedError: (from a call) ``sparse`` is True.

    Example:
        >>> layer = torch.nn.EmbeddingBag.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), mode="max")
        >>> layer(torch.tensor([[0, 1], [0, 0]]))
        tensor([[3., 4.],
                [1., 2.]])

    Mirrors torch/nn/modules/sparse.py, ``EmbeddingBag``.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if padding_idx is not None:
            # As in PyTorch, 0 is accepted for an empty table.
            if padding_idx != 0 and not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("padding_idx must be within num_embeddings")
            padding_idx += num_embeddings if padding_idx < 0 else 0
        self.padding_idx = padding_idx
        if _weight is None:
            self.weight = Parameter(_VF.empty((num_embeddings, embedding_dim), device=device, dtype=dtype))
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def reset_parameters(self) -> None:
        """Draw new numbers for the table."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "mode": "", "padding_idx": None}
        parts += [f"{name}={getattr(self, name)!r}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Make bags of embeddings from an existing table.

        Args:
            embeddings: the table, :math:`(V, D)`.
            freeze: whether to exclude the table from training.
            max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx: options of the
                class.

        Raises:
            AssertionError: ``embeddings`` has not two dimensions.

        Example:
            >>> layer = torch.nn.EmbeddingBag.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
            >>> layer(torch.tensor([[0, 1]]))
            tensor([[2., 3.]])

        Mirrors torch/nn/modules/sparse.py, ``EmbeddingBag.from_pretrained``.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        layer = cls(
            rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse, _weight=embeddings,
            include_last_offset=include_last_offset, padding_idx=padding_idx,
        )  # fmt: skip
        layer.weight.requires_grad_(not freeze)
        return layer
