"""Gradient modes, which set whether ops are recorded: context managers, decorators and calls.

Mirrors: torch/autograd/grad_mode.py, torch/utils/_contextlib.py
Leaves out: ``enforce_grad_layout_policy``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any

from reftorch import _C
from reftorch._C import (
    _enter_inference_mode,
    _exit_inference_mode,
    _is_multithreading_enabled,
    _is_view_replay_enabled,
    _set_grad_enabled,
    _set_multithreading_enabled,
    _set_view_replay_enabled,
    is_grad_enabled,
)
from reftorch._utils import typename
from reftorch._warnings import warn

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def _wrap_generator(make_context: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a generator so that the mode holds while its own code runs, but not while its consumer runs."""

    @functools.wraps(function)
    def generator_context(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        with make_context():
            try:
                response = generator.send(None)
            except StopIteration as stop:
                return stop.value
        while True:
            try:
                request = yield response
            except GeneratorExit:
                with make_context():
                    generator.close()
                raise
            except BaseException as error:
                with make_context():
                    try:
                        response = generator.throw(error)
                    except StopIteration as stop:
                        return stop.value
            else:
                with make_context():
                    try:
                        response = generator.send(request)
                    except StopIteration as stop:
                        return stop.value

    return generator_context


class _Mode:
    """The base class of all modes. As a decorator, a mode makes a new context for each call."""

    __slots__ = ()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state as PyTorch's classes have it, whose attributes are in a dict."""
        slots = [name for cls in type(self).__mro__ for name in getattr(cls, "__slots__", ())]
        return {name: getattr(self, name, False) for name in slots}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in set(self.__getstate__()).intersection(state):
            setattr(self, name, state[name])

    def clone(self) -> _Mode:
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(function):
            warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
            )
        if inspect.isgeneratorfunction(function):
            return _wrap_generator(self.clone, function)

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorated

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        raise NotImplementedError


class _GradMode(_Mode):
    __slots__ = ("prev",)

    prev: bool

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _set_grad_enabled(self.prev)


class no_grad(_GradMode):
    """Do not record ops inside: their results do not require a gradient, and they save no tensors for backward.

    The class is a context manager, and a decorator of functions and generators. The mode holds for the current thread.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False

    Mirrors torch/autograd/grad_mode.py, ``no_grad``.
    """

    __slots__ = ()

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        # `@no_grad` without parentheses
        self = object.__new__(cls)
        return self if orig_func is None else self(orig_func)

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        _set_grad_enabled(False)


class enable_grad(_GradMode):
    """Record ops inside, also within :class:`no_grad`.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad(), torch.enable_grad():
        ...     y = x * 2
        >>> y.requires_grad
        True

    Mirrors torch/autograd/grad_mode.py, ``enable_grad``.
    """

    __slots__ = ()

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        self = object.__new__(cls)
        return self if orig_func is None else self(orig_func)

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        _set_grad_enabled(True)


class set_grad_enabled(_GradMode):
    """Set whether ops are recorded: immediately, as a call, or for a ``with`` block or a decorated function.

    Args:
        mode: True to record ops.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.set_grad_enabled(False):
        ...     (x * 2).requires_grad
        False

    Mirrors torch/autograd/grad_mode.py, ``set_grad_enabled``.
    """

    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        self.prev = is_grad_enabled()
        self.mode = mode
        _set_grad_enabled(mode)

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __repr__(self) -> str:
        return f"{typename(self)}(mode={self.mode})"

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _set_grad_enabled(self.prev)  # a decorator must not change the current mode
        return super().__call__(function)

    def __enter__(self) -> None:
        _set_grad_enabled(self.mode)


class inference_mode(_Mode):
    """Do not record ops inside, and promise that autograd will never use the tensors that are made inside.

    In contrast to :class:`no_grad`, tensors that are made inside also count no versions and track no views. This is
    permanent: such a tensor cannot be saved for backward, and cannot be changed in place outside. ``clone`` returns a
    normal tensor.

    Args:
        mode: False for normal mode within inference mode; or the function, if the class is used as a decorator without
            arguments.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.inference_mode():
        ...     y = x * 2
        >>> y.requires_grad, y.is_inference()
        (False, True)
        >>> (x * y).sum()
        Traceback (most recent call last):
            ...
        RuntimeError: Inference tensors cannot be saved for backward. ...

    Mirrors torch/autograd/grad_mode.py, ``inference_mode``.
    """

    __slots__ = ("mode", "prev")

    def __new__(cls, mode: Any = True) -> Any:
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self.prev = _enter_inference_mode(self.mode)

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _exit_inference_mode(self.prev)


class set_multithreading_enabled(_Mode):
    """Set whether a backward pass may use several threads: immediately, or for a ``with`` block or a decorated
    function.

    Nodes on the CPU run on the thread that called ``backward()``. Nodes on a CUDA device run on the thread of that
    device; if ``mode`` is False, the calling thread runs them too. ``torch._C._current_graph_task_execution_order``
    requires that ``mode`` is False, as in PyTorch.

    Args:
        mode: True, the default, to allow several threads.

    Example:
        >>> with torch.autograd.set_multithreading_enabled(False):
        ...     torch.autograd.is_multithreading_enabled()
        False

    Mirrors torch/autograd/grad_mode.py, ``set_multithreading_enabled``.
    """

    __slots__ = ("mode", "prev")

    def __init__(self, mode: bool) -> None:
        self.prev = _is_multithreading_enabled()
        self.mode = mode
        _set_multithreading_enabled(mode)

    def clone(self) -> set_multithreading_enabled:
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        _set_multithreading_enabled(self.mode)

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _set_multithreading_enabled(self.prev)


class _force_original_view_tracking(_Mode):
    """Set whether new views remember the ops that made them: immediately, or for a ``with`` block or a decorated
    function.

    After a change in place, a view needs a new history. The history is an ``as_strided`` of the base; for a view that
    remembers its ops, these ops are called again.

    Args:
        mode: True to remember the ops.

    Example:
        >>> x = torch.ones(2, 2, requires_grad=True)
        >>> for replay in (False, True):
        ...     with torch.autograd._force_original_view_tracking(replay):
        ...         view = x.clone().view(-1)
        ...         print(view.add_(1).grad_fn.name())
        AsStridedBackward0
        ViewBackward0

    Mirrors torch/autograd/grad_mode.py, ``_force_original_view_tracking``.
    """

    __slots__ = ("mode", "prev")

    def __init__(self, mode: bool) -> None:
        self.prev = _is_view_replay_enabled()
        self.mode = mode
        _set_view_replay_enabled(mode)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _set_view_replay_enabled(self.prev)
        return super().__call__(function)

    def clone(self) -> _force_original_view_tracking:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _set_view_replay_enabled(self.prev)


class _unsafe_preserve_version_counter(_GradMode):
    """Hide in-place changes that are made inside from the nodes that saved the tensors. Gradients may be wrong then.

    Args:
        tensors: a tensor or a tuple of tensors.

    Example:
        >>> x = torch.ones(2)
        >>> with torch.autograd._unsafe_preserve_version_counter(x):
        ...     _ = x.mul_(2)
        >>> x._version
        0

    Mirrors torch/autograd/grad_mode.py, ``_unsafe_preserve_version_counter``.
    """

    __slots__ = ("tensors", "versions")

    def __init__(self, tensors: Any) -> None:
        self.tensors = tensors if isinstance(tensors, tuple) else (tensors,)
        self.versions = tuple(tensor._version for tensor in self.tensors)

    def clone(self) -> _unsafe_preserve_version_counter:
        return type(self)(self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _C._autograd._unsafe_set_version_counter(self.tensors, self.versions)
