"""Functions that look up rows of a table.

Mirrors: torch/nn/functional.py (``embedding``, ``embedding_bag``)
Leaves out: sparse gradients, nested tensors.
"""

from __future__ import annotations

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable, overridable_as_called
from reftorch._warnings import warn
from reftorch.autograd.grad_mode import no_grad

__all__ = [
    "embedding",
    "embedding_bag",
    "one_hot",
]


@overridable
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Look up rows of a table.

    Args:
        input: row numbers, int64 or int32, :math:`(*)`.
        weight: the table, :math:`(V, D)`.
        padding_idx: a row that gets no gradient; a negative number counts from the end.
        max_norm: rows that are looked up and have a larger norm are first scaled down to this norm, in place.
        norm_type: the order of the norm.
        scale_grad_by_freq: whether to divide the gradient of a row by the number of times it is looked up.
        sparse: must be False.

    Returns:
        :math:`(*, D)`.

    Raises:
        IndexError: a row number is out of range.
        RuntimeError: ``input`` does not hold integers.
        AssertionError: ``padding_idx`` is out of range.
        NotImplementedError: ``sparse`` is True.

    Example:
        >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.nn.functional.embedding(torch.tensor([1, 0, 1]), table)
        tensor([[3., 4.],
                [1., 2.],
                [3., 4.]])

    Mirrors torch/nn/functional.py, ``embedding``.
    """
    if padding_idx is not None:
        rows = weight.size(0)
        if padding_idx != 0 and not -rows <= padding_idx < rows:  # padding_idx 0 is allowed for an empty table
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx += rows if padding_idx < 0 else 0
    if max_norm is not None:
        with no_grad():
            _VF.embedding_renorm_(weight, input, max_norm, norm_type)
    return _VF.embedding(weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq, sparse)


def _bags_of_rows(
    input: Tensor, offsets: Tensor | None, samples: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return row numbers, offsets and weights in one dimension each. In a matrix, each row is a bag."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        offsets = _VF.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        return input.reshape(-1), offsets, None if samples is None else samples.reshape(-1)
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets, samples


@overridable
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Look up rows of a table and join the rows of each bag.

    Args:
        input: row numbers, int64 or int32: :math:`(B, N)`, where each row is a bag, or :math:`(N)` with ``offsets``.
        weight: the table, :math:`(V, D)`.
        offsets: where each bag begins in a one-dimensional ``input``, :math:`(B)`.
        max_norm: rows that are looked up and have a larger norm are first scaled down to this norm, in place.
        norm_type: the order of the norm.
        scale_grad_by_freq: whether to divide the gradient of a row by the number of times it is looked up.
        mode: ``"sum"``, ``"mean"`` or ``"max"``.
        sparse: must be False.
        per_sample_weights: a number for each row number, of the shape of ``input``; only for sums.
        include_last_offset: whether ``offsets`` has a further number at its end, where the last bag ends.
        padding_idx: a row that is left out and gets no gradient; a negative number counts from the end.

    Returns:
        :math:`(B, D)`; zeros for an empty bag.

    Raises:
        ValueError: ``input`` or ``offsets`` have wrong dimensions, or ``mode`` is unknown.
        RuntimeError: a row number or an offset is out of range.
        NotImplementedError: ``sparse`` is True, or there are weights for a mean or maximum.

    Example:
        >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        >>> torch.nn.functional.embedding_bag(torch.tensor([0, 1, 2]), table, torch.tensor([0, 2]), mode="sum")
        tensor([[4., 6.],
                [5., 6.]])

    Mirrors torch/nn/functional.py, ``embedding_bag``.
    """
    if weight.dtype == _C.int64 and input.is_floating_point():
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`."
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    include_last_offset = include_last_offset and input.dim() != 2
    input, offsets, per_sample_weights = _bags_of_rows(input, offsets, per_sample_weights)
    modes = ("sum", "mean", "max")
    if mode not in modes:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None and input.numel() > 0:
        with no_grad():
            _VF.embedding_renorm_(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    return _VF.embedding_bag(
        weight, input, offsets, scale_grad_by_freq, modes.index(mode), sparse, per_sample_weights, include_last_offset,
        padding_idx,
    )[0]  # fmt: skip


@overridable_as_called
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Turn each class number into a row of zeros with a one at that place.

    Args:
        input: :math:`(*)`, int64, not negative.
        num_classes: the length of the rows; by default the largest class plus one.

    Returns:
        :math:`(*, num_classes)`, int64.

    Raises:
        RuntimeError: a class is negative, or not smaller than ``num_classes``.

    Example:
        >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])

    Mirrors torch/nn/functional.py, ``one_hot``.
    """
    return _C._nn.one_hot(input, num_classes)
