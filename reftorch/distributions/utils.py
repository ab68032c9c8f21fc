"""Helpers of the distributions: broadcast parameters, convert probabilities and logits, compute attributes lazily.

Mirrors: torch/distributions/utils.py
Leaves out: the branches for tracing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import reftorch as torch
import reftorch.nn.functional as F
from reftorch import Tensor
from reftorch.overrides import is_tensor_like
from reftorch.types import _Number

euler_constant = 0.57721566490153286060  # Euler's and Mascheroni's: the limit of 1 + 1/2 + ... + 1/n - log(n)

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Broadcast the values to one shape. Numbers become tensors with the dtype and device of the first tensor.

    Args:
        values: tensors and numbers. If all are numbers, the results have the default dtype.

    Raises:
        ValueError: a value is neither a number nor a tensor.

    Example:
        >>> from reftorch.distributions.utils import broadcast_all
        >>> broadcast_all(torch.tensor([1.0, 2.0]), 3)
        (tensor([1., 2.]), tensor([3., 3.]))

    Mirrors torch/distributions/utils.py, ``broadcast_all``.
    """
    if not all(is_tensor_like(v) or isinstance(v, _Number) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    first = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = torch.get_default_dtype() if first is None else first.dtype
    device = None if first is None else first.device
    tensors: list[Any] = [v if is_tensor_like(v) else torch.tensor(v, dtype=dtype, device=device) for v in values]
    return tuple(torch.broadcast_tensors(*tensors))


def _check_one_is_given(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    return torch.empty(torch.Size(shape), dtype=dtype, device=device).normal_()


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """Sum over the last ``dim`` dimensions."""
    if dim == 0:
        return value
    return value.reshape((*value.shape[:-dim], -1)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    r"""Convert logits into probabilities.

    Args:
        logits: if ``is_binary``, log-odds :math:`\log \frac{p}{1 - p}`; otherwise (*, K), logarithms of K weights,
            which need not sum to 1.
        is_binary: whether each element is a distribution of its own.

    Example:
        >>> from reftorch.distributions.utils import logits_to_probs
        >>> logits_to_probs(torch.tensor([0.0, 0.0]))
        tensor([0.5000, 0.5000])

    Mirrors torch/distributions/utils.py, ``logits_to_probs``.
    """
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    r"""Clamp probabilities to :math:`[\epsilon, 1 - \epsilon]`, where :math:`\epsilon` is the dtype's machine epsilon.

    Example:
        >>> from reftorch.distributions.utils import clamp_probs
        >>> clamp_probs(torch.tensor([0.0, 0.5, 1.0]))
        tensor([1.1921e-07, 5.0000e-01, 1.0000e+00])

    Mirrors torch/distributions/utils.py, ``clamp_probs``.
    """
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    r"""Convert probabilities into logits: :math:`\log p`, or log-odds if ``is_binary``. 0 and 1 are clamped first.

    Example:
        >>> from reftorch.distributions.utils import probs_to_logits
        >>> probs_to_logits(torch.tensor([0.5]), is_binary=True)
        tensor([0.])

    Mirrors torch/distributions/utils.py, ``probs_to_logits``.
    """
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


class lazy_property:
    """A method that is computed at its first use and then stands in the object as an attribute.

    The descriptor has no ``__set__``, so an attribute of the same name in the object's ``__dict__`` hides it.
    ``"probs" in self.__dict__`` therefore tells whether ``probs`` was given or computed already.

    Example:
        >>> from reftorch.distributions.utils import lazy_property
        >>> class Circle:
        ...     @lazy_property
        ...     def area(self):
        ...         print("computing")
        ...         return 3.0
        >>> circle = Circle()
        >>> circle.area, circle.area
        computing
        (3.0, 3.0)

    Mirrors torch/distributions/utils.py, ``lazy_property``.
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property, property):
    """What a class, and not an object, returns for its lazy property: documentation tools expect a property."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def _below_diagonal(n: int, diag: int, device: Any) -> Tensor:
    """The mask (n, n) of the elements on and below the diagonal ``diag``."""
    positions = torch.arange(n, device=device)
    return positions < positions.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Return the elements on and below a diagonal, row by row.

    Args:
        mat: (*, D, D).
        diag: the highest diagonal to include; 0 is the main diagonal, negative numbers are below it.

    Raises:
        ValueError: there is no such diagonal.

    Example:
        >>> from reftorch.distributions.utils import tril_matrix_to_vec
        >>> tril_matrix_to_vec(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 3, 4])

    Mirrors torch/distributions/utils.py, ``tril_matrix_to_vec``.
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _below_diagonal(n, diag, mat.device)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Return the lower triangular matrix that has these elements, row by row, and zeros elsewhere.

    Args:
        vec: (*, N), where N is the number of elements on and below the diagonal ``diag`` of some square matrix.
        diag: the highest diagonal that is filled.

    Raises:
        ValueError: no square matrix has that many elements there.

    Example:
        >>> from reftorch.distributions.utils import vec_to_tril_matrix
        >>> vec_to_tril_matrix(torch.tensor([1.0, 3.0, 4.0]))
        tensor([[1., 0.],
                [3., 4.]])

    Mirrors torch/distributions/utils.py, ``vec_to_tril_matrix``.
    """
    # The number of elements is a quadratic function of n; this is its positive root.
    root = ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5
    size = (root - (1 + 2 * diag)) / 2
    n = round(size)
    if n - size > torch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    mat = vec.new_zeros((*vec.shape[:-1], n, n))
    mat[..., _below_diagonal(n, diag, vec.device)] = vec
    return mat
