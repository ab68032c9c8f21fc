"""The table of Kullback-Leibler divergences, and how a pair of families finds its function.

Mirrors: torch/distributions/kl.py (register_kl, kl_divergence, _dispatch_kl)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reftorch import Tensor
from reftorch._warnings import warn
from reftorch.distributions.distribution import Distribution

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}  # what register_kl was told
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}  # what _dispatch_kl found


def register_kl(type_p: type, type_q: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers a function (p, q) as the divergence of two families.

    A function is also found for subclasses of its families; the function of the closest classes is called. If two
    functions are equally close, there is a warning, and the pair should be registered itself.

    Args:
        type_p: a subclass of ``Distribution``.
        type_q: a subclass of ``Distribution``.

    Raises:
        TypeError: an argument is no class.

    Example:
        >>> from reftorch.distributions import Normal, kl_divergence, register_kl
        >>> class Fixed(Normal):
        ...     def __init__(self):
        ...         super().__init__(0.0, 1.0)
        >>> @register_kl(Fixed, Fixed)
        ... def kl_fixed_fixed(p, q):
        ...     return torch.tensor(0.0)
        >>> kl_divergence(Fixed(), Fixed())
        tensor(0.)

    Mirrors torch/distributions/kl.py, ``register_kl``.
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type) and issubclass(given, Distribution):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def decorator(fun: Callable[..., Any]) -> Callable[..., Any]:
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()  # the new function may be closer than one that was found before
        return fun

    return decorator


@functools.total_ordering
class _Match:
    """A pair of classes; the smallest pair is the most derived one, where the first class counts more."""

    __slots__ = ["types"]

    def __init__(self, *types: type) -> None:
        self.types = types

    def __eq__(self, other: Any) -> bool:
        return self.types == other.types

    def __le__(self, other: Any) -> bool:
        for x, y in zip(self.types, other.types, strict=True):
            if not issubclass(x, y):
                return False
            if x is not y:
                break
        return True


def _dispatch_kl(type_p: type, type_q: type) -> Any:
    """Return the function of the closest registered classes, or ``NotImplemented``."""
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return NotImplemented
    left_p, left_q = min(_Match(p, q) for p, q in matches).types  # the closest p first
    right_q, right_p = min(_Match(q, p) for p, q in matches).types  # the closest q first
    left, right = _KL_REGISTRY[left_p, left_q], _KL_REGISTRY[right_p, right_q]
    if left is not right:
        warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({left_p.__name__}, {right_q.__name__})",
            RuntimeWarning,
        )
    return left


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    r"""Return the Kullback-Leibler divergence, which is 0 if the distributions are equal, and positive otherwise:

    .. math::
        KL(p \| q) = \int p(x) \log \frac{p(x)}{q(x)} \, dx

    It is infinite if :math:`p` can draw values that :math:`q` cannot. A variational autoencoder has
    ``kl_divergence(posterior, prior)`` in its loss.

    Args:
        p: a distribution.
        q: a distribution whose batch shape can be broadcast with that of ``p``.

    Shape: the common batch shape.

    Raises:
        NotImplementedError: no function was registered for this pair of families.

    Example:
        >>> from reftorch.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(torch.tensor([0.0, 1.0]), 1.0), Normal(0.0, 1.0))
        tensor([0.0000, 0.5000])

    Mirrors torch/distributions/kl.py, ``kl_divergence``.
    """
    try:
        fun = _KL_MEMOIZE[type(p), type(q)]
    except KeyError:
        fun = _dispatch_kl(type(p), type(q))
        _KL_MEMOIZE[type(p), type(q)] = fun
    if fun is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}"
        )
    return fun(p, q)
