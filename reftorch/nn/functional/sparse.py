"""Functions that look up rows of a table.

Mirrors: torch/nn/functional.py (``embedding``)
Leaves out: bags of rows, sparse gradients, and gradients divided by the frequency of a row.
"""

from __future__ import annotations

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch.autograd.grad_mode import no_grad

__all__ = [
    "embedding",
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
        scale_grad_by_freq, sparse: must be False.

    Returns:
        :math:`(*, D)`.

    Raises:
        IndexError: a row number is out of range.
        RuntimeError: ``input`` does not hold integers.
        AssertionError: ``padding_idx`` is out of range.
        NotImplementedError: ``scale_grad_by_freq`` or ``sparse`` is True.

    Example:
        >>> import reftorch as torch
        >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.nn.functional.embedding(torch.tensor([1, 0, 1]), table)
        tensor([[3., 4.],
                [1., 2.],
                [3., 4.]])

    Mirrors torch/nn/functional.py, ``embedding``.
    """
    if scale_grad_by_freq or sparse:
        option = "sparse" if sparse else "scale_grad_by_freq"
        raise NotImplementedError(f"embedding(): {option}=True is not supported: gradients are dense sums.")
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
    rows = weight.shape[0]
    if padding_idx is not None:
        if padding_idx != 0 and not -rows <= padding_idx < rows:  # padding_idx 0 is allowed for an empty table
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx += rows if padding_idx < 0 else 0
    if input.dtype not in (_C.int64, _C.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.dtype} instead (while checking arguments for embedding)"
        )
    picked = input.reshape(-1)
    if max_norm is not None and picked.numel() > 0:
        _renorm(weight, picked, max_norm, norm_type)
    result = weight.index_select(0, picked)
    if padding_idx is not None:
        is_padding = (picked == padding_idx).unsqueeze(1).to(result.device)  # a meta table takes indices on the CPU
        result = _VF.where(is_padding, result.detach(), result)
    return result.reshape(*input.shape, weight.shape[1])


@no_grad()
def _renorm(weight: Tensor, picked: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale each row that is looked up, once, so that its norm is at most ``max_norm``."""
    rows = picked.unique().long()
    values = weight.detach().index_select(0, rows)
    norms = values.norm(norm_type, 1, keepdim=True)
    scale = _VF.where(norms > max_norm, max_norm / (norms + 1e-7), _VF.ones_like(norms))
    weight.index_copy_(0, rows, values * scale)


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
        >>> import reftorch as torch
        >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])

    Mirrors torch/nn/functional.py, ``one_hot``.
    """
    return _C._nn.one_hot(input, num_classes)
