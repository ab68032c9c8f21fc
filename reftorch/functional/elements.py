"""The elements of a tensor by their values: which are not zero, which are distinct.

Mirrors: torch/functional.py (unique, unique_consecutive),
torch/csrc/autograd/python_torch_functions_manual.cpp (nonzero)
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable, overridable_as_called

__all__ = ["nonzero", "unique", "unique_consecutive"]


@overridable_as_called
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Return the coordinates of the elements that are not zero, in order.

    Args:
        input: any tensor, of n dimensions.
        out: an int64 tensor that receives the coordinates.
        as_tuple: return n vectors, one for each dimension, which together index ``input``.

    Returns:
        A matrix of shape (count, n), or a tuple of n vectors.

    Example:
        >>> torch.nonzero(torch.tensor([[0, 1], [2, 0]]))
        tensor([[0, 1],
                [1, 0]])

    Mirrors tools/autograd/templates/python_torch_functions.cpp, ``THPVariable_nonzero``.
    """
    if as_tuple and out is not None:
        raise TypeError("nonzero() takes no out= together with as_tuple=True")
    return input.nonzero(as_tuple=as_tuple) if out is None else _C._VariableFunctions.nonzero(input, out=out)


@overridable
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the distinct elements, or the distinct slices along ``dim``, in ascending order.

    Args:
        input: any tensor.
        sorted: has no effect here. PyTorch may return any order without it; this function always sorts.
        return_inverse: also return, for each element (or slice), its index among the distinct ones.
        return_counts: also return how often each distinct element (or slice) occurs.
        dim: compare slices along this dimension instead of elements.

    Returns:
        The distinct elements or slices; a tuple of them, the inverse and the counts if those are requested.

    Example:
        >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))

    Mirrors torch/functional.py, ``unique``.
    """
    return input.unique(sorted, return_inverse, return_counts, dim)


@overridable
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return ``input`` without the elements, or slices along ``dim``, that equal the one before them.

    Args:
        input: any tensor.
        return_inverse: also return, for each element (or slice), the index of its run in the result.
        return_counts: also return the length of each run.
        dim: compare slices along this dimension instead of elements.

    Returns:
        The elements or slices that are left; a tuple of them, the inverse and the counts if those are requested.

    Example:
        >>> torch.unique_consecutive(torch.tensor([3, 3, 1, 3]))
        tensor([3, 1, 3])

    Mirrors torch/functional.py, ``unique_consecutive``.
    """
    return input.unique_consecutive(return_inverse, return_counts, dim)
