"""Modes and tensor classes that see, or handle, every op below autograd.

``torch.add(x, y)`` goes through the Dispatcher: first Autograd records the call, then the kernel of the device
computes. The Python key lies between the two. Inside a ``TorchDispatchMode``, each op of the thread calls the mode's
``__torch_dispatch__`` there; an op on a tensor whose class has a ``__torch_dispatch__`` calls that of the class. Both
get the overload, such as ``torch.ops.aten.add.Tensor``, and the arguments, and both return the results.

Mirrors: torch/utils/_python_dispatch.py
Leaves out: infrastructure modes (fake, proxy, functional), the protocols of compilers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from reftorch import _C
from reftorch._ops import OpOverload
from reftorch._tensor import Tensor
from reftorch.utils._pytree import tree_leaves

__all__ = ["BaseTorchDispatchMode", "TorchDispatchMode", "_disable_current_modes", "return_and_correct_aliasing"]


class TorchDispatchMode:
    """Handles, inside ``with mode:``, the ops of this thread that reach the kernels.

    Factories and the ops of a backward pass are included. The mode is off while it handles an op: the ops that its
    ``__torch_dispatch__`` calls go to the next mode outside, and finally to the kernels. If a mode returns
    NotImplemented, the classes of the arguments handle the op.

    Example:
        >>> from reftorch.utils._python_dispatch import TorchDispatchMode
        >>> class Count(TorchDispatchMode):
        ...     def __init__(self):
        ...         self.ops = []
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         self.ops.append(str(func))
        ...         return func(*args, **(kwargs or {}))
        >>> x = torch.ones(2, requires_grad=True)
        >>> with Count() as count:
        ...     y = torch.mul(x, x)
        >>> count.ops, y.grad_fn.name()
        (['aten.mul.Tensor'], 'MulBackward0')

    Mirrors torch/utils/_python_dispatch.py, ``TorchDispatchMode``.
    """

    def __torch_dispatch__(
        self, func: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Handle one op.

        Args:
            func: the overload that was called.
            types: the classes among the arguments that have a ``__torch_dispatch__`` of their own.
            args: the positional arguments, without trailing ones that equal their defaults.
            kwargs: the keyword-only arguments that differ from their defaults.

        Raises:
            NotImplementedError: the subclass does not override this method.

        Mirrors torch/utils/_python_dispatch.py, ``TorchDispatchMode.__torch_dispatch__``.
        """
        raise NotImplementedError

    def __enter__(self) -> Any:
        _C._push_on_torch_dispatch_stack(self)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _C._pop_torch_dispatch_stack(None)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a mode; this is an old spelling of ``cls(*args, **kwargs)``."""
        return cls(*args, **kwargs)


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that calls each op unchanged: a base class for modes that handle only some ops.

    Mirrors torch/utils/_python_dispatch.py, ``BaseTorchDispatchMode``.
    """

    def __torch_dispatch__(
        self, func: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call ``func``."""
        return func(*args, **(kwargs or {}))


def _get_current_dispatch_mode() -> Any:
    """Return the innermost mode of this thread, or None.

    Example:
        >>> from reftorch.utils._python_dispatch import _get_current_dispatch_mode
        >>> _get_current_dispatch_mode() is None
        True

    Mirrors torch/utils/_python_dispatch.py, ``_get_current_dispatch_mode``.
    """
    length = _C._len_torch_dispatch_stack()
    return _C._get_dispatch_stack_at(length - 1) if length else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    """Return the modes of this thread, the innermost last.

    Mirrors torch/utils/_python_dispatch.py, ``_get_current_dispatch_mode_stack``.
    """
    return [_C._get_dispatch_stack_at(i) for i in range(_C._len_torch_dispatch_stack())]


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    """Disable the innermost mode inside the block, and yield this mode.

    Mirrors torch/utils/_python_dispatch.py, ``_pop_mode_temporarily``.
    """
    mode = _C._pop_torch_dispatch_stack(None)
    try:
        yield mode
    finally:
        _C._push_on_torch_dispatch_stack(mode)


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """Disable all modes inside the block, and yield them.

    Mirrors torch/utils/_python_dispatch.py, ``_disable_current_modes``.
    """
    modes = [_C._pop_torch_dispatch_stack(None) for _ in range(_C._len_torch_dispatch_stack())]
    try:
        yield modes
    finally:
        for mode in reversed(modes):
            _C._push_on_torch_dispatch_stack(mode)


def _aliases(schema: Any) -> Iterator[tuple[int, bool, int | None]]:
    """Yield, for each result with an alias annotation: its position, whether it is written, the argument's position."""
    for r, ret in enumerate(schema.returns):
        if ret.alias_info is None:
            continue
        source = next(
            (
                i
                for i, argument in enumerate(schema.arguments)
                if argument.alias_info is not None and argument.alias_info.before_set & ret.alias_info.before_set
            ),
            None,
        )
        yield r, ret.alias_info.is_write, source


def return_and_correct_aliasing(func: OpOverload, args: Any, kwargs: Any, out: Any) -> Any:
    """Let the results of a wrapper class's ``__torch_dispatch__`` alias the arguments as the op's schema says.

    A wrapper class makes a new wrapper for each result. But Autograd expects that an in-place op returns the same
    tensor object that it was given, and that a view shares the storage of its base; this function ensures both.

    Args:
        func: the op that was called.
        args: the op's arguments, wrapped.
        kwargs: the op's keyword arguments, wrapped.
        out: the results, wrapped.

    Returns:
        ``out``, in which the tensors that the op has written replace new ones.

    Raises:
        AssertionError: ``args`` is not a tuple, or ``kwargs`` is not a dict.

    Example:
        >>> from reftorch.utils._python_dispatch import return_and_correct_aliasing
        >>> x = torch.ones(2)
        >>> return_and_correct_aliasing(torch.ops.aten.add_.Tensor, (x, 1), {}, torch.ones(2)) is x
        True

    Mirrors torch/utils/_python_dispatch.py, ``return_and_correct_aliasing``.
    """
    if not isinstance(args, tuple) or not isinstance(kwargs, dict):
        raise AssertionError(f"expected a tuple and a dict, got {type(args)} and {type(kwargs)}")
    schema = func._schema

    def argument(position: int) -> Any:
        name = schema.arguments[position].name
        return kwargs.get(name, args[position] if position < len(args) else None)

    results = list(out) if isinstance(out, (tuple, list)) and len(schema.returns) > 1 else [out]
    for position, is_write, source in _aliases(schema):
        given = argument(source) if source is not None else None
        if not isinstance(given, Tensor):
            continue
        if is_write:
            results[position] = given
            continue
        for view in tree_leaves(results[position]):
            if isinstance(view, Tensor) and view is not given:
                _C._share_storage(view, given)
    return results[0] if len(results) == 1 else type(out)(results)


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Return whether a tensor's class lists the tensors that it wraps, by ``__tensor_flatten__`` and its inverse.

    Mirrors torch/utils/_python_dispatch.py, ``is_traceable_wrapper_subclass``.
    """
    is_subclass = isinstance(t, Tensor) and type(t) is not Tensor
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def transform_subclass(t: Any, callback: Callable[[str, Any], Any]) -> Any:
    """Make a wrapper of the same class, whose inner tensors are ``callback(name, tensor)``.

    Args:
        t: a tensor of a class with ``__tensor_flatten__`` and ``__tensor_unflatten__``.
        callback: takes the name of an attribute and the tensor there.

    Returns:
        The new wrapper.

    Raises:
        AssertionError: the class does not list the tensors that it wraps.

    Mirrors torch/utils/_python_dispatch.py, ``transform_subclass``.
    """
    if not is_traceable_wrapper_subclass(t):
        raise AssertionError(f"{type(t)} has no __tensor_flatten__ and __tensor_unflatten__")
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    return type(t).__tensor_unflatten__(inner, context, t.size(), t.stride())
