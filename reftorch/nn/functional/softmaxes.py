"""Softmax and related functions: scores along a dimension become probabilities.

Mirrors: torch/nn/functional.py (softmax, log_softmax, softmin)
Leaves out: ``gumbel_softmax``, which is in ``gates``.
"""

from __future__ import annotations

from typing import Any

from reftorch._tensor import Tensor
from reftorch._torch_function import handle_torch_function, has_torch_function_unary, overridable
from reftorch._warnings import warn

__all__ = ["log_softmax", "softmax", "softmin"]


def _get_softmax_dim(name: str, ndim: int) -> int:
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    r"""Exponentials that sum to one along a dimension: :math:`e^{x_i} / \sum_j e^{x_j}`.

    Args:
        input: tensor of any shape.
        dim: the dimension to sum along; omitting ``dim`` is deprecated.
        dtype: the dtype to which ``input`` is converted first.

    Returns:
        A tensor of the same shape.

    Raises:
        IndexError: ``dim`` is out of range.

    Example:
        >>> torch.nn.functional.softmax(torch.tensor([[0.0, 0.0], [1.0, 2.0]]), dim=1)
        tensor([[0.5000, 0.5000],
                [0.2689, 0.7311]])

    Mirrors torch/nn/functional.py, ``softmax``.
    """
    if has_torch_function_unary(input):
        return handle_torch_function(softmax, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("softmax", input.dim())
    return input.softmax(dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    r"""Logarithm of :func:`softmax`, computed without overflow: :math:`x_i - \log \sum_j e^{x_j}`.

    Args:
        input: tensor of any shape.
        dim: the dimension to sum along; omitting ``dim`` is deprecated.
        dtype: the dtype to which ``input`` is converted first.

    Returns:
        A tensor of the same shape.

    Raises:
        IndexError: ``dim`` is out of range.

    Example:
        >>> torch.nn.functional.log_softmax(torch.tensor([1000.0, 1000.0]), dim=0)
        tensor([-0.6931, -0.6931])

    Mirrors torch/nn/functional.py, ``log_softmax``.
    """
    if has_torch_function_unary(input):
        return handle_torch_function(log_softmax, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("log_softmax", input.dim())
    return input.log_softmax(dim, dtype=dtype)


@overridable
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    r"""The :func:`softmax` of the negated input: :math:`e^{-x_i} / \sum_j e^{-x_j}`.

    Args:
        input: tensor of any shape.
        dim: the dimension to sum along; omitting ``dim`` is deprecated.
        dtype: the dtype to which ``input`` is converted first.

    Returns:
        A tensor of the same shape.

    Raises:
        IndexError: ``dim`` is out of range.

    Example:
        >>> torch.nn.functional.softmin(torch.tensor([1.0, 2.0]), dim=0)
        tensor([0.7311, 0.2689])

    Mirrors torch/nn/functional.py, ``softmin``.
    """
    if dim is None:
        dim = _get_softmax_dim("softmin", input.dim())
    return (-input).softmax(dim, dtype=dtype)
