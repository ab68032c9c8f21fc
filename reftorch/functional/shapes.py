"""Functions on any number of tensors: broadcasting, grids, blocks.

Mirrors: torch/functional.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._utils import _warn_once

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "meshgrid",
    "split",
]


def _one_list(tensors: tuple[Any, ...]) -> Any:
    """Allow ``f(a, b)`` as well as ``f([a, b])``: return the list in both cases."""
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


@overridable
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Return views of the tensors, all of the shape they broadcast to.

    Args:
        tensors: tensors whose shapes broadcast together.

    Raises:
        RuntimeError: the shapes do not broadcast together.

    Example:
        >>> a, b = torch.broadcast_tensors(torch.zeros(3), torch.zeros(2, 1))
        >>> a.shape, b.shape
        (torch.Size([2, 3]), torch.Size([2, 3]))

    Mirrors torch/functional.py, ``broadcast_tensors``.
    """
    return _VF.broadcast_tensors(_one_list(tensors))


def broadcast_shapes(*shapes: Sequence[int] | int) -> Any:
    """Return the shape that tensors of these shapes broadcast to.

    Args:
        shapes: shapes; an int is a shape of one dimension.

    Raises:
        RuntimeError: the shapes do not broadcast together.
        ValueError: a size is negative.

    Example:
        >>> torch.broadcast_shapes((2,), (3, 1), 1)
        torch.Size([3, 2])

    Mirrors torch/functional.py, ``broadcast_shapes``.
    """
    result: list[int] = []  # in reverse order: the last dimension comes first
    for position, given in enumerate(shapes):
        if not isinstance(given, (int, tuple, list)):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {given}")
        shape = (given,) if isinstance(given, int) else tuple(given)
        for i, size in enumerate(reversed(shape)):
            if size < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if i == len(result):
                result.append(size)
            elif size not in (1, result[i]):
                if result[i] != 1:
                    raise RuntimeError(
                        f"Attempting to broadcast a dimension of length {size} at {-1 - i}! Mismatching argument at "
                        f"index {position} had {shape}; but expected shape should be broadcastable to {result[::-1]}"
                    )
                result[i] = size
    return _C.Size(result[::-1])


@overridable
def atleast_1d(*tensors: Any) -> Any:
    """Return each tensor with at least one dimension: a 0-dim tensor becomes a vector of one element.

    Args:
        tensors: one tensor, or several, or a list of them.

    Example:
        >>> torch.atleast_1d(torch.tensor(3.0))
        tensor([3.])

    Mirrors torch/functional.py, ``atleast_1d``.
    """
    return _VF.atleast_1d(tensors[0] if len(tensors) == 1 else tensors)


@overridable
def atleast_2d(*tensors: Any) -> Any:
    """Return each tensor with at least two dimensions: a vector becomes a row.

    Args:
        tensors: one tensor, or several, or a list of them.

    Example:
        >>> torch.atleast_2d(torch.tensor([1.0, 2.0]))
        tensor([[1., 2.]])

    Mirrors torch/functional.py, ``atleast_2d``.
    """
    return _VF.atleast_2d(tensors[0] if len(tensors) == 1 else tensors)


@overridable
def atleast_3d(*tensors: Any) -> Any:
    """Return each tensor with at least three dimensions: sizes (n) become (1, n, 1), and (n, m) become (n, m, 1).

    Args:
        tensors: one tensor, or several, or a list of them.

    Example:
        >>> torch.atleast_3d(torch.zeros(2, 4)).shape
        torch.Size([2, 4, 1])

    Mirrors torch/functional.py, ``atleast_3d``.
    """
    return _VF.atleast_3d(tensors[0] if len(tensors) == 1 else tensors)


@overridable
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return a grid for each vector: the vector runs along its own dimension and is repeated along the others.

    Args:
        tensors: vectors of lengths :math:`n_1, n_2, ...`; numbers count as vectors of one element.
        indexing: ``"ij"``: grids of shape :math:`(n_1, n_2, ...)`; ``"xy"``: the first two dimensions swapped, as in
            plots. Without ``indexing``, ``"ij"`` is taken and a warning is given.

    Raises:
        RuntimeError: there are no tensors, their dtypes differ, one is not a vector, or ``indexing`` is unknown.

    Example:
        >>> x, y = torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4, 5]), indexing="ij")
        >>> x
        tensor([[1, 1, 1],
                [2, 2, 2]])

    Mirrors torch/functional.py, ``meshgrid``.
    """
    if indexing is not None:
        return _VF.meshgrid(_one_list(tensors), indexing=indexing)
    grids = _VF.meshgrid(_one_list(tensors))
    _warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    return grids


@overridable
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all tuples with one element from each vector, one tuple per row, as :func:`itertools.product` does.

    Args:
        tensors: vectors of one dtype, of lengths :math:`n_1, ..., n_k`.

    Returns:
        A tensor of shape :math:`(n_1 \\cdots n_k, k)`; a single vector is returned unchanged.

    Raises:
        RuntimeError: an argument is not a vector.

    Example:
        >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([4, 5]))
        tensor([[1, 4],
                [1, 5],
                [2, 4],
                [2, 5]])

    Mirrors torch/functional.py, ``cartesian_prod``.
    """
    return _VF.cartesian_prod(_one_list(tensors))


@overridable
def block_diag(*tensors: Tensor) -> Tensor:
    """Return a matrix with the tensors as blocks along its diagonal, and zeros elsewhere.

    Args:
        tensors: matrices, vectors (each counts as one row) and numbers.

    Raises:
        RuntimeError: a tensor has more than two dimensions.

    Example:
        >>> torch.block_diag(torch.ones(1, 2), torch.tensor(7.0))
        tensor([[1., 1., 0.],
                [0., 0., 7.]])

    Mirrors torch/functional.py, ``block_diag``.
    """
    return _VF.block_diag(tensors)


@overridable
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into parts, which are views of it.

    Args:
        tensor: the tensor.
        split_size_or_sections: the size of each part, of which the last may be smaller; or a list with the sizes of all
            parts, which add up to the size of ``dim``.
        dim: the dimension to split along.

    Raises:
        RuntimeError: the sizes do not add up to the size of ``dim``, or one of them is negative.

    Example:
        >>> torch.split(torch.arange(5), 2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        >>> torch.split(torch.arange(3), [1, 2])
        (tensor([0]), tensor([1, 2]))

    Mirrors torch/functional.py, ``split``.
    """
    return tensor.split(split_size_or_sections, dim)
