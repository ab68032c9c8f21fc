"""Dropout: noise that sets elements, or whole channels, to zero.

Mirrors: torch/nn/functional.py (``dropout``, ``dropout1d``, ``alpha_dropout``, ...)

The noise is drawn in reftorch/functional/_VF.py; this file checks the number of dimensions.
"""

from __future__ import annotations

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._warnings import warn

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@overridable
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    r"""In training, set elements to zero with probability :math:`p` and scale the others by :math:`1 / (1 - p)`.

    Args:
        input: tensor of any shape.
        p: :math:`p`, from 0 to 1.
        training: without training, the function returns its input.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> sorted(set(torch.nn.functional.dropout(torch.ones(100), p=0.75).tolist()))
        [0.0, 4.0]
        >>> torch.nn.functional.dropout(torch.ones(2), training=False)
        tensor([1., 1.])

    Mirrors torch/nn/functional.py, ``dropout``.
    """
    _check_probability(p)
    return (_VF.dropout_ if inplace else _VF.dropout)(input, p, training)


@overridable
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """In training, drop elements and keep mean 0 and variance 1; see ``torch.alpha_dropout``.

    Args:
        input: tensor of any shape.
        p: the probability, from 0 to 1.
        training: without training, the function returns its input.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> torch.nn.functional.alpha_dropout(torch.zeros(100), training=True).unique()
        tensor([-0.7792,  0.7792])

    Mirrors torch/nn/functional.py, ``alpha_dropout``.
    """
    _check_probability(p)
    return (_VF.alpha_dropout_ if inplace else _VF.alpha_dropout)(input, p, training)


@overridable
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """In training, drop whole channels as :func:`alpha_dropout` drops elements.

    Args:
        input: :math:`(N, C, *)`.
        p: the probability, from 0 to 1.
        training: without training, the function returns its input.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: ``p`` is not between 0 and 1.
        RuntimeError: ``input`` has fewer than two dimensions.

    Example:
        >>> torch.nn.functional.feature_alpha_dropout(torch.zeros(9, 9, 3), training=True).unique()
        tensor([-0.7792,  0.7792])

    Mirrors torch/nn/functional.py, ``feature_alpha_dropout``.
    """
    _check_probability(p)
    return (_VF.feature_alpha_dropout_ if inplace else _VF.feature_alpha_dropout)(input, p, training)


def _channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    """Drop channels of a batch or of a single example."""
    if not batched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = (_VF.feature_dropout_ if inplace else _VF.feature_dropout)(input, p, training)
    if batched:
        return result
    return result.squeeze_(0) if inplace else result.squeeze(0)


@overridable
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    r"""In training, set whole channels of sequences to zero with probability :math:`p`, and scale the others.

    Args:
        input: :math:`(N, C, L)` or :math:`(C, L)`.
        p: :math:`p`, from 0 to 1; the remaining channels are scaled by :math:`1 / (1 - p)`.
        training: without training, the function returns its input.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: ``p`` is not between 0 and 1.
        RuntimeError: ``input`` has another number of dimensions.

    Example:
        >>> x = torch.nn.functional.dropout1d(torch.ones(8, 3))
        >>> bool((x == x[:, :1]).all())
        True

    Mirrors torch/nn/functional.py, ``dropout1d``.
    """
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. It drops channels of inputs "
            "that have one spatial dimension, a channel dimension, and perhaps a batch dimension."
        )
    return _channels(input, p, training, inplace, batched=input.dim() == 3)


def _warn_of_rank(name: str, ndim: int, spatial: int) -> None:
    if ndim not in (spatial + 1, spatial + 2):
        warn(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a "
            f"future release. It drops channels of inputs that have {spatial} spatial dimensions, a channel "
            "dimension, and perhaps a batch dimension. To retain the behavior and silence this warning, please use "
            "dropout instead."
        )


@overridable
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    r"""In training, set whole channels of images to zero with probability :math:`p`, and scale the others.

    Args:
        input: :math:`(N, C, H, W)`. Three dimensions are read as :math:`(N, C, L)`, with a warning.
        p: :math:`p`, from 0 to 1; the remaining channels are scaled by :math:`1 / (1 - p)`.
        training: without training, the function returns its input.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> x = torch.nn.functional.dropout2d(torch.ones(2, 4, 3, 3))
        >>> bool((x == x[:, :, :1, :1]).all())
        True

    Mirrors torch/nn/functional.py, ``dropout2d``.
    """
    _check_probability(p)
    _warn_of_rank("dropout2d", input.dim(), 2)
    if input.dim() == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This will change in a future "
            "release, to (C, H, W). To keep it, use dropout1d instead."
        )
    return _channels(input, p, training, inplace, batched=True)


@overridable
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    r"""In training, set whole channels of volumes to zero with probability :math:`p`, and scale the others.

    Args:
        input: :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`.
        p: :math:`p`, from 0 to 1; the remaining channels are scaled by :math:`1 / (1 - p)`.
        training: without training, the function returns its input.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> x = torch.nn.functional.dropout3d(torch.ones(4, 2, 3, 3))
        >>> bool((x == x[:, :1, :1, :1]).all())
        True

    Mirrors torch/nn/functional.py, ``dropout3d``.
    """
    _check_probability(p)
    _warn_of_rank("dropout3d", input.dim(), 3)
    return _channels(input, p, training, inplace, batched=input.dim() == 5)
