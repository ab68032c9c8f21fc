r"""Forward mode: derivatives in the direction of a tangent, computed along with the values.

A dual number is a tensor :math:`x` with a tangent :math:`t`. An op :math:`f` on it gives :math:`f(x)` with the tangent
:math:`J t`, so that one forward pass gives a Jacobian-vector product, where the engine gives vector-Jacobian products.

Mirrors: torch/autograd/forward_ad.py
Leaves out: several levels at once, as in PyTorch; :func:`reftorch.func.jvp` nests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from reftorch import _C
from reftorch.autograd import _jvp  # noqa: F401  it says how tangents are computed
from reftorch.autograd.grad_mode import _GradMode

if TYPE_CHECKING:
    from reftorch import Tensor

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

_current_level = -1
_is_fwd_grad_enabled = _C._is_fwd_grad_enabled


def enter_dual_level() -> int:
    """Open a level: from here on there may be dual numbers.

    Returns:
        The level's number, 0.

    Raises:
        RuntimeError: one is open already.

    Mirrors torch/autograd/forward_ad.py, ``enter_dual_level``.
    """
    global _current_level
    _C._enter_dual_level()
    _current_level += 1
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: the dual numbers made since it was opened lose their tangents.

    Args:
        level: which; the open one if not given.

    Raises:
        RuntimeError: that level is not the open one.

    Mirrors torch/autograd/forward_ad.py, ``exit_dual_level``.
    """
    global _current_level
    if level is not None and level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    _C._exit_dual_level()
    _current_level -= 1


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a dual number: ``tensor``'s data and history, with a tangent.

    Args:
        tensor: the number, of any shape.
        tangent: of the same shape and dtype.
        level: the open level if not given.

    Raises:
        RuntimeError: no level is open, or the tangent does not fit.
        ValueError: one of the two is not of floating point.

    Example:
        >>> import reftorch as torch
        >>> import reftorch.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     x = fwAD.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
        ...     fwAD.unpack_dual(x * x)
        UnpackedDualTensor(primal=tensor([1., 4.]), tangent=tensor([2., 0.]))

    Mirrors torch/autograd/forward_ad.py, ``make_dual``.
    """
    level = _current_level if level is None else level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not value.is_floating_point():
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")
    return _C._make_dual(tensor, tangent)


class UnpackedDualTensor(NamedTuple):
    """The two halves of a dual number; the tangent is None where there is none.

    Mirrors torch/autograd/forward_ad.py, ``UnpackedDualTensor``.
    """

    primal: Any
    tangent: Any


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return a dual number's halves.

    Args:
        tensor: a dual number, or any tensor.
        level: the open level if not given.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.autograd import forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
        ...     forward_ad.unpack_dual(x * x)
        UnpackedDualTensor(primal=tensor(9.), tangent=tensor(6.))

    Mirrors torch/autograd/forward_ad.py, ``unpack_dual``.
    """
    level = _current_level if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_C._unpack_dual(tensor))


class dual_level(_GradMode):
    """Open a level for the length of a ``with`` block, or of a decorated function.

    Example:
        >>> import reftorch as torch
        >>> import reftorch.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     y = fwAD.make_dual(torch.ones(2), torch.ones(2)).exp()
        >>> fwAD.unpack_dual(y).tangent is None
        True

    Mirrors torch/autograd/forward_ad.py, ``dual_level``.
    """

    def __enter__(self) -> Any:
        return enter_dual_level()

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        exit_dual_level()


class _set_fwd_grad_enabled(_GradMode):
    """Whether this thread computes tangents."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def clone(self) -> _set_fwd_grad_enabled:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self.previous_fwd = _C._is_fwd_grad_enabled()
        _C._set_fwd_grad_enabled(self.mode)

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _C._set_fwd_grad_enabled(self.previous_fwd)
