"""Functions that need Python because they take more than a schema can say.

Mirrors: torch/functional.py, and as_tensor, is_tensor, set_default_dtype of torch/__init__.py
Leaves out: einsum, meshgrid, stft and the other composites that are not there yet.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor

__all__ = ["as_tensor", "is_tensor", "nonzero", "result_type", "set_default_dtype", "unique", "unique_consecutive"]


def is_tensor(obj: Any, /) -> bool:
    """Return whether ``obj`` is a tensor.

    Example:
        >>> import reftorch as torch
        >>> torch.is_tensor(torch.ones(1)), torch.is_tensor([1.0])
        (True, False)

    Mirrors torch/__init__.py, ``is_tensor``.
    """
    return isinstance(obj, Tensor)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return ``data`` as a tensor, sharing its memory where it can.

    A tensor of the right dtype and device is returned as it is, with its history; an array of numpy keeps its memory;
    anything else is copied.

    Args:
        data: tensor, array, number or nested sequence of numbers.
        dtype: the dtype of the result; inferred from ``data`` by default.
        device: the device of the result.

    Example:
        >>> import numpy as np, reftorch as torch
        >>> array = np.zeros(3)
        >>> torch.as_tensor(array)[0] = 1
        >>> array
        array([1., 0., 0.])

    Mirrors torch/csrc/utils/tensor_new.cpp, ``as_tensor``.
    """
    if isinstance(data, Tensor):
        result = data
    elif type(data).__module__ == "numpy" and type(data).__name__ == "ndarray":
        result = _C.from_numpy(data)
    else:
        return _C.tensor(data, dtype=dtype, device=device)
    return result.to(device=device, dtype=dtype if dtype is not None else result.dtype)


def result_type(tensor1: Any, tensor2: Any) -> Any:
    """Return the dtype that an arithmetic op on the two would have.

    Args:
        tensor1: tensor or number.
        tensor2: tensor or number.

    Example:
        >>> import reftorch as torch
        >>> torch.result_type(torch.tensor([1, 2], dtype=torch.int), 1.0)
        torch.float32

    Mirrors aten/src/ATen/native/TypeProperties.cpp, ``result_type``.
    """
    return _C._result_type(tensor1, tensor2)


def set_default_dtype(d: Any, /) -> None:
    """Set the dtype that floats get where none is given.

    Args:
        d: a floating-point dtype; float32 to begin with.

    Raises:
        TypeError: ``d`` is not a floating-point dtype.

    Example:
        >>> import reftorch as torch
        >>> torch.set_default_dtype(torch.float64)
        >>> torch.tensor(1.5).dtype
        torch.float64
        >>> torch.set_default_dtype(torch.float32)

    Mirrors torch/__init__.py, ``set_default_dtype``.
    """
    _C._set_default_dtype(d)


def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Return the coordinates of the elements that are not zero, in order.

    Args:
        input: any tensor, of n dimensions.
        out: where the coordinates go, int64.
        as_tuple: return n vectors, one for each dimension, which together are an index of ``input``.

    Returns:
        A matrix of shape (count, n), or a tuple of n vectors.

    Example:
        >>> import reftorch as torch
        >>> torch.nonzero(torch.tensor([[0, 1], [2, 0]]))
        tensor([[0, 1],
                [1, 0]])

    Mirrors tools/autograd/templates/python_torch_functions.cpp, ``THPVariable_nonzero``.
    """
    if as_tuple and out is not None:
        raise TypeError("nonzero() takes no out= together with as_tuple=True")
    return input.nonzero(as_tuple=as_tuple) if out is None else _C._VariableFunctions.nonzero(input, out=out)


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
        sorted: without it the order may be any; here it is the same.
        return_inverse: also return which of them each element is: of the shape of ``input``, or of its size at ``dim``.
        return_counts: also return how often each occurs.
        dim: compare slices along this dimension instead of elements.

    Returns:
        The distinct ones, or a tuple of them, the inverse and the counts, as far as asked for.

    Example:
        >>> import reftorch as torch
        >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))

    Mirrors torch/functional.py, ``unique``.
    """
    return input.unique(sorted, return_inverse, return_counts, dim)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return ``input`` without the elements, or slices along ``dim``, that equal the one before them.

    Args:
        input: any tensor.
        return_inverse: also return which of the results each element is.
        return_counts: also return how long each run is.
        dim: compare slices along this dimension instead of elements.

    Returns:
        What is left, or a tuple of it, the inverse and the counts, as far as asked for.

    Example:
        >>> import reftorch as torch
        >>> torch.unique_consecutive(torch.tensor([3, 3, 1, 3]))
        tensor([3, 1, 3])

    Mirrors torch/functional.py, ``unique_consecutive``.
    """
    return input.unique_consecutive(return_inverse, return_counts, dim)
