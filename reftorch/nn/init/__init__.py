"""Initialization of parameters.

Mirrors: torch/nn/init.py

The initializations for identity, orthogonal, sparse and truncated values are in ``structured``.

All functions work in place, record nothing in the graph and return their tensor. They use the generator exactly as
PyTorch does, so that equal seeds give equal networks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from reftorch import _places
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._warnings import warn
from reftorch.autograd.grad_mode import no_grad
from reftorch.nn.init.structured import dirac_, eye_, orthogonal_, sparse_, trunc_normal_

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    r"""Return the factor that preserves the standard deviation of activations through a nonlinearity.

    The factor is 1 for linear maps and ``"sigmoid"``, :math:`5/3` for ``"tanh"``, :math:`\sqrt 2` for ``"relu"``,
    :math:`\sqrt{2 / (1 + s^2)}` for ``"leaky_relu"`` with negative slope :math:`s`, :math:`3/4` for ``"selu"``.

    Args:
        nonlinearity: the name of the function in :mod:`reftorch.nn.functional`.
        param: the negative slope of ``"leaky_relu"`` (default 0.01).

    Raises:
        ValueError: the name is unknown, or the slope is not a number.

    Example:
        >>> torch.nn.init.calculate_gain("leaky_relu", 0.2)
        1.3867504905630728

    Mirrors torch/nn/init.py, ``calculate_gain``.
    """
    if nonlinearity in _LINEAR or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


@overridable
@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    r"""Fill with draws from the uniform distribution :math:`U(a, b)`.

    Args:
        tensor: tensor of any shape.
        a, b: lower and upper bound.
        generator: the random number generator; None means the default one.

    Example:
        >>> w = torch.nn.init.uniform_(torch.empty(3, 5), -0.1, 0.1)
        >>> bool((w.abs() <= 0.1).all())
        True

    Mirrors torch/nn/init.py, ``uniform_``.
    """
    return tensor.uniform_(a, b, generator=generator)


@overridable
@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    r"""Fill with draws from the normal distribution :math:`N(\text{mean}, \text{std}^2)`.

    Args:
        tensor: tensor of any shape.
        mean, std: mean and standard deviation.
        generator: the random number generator; None means the default one.

    Example:
        >>> torch.nn.init.normal_(torch.empty(3, 5)).shape
        torch.Size([3, 5])

    Mirrors torch/nn/init.py, ``normal_``.
    """
    return tensor.normal_(mean, std, generator=generator)


@overridable
@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value.

    Args:
        tensor: tensor of any shape.
        val: the value.

    Example:
        >>> torch.nn.init.constant_(torch.empty(2), 0.3)
        tensor([0.3000, 0.3000])

    Mirrors torch/nn/init.py, ``constant_``.
    """
    return tensor.fill_(val)


@no_grad()
def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    Example:
        >>> torch.nn.init.ones_(torch.empty(2))
        tensor([1., 1.])

    Mirrors torch/nn/init.py, ``ones_``.
    """
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    Example:
        >>> torch.nn.init.zeros_(torch.empty(2))
        tensor([0., 0.])

    Mirrors torch/nn/init.py, ``zeros_``.
    """
    return tensor.zero_()


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Return the number of inputs per output, and of outputs per input, of a weight (out, in, *receptive field)."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive_field_size = math.prod(tensor.shape[2:])
    return tensor.size(1) * receptive_field_size, tensor.size(0) * receptive_field_size


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    valid_modes = ["fan_in", "fan_out"]
    if mode.lower() not in valid_modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {valid_modes}")
    return _calculate_fan_in_and_fan_out(tensor)[valid_modes.index(mode.lower())]


def _xavier_std(tensor: Tensor, gain: float) -> float:
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    r"""Fill from :math:`U(-a, a)` with :math:`a = \text{gain} \sqrt{6 / (\text{fan\_in} + \text{fan\_out})}`.

    Args:
        tensor: weight of shape (out, in, ...), at least two dimensions.
        gain: see :func:`calculate_gain`.
        generator: the random number generator; None means the default one.

    Raises:
        ValueError: ``tensor`` has fewer than two dimensions.

    Example:
        >>> w = torch.nn.init.xavier_uniform_(torch.empty(3, 3))
        >>> bool((w.abs() <= 1).all())
        True

    Mirrors torch/nn/init.py, ``xavier_uniform_``.
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    r"""Fill from :math:`N(0, \sigma^2)`, :math:`\sigma = \text{gain} \sqrt{2 / (\text{fan\_in} + \text{fan\_out})}`.

    Args:
        tensor: weight of shape (out, in, ...), at least two dimensions.
        gain: see :func:`calculate_gain`.
        generator: the random number generator; None means the default one.

    Raises:
        ValueError: ``tensor`` has fewer than two dimensions.

    Example:
        >>> torch.nn.init.xavier_normal_(torch.empty(3, 5)).shape
        torch.Size([3, 5])

    Mirrors torch/nn/init.py, ``xavier_normal_``.
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


@overridable
def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    r"""Fill from :math:`U(-b, b)` with :math:`b = \text{gain} \sqrt{3 / \text{fan}}`.

    Args:
        tensor: weight of shape (out, in, ...), at least two dimensions.
        a: negative slope of the rectifier that follows, used with ``"leaky_relu"``.
        mode: ``"fan_in"`` preserves the variance of the forward pass, ``"fan_out"`` that of the backward pass.
        nonlinearity: see :func:`calculate_gain`.
        generator: the random number generator; None means the default one.

    Raises:
        ValueError: ``tensor`` has fewer than two dimensions, or ``mode`` is unknown.

    Example:
        >>> w = torch.nn.init.kaiming_uniform_(torch.empty(4, 6), nonlinearity="relu")
        >>> bool((w.abs() <= 1).all())
        True

    Mirrors torch/nn/init.py, ``kaiming_uniform_``.
    """
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    r"""Fill from :math:`N(0, \sigma^2)` with :math:`\sigma = \text{gain} / \sqrt{\text{fan}}`.

    Args:
        tensor: weight of shape (out, in, ...), at least two dimensions.
        a: negative slope of the rectifier that follows, used with ``"leaky_relu"``.
        mode: ``"fan_in"`` preserves the variance of the forward pass, ``"fan_out"`` that of the backward pass.
        nonlinearity: see :func:`calculate_gain`.
        generator: the random number generator; None means the default one.

    Raises:
        ValueError: ``tensor`` has fewer than two dimensions, or ``mode`` is unknown.

    Example:
        >>> torch.nn.init.kaiming_normal_(torch.empty(3, 5), mode="fan_out", nonlinearity="relu").shape
        torch.Size([3, 5])

    Mirrors torch/nn/init.py, ``kaiming_normal_``.
    """
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


# --- the old names ---------------------------------------------------------------------------------------------------

_F = TypeVar("_F", bound=Callable[..., Any])


def _make_deprecate(filling: _F) -> _F:
    new_name = filling.__name__
    old_name = new_name.removesuffix("_")

    def deprecated_init(*args: Any, **kwargs: Any) -> Any:
        warn(f"`nn.init.{old_name}` is now deprecated in favor of `nn.init.{new_name}`.", FutureWarning)
        return filling(*args, **kwargs)

    deprecated_init.__name__ = deprecated_init.__qualname__ = old_name
    deprecated_init.__doc__ = f"The old name of :func:`{new_name}`, with a warning."
    return overridable(deprecated_init)  # type: ignore[return-value]


uniform = _make_deprecate(uniform_)
normal = _make_deprecate(normal_)
constant = _make_deprecate(constant_)
eye = _make_deprecate(eye_)
dirac = _make_deprecate(dirac_)
xavier_uniform = _make_deprecate(xavier_uniform_)
xavier_normal = _make_deprecate(xavier_normal_)
kaiming_uniform = _make_deprecate(kaiming_uniform_)
kaiming_normal = _make_deprecate(kaiming_normal_)
orthogonal = _make_deprecate(orthogonal_)
sparse = _make_deprecate(sparse_)

_places.split(__name__)
