"""Products whose arguments Python has to read first: einsum, tensordot, chain_matmul.

Mirrors: torch/functional.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._utils import _warn_once

__all__ = ["chain_matmul", "einsum", "tensordot"]


def _subscripts(sublist: Sequence[Any]) -> str:
    """Turn a list of numbers into letters: ``[0, ..., 27]`` becomes ``"A...b"``."""

    def letter(number: Any) -> str:
        if number is Ellipsis:
            return "..."
        if 0 <= number < 52:
            return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")

    return "".join(map(letter, sublist))


@overridable
def einsum(*args: Any) -> Tensor:
    r"""Return the sum of products of the operands' elements that an equation in Einstein's notation describes.

    Each letter names a dimension. Letters that the output lacks are summed over:

    .. math:: \text{"ij,jk->ik"}: \quad C_{ik} = \sum_j A_{ij} B_{jk}

    Args:
        args: the equation, such as ``"bij,bjk->bik"``, and the operands. ``...`` stands for further dimensions, which
            are broadcast; a letter twice in one operand takes its diagonal. In place of the equation, a list of numbers
            from 0 to 51 may follow each operand, and one list for the output may follow at the end.

    Raises:
        RuntimeError: the equation cannot be read, or does not fit the operands.

    Example:
        >>> a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.einsum("ij,jk->ik", a, a)
        tensor([[ 7., 10.],
                [15., 22.]])
        >>> torch.einsum("ii", a)
        tensor(5.)
        >>> torch.einsum(a, [0, 1], [1, 0]).equal(a.T)
        True

    Mirrors torch/functional.py, ``einsum``.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand "
            "and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        equation = ",".join(_subscripts(sublist) for sublist in args[1::2])
        operands = args[::2]
        if len(args) % 2 == 1:
            equation += "->" + _subscripts(args[-1])
            operands = args[:-1:2]
        return einsum(equation, *operands)
    equation, operands = args[0], args[1:]
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return einsum(equation, *operands[0])
    return _VF.einsum(equation, operands)


@overridable
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    r"""Return the product of two tensors, summed over pairs of dimensions.

    Args:
        a: the left tensor.
        b: the right tensor.
        dims: a number :math:`n` pairs the last :math:`n` dimensions of ``a`` with the first :math:`n` of ``b``. Two
            lists, or a tensor of two rows, name the dimensions of ``a`` and of ``b`` that form the pairs.
        out: where to put the result.

    Returns:
        A tensor with the dimensions of ``a``, then those of ``b``, without the dimensions that are summed over.

    Raises:
        RuntimeError: the sizes of a pair differ, or the lists differ in length.

    Example:
        >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(4, 3, 5), dims=([1, 2], [1, 0])).shape
        torch.Size([2, 5])

    Mirrors torch/functional.py, ``tensordot``.
    """
    if not isinstance(dims, (tuple, list, Tensor, int)):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, "
            f"but got dims={dims}"
        )
    if isinstance(dims, Tensor) and dims.numel() > 1:
        dims = dims.tolist()
    if isinstance(dims, (tuple, list)):
        dims_a, dims_b = ([each] if isinstance(each, int) else list(each) for each in dims)
    else:
        count = int(dims)
        if count < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if count > min(a.dim(), b.dim()):
            raise RuntimeError(
                f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims} for tensors of {a.dim()} and "
                f"{b.dim()} dimensions"
            )
        dims_a, dims_b = list(range(-count, 0)), list(range(count))
    return _VF.tensordot(a, b, dims_a, dims_b, out=out)


@overridable
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Return the product of matrices, multiplied in the order that needs the fewest multiplications.

    Deprecated, as in PyTorch: :func:`reftorch.linalg.multi_dot` does this.

    Args:
        matrices: each matrix has as many rows as the previous one has columns.
        out: where to put the result.

    Raises:
        RuntimeError: an argument is not a matrix, or two shapes do not match.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 1))
        tensor([[3.],
                [3.]])

    Mirrors torch/functional.py, ``chain_matmul``.
    """
    _warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters.",
    )
    return _VF.chain_matmul(matrices, out=out)
