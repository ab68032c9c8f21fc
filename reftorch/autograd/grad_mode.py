"""Whether ops are recorded: as context managers, decorators and calls.

Mirrors: torch/autograd/grad_mode.py, torch/utils/_contextlib.py
Leaves out: inference mode and multithreading switches.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any

from reftorch._C import _set_grad_enabled, is_grad_enabled

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]


def _wrap_generator(make_context: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """The mode holds while the generator's own code runs, and not while its consumer's does."""

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


class _GradMode:
    """What the three modes share: as a decorator, each call runs in a fresh context."""

    __slots__ = ("prev",)

    prev: bool

    def clone(self) -> _GradMode:
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(function):
            raise TypeError(
                f"{type(self).__name__} cannot decorate a class: it would not say which of its methods is meant. "
                "Decorate the methods."
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
        _set_grad_enabled(self.prev)


class no_grad(_GradMode):
    """Record nothing inside: results do not require a gradient, and no memory is kept for backward.

    A context manager, and a decorator of functions and generators. It holds for the current thread.

    Example:
        >>> import reftorch as torch
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
    """Record inside, also within :class:`no_grad`.

    Example:
        >>> import reftorch as torch
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
    """Set whether ops are recorded: at once, as a call, or for a ``with`` block or a decorated function.

    Args:
        mode: True to record.

    Example:
        >>> import reftorch as torch
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

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _set_grad_enabled(self.prev)  # as a decorator, it says nothing about now
        return super().__call__(function)

    def __enter__(self) -> None:
        _set_grad_enabled(self.mode)
