r"""Forward mode: derivatives in the direction of a tangent, computed along with the values.

A dual number is a tensor :math:`x` with a tangent :math:`t`. An op :math:`f` of a dual number gives :math:`f(x)` with
the tangent :math:`J t`, so one forward pass gives a Jacobian-vector product. The engine gives vector-Jacobian products.

Mirrors: torch/autograd/forward_ad.py
Leaves out: several levels at once, which PyTorch does not have either; :func:`reftorch.func.jvp` can be nested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from reftorch import _C
from reftorch.autograd import _jvp  # noqa: F401  the import registers the function that computes tangents
from reftorch.autograd.grad_mode import _GradMode

if TYPE_CHECKING:
    from reftorch import Tensor

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

_current_level = -1
_is_fwd_grad_enabled = _C._is_fwd_grad_enabled


def enter_dual_level() -> int:
    """Open a level. Dual numbers can be made while a level is open.

    Returns:
        The number of the level, 0.

    Raises:
        RuntimeError: a level is open already.

    Mirrors torch/autograd/forward_ad.py, ``enter_dual_level``.
    """
    global _current_level
    _C._enter_dual_level()
    _current_level += 1
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level. The dual numbers that were made in the level lose their tangents.

    Args:
        level: the number of the level; by default the open level.

    Raises:
        RuntimeError: that level is not open.

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
    """Return a dual number: the data and the history of ``tensor``, with a tangent.

    Args:
        tensor: a tensor of any shape.
        tangent: a tensor of the same shape and dtype.
        level: the number of the level; by default the open level.

    Raises:
        RuntimeError: no level is open, or the shape or dtype of the tangent differs.
        ValueError: one of the tensors is not of a floating-point dtype.

    Example:
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
    """The primal value and the tangent of a dual number; the tangent of an ordinary tensor is None.

    Mirrors torch/autograd/forward_ad.py, ``UnpackedDualTensor``.
    """

    primal: Any
    tangent: Any


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the primal value and the tangent of a dual number.

    Args:
        tensor: a dual number, or any tensor.
        level: the number of the level; by default the open level.

    Example:
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
    """Open a level for a ``with`` block, or for each call of a decorated function.

    Example:
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
    """Return whether this thread computes tangents."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def clone(self) -> _set_fwd_grad_enabled:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self.previous_fwd = _C._is_fwd_grad_enabled()
        _C._set_fwd_grad_enabled(self.mode)

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _C._set_fwd_grad_enabled(self.previous_fwd)
