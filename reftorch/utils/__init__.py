"""Utilities beside tensors: hook handles in this package, datasets and loaders in :mod:`reftorch.utils.data`.

Mirrors: torch/utils/__init__.py
Leaves out: C++ extensions, the bottleneck profiler and the device context.
"""

import copyreg
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from reftorch import _C
from reftorch._api import getattr_of as _getattr_of
from reftorch.utils import deterministic
from reftorch.utils.hooks import RemovableHandle

__all__ = ["RemovableHandle", "checkpoint", "collect_env", "data", "deterministic", "set_module", "swap_tensors"]

_LAZY_MODULES = ("checkpoint", "collect_env", "data")

if TYPE_CHECKING:
    from reftorch.utils import checkpoint, collect_env, data
else:  # type checkers would accept any name if they saw this function
    __getattr__ = _getattr_of("reftorch.utils", _LAZY_MODULES)


def __dir__() -> list[str]:
    return [*globals(), *_LAZY_MODULES]


def set_module(obj: Any, mod: str) -> None:
    """Let a class or function say that it is from the module ``mod``.

    Raises:
        TypeError: ``mod`` is not a string.

    Mirrors torch/utils/__init__.py, ``set_module``.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange two tensors behind their objects: values, gradients, hooks, class and attributes.

    So a new parameter takes the place of another one wherever a program refers to that one.

    Args:
        t1, t2: tensors that nothing else holds in C++. A graph may hold leaves; its backward pass then fails.

    Raises:
        RuntimeError: one has weak references, a graph has saved it, or their classes have different ``__slots__``.

    Example:
        >>> layer = torch.nn.Linear(2, 1)
        >>> weight = layer.weight
        >>> torch.utils.swap_tensors(weight, torch.nn.Parameter(torch.zeros(1, 2)))
        >>> layer.weight is weight, weight.tolist()
        (True, [[0.0, 0.0]])

    Mirrors torch/utils/__init__.py, ``swap_tensors``.
    """
    tensors = {"t1": t1, "t2": t2}
    for name, tensor in tensors.items():
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots: set[str] = set(copyreg._slotnames(type(t1)))  # type: ignore[attr-defined]
    if slots != set(copyreg._slotnames(type(t2))):  # type: ignore[attr-defined]
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for name, tensor in tensors.items():
        _check_owners(name, tensor)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for slot in slots:
        values = [(tensor, getattr(tensor, slot)) for tensor in (t1, t2) if hasattr(tensor, slot)]
        for tensor, _ in values:
            delattr(tensor, slot)
        for tensor, value in values:
            setattr(t2 if tensor is t1 else t1, slot, value)
    _C._swap_tensor_impl(t1, t2)


def _check_owners(name: str, tensor: Any) -> None:
    """Refuse a tensor that C++ holds, except by the node of a leaf; that node then fails in a backward pass."""
    owners = tensor._use_count()
    if owners == 1:
        return
    node = _C._grad_fn_or_accumulator(tensor) if owners == 2 and tensor.requires_grad and tensor.is_leaf else None
    if node is None or tensor._use_count() != 2:  # the node was made by this question: something else is the owner
        raise RuntimeError(
            f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node but got {owners} make sure you are "
            "not holding references to the tensor in other places."
        )
    node.register_prehook(_fail)


def _fail(grad_outputs: Any) -> NoReturn:
    raise RuntimeError(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to run "
        "backward on a tensor that was swapped. For a module m with "
        "`torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the device or dtype of "
        "the module (e.g. `m.cpu()` or `m.half()`) between running forward and backward. To resolve this, please only "
        "change the device/dtype before running forward (or after both forward and backward)."
    )
