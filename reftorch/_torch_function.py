"""Overriding what ops do: ``__torch_function__`` of classes, and modes. See Note [torch_function] in
cpp/csrc/python_torch_function.h.

Mirrors: torch/overrides.py (has_torch_function, handle_torch_function, TorchFunctionMode)

The lists of functions are in reftorch/overrides.py, which imports all of them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from reftorch import _C
from reftorch._C import _has_torch_function as has_torch_function
from reftorch._C import _has_torch_function_unary as has_torch_function_unary
from reftorch._C import _has_torch_function_variadic as has_torch_function_variadic
from reftorch._places import in_torch
from reftorch._warnings import warn

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "make_overridable",
    "overridable",
    "overridable_property",
    "wrap_torch_function",
]

_F = TypeVar("_F", bound=Callable[..., Any])


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Call the ``__torch_function__`` of a mode or of the arguments' classes for a function.

    Args:
        public_api: the function that was called; ``__torch_function__`` gets it as ``func``.
        relevant_args: the arguments whose classes are asked.
        args, kwargs: all arguments of the call.

    Returns:
        The first result that is not NotImplemented.

    Raises:
        TypeError: all results are NotImplemented.

    Example:
        >>> from reftorch.overrides import handle_torch_function, has_torch_function_unary
        >>> def double(x):
        ...     if has_torch_function_unary(x):
        ...         return handle_torch_function(double, (x,), x)
        ...     return x + x
        >>> class Word:
        ...     @classmethod
        ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
        ...         return f"{func.__name__} of a {types[0].__name__}"
        >>> double(Word()), double(torch.ones(1))
        ('double of a Word', tensor([2.]))

    Mirrors torch/overrides.py, ``handle_torch_function``.
    """
    overloaded = _C._overloaded_args(relevant_args)
    types = tuple(type(arg) for arg in overloaded)
    if _C._is_torch_function_mode_enabled():
        with _pop_mode_temporarily() as mode:
            if isinstance(getattr(mode.__torch_function__, "__self__", None), type):
                raise RuntimeError(
                    "Defining your mode's `__torch_function__` as a classmethod is not supported, please make it a "
                    "plain method"
                )
            result = mode.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for arg in overloaded:
        torch_function = arg.__torch_function__
        if getattr(torch_function, "__self__", None) is arg:
            warn(
                "Defining your `__torch_function__ as a plain method is deprecated and will be an error in future, "
                "please define it as a classmethod.",
                DeprecationWarning,
            )
        result = torch_function(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = ".".join(in_torch(public_api.__module__, public_api.__name__))
    message = f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}"
    if _C._is_torch_function_mode_enabled():
        message += f" nor in mode {_get_current_function_mode()}"
    raise TypeError(message)


def _relevant(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for value in (*args, *kwargs.values()):
        found.extend(value if isinstance(value, (tuple, list)) else (value,))
    return found


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def _spell_out(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call as ``__torch_function__`` gets them from PyTorch's functions in Python.

    Parameters without a default are passed by position. Those with a default are passed by keyword, whether the call
    gave them or not, so that a graph that ``torch.fx`` traces shows all of them.
    """
    bound = _signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    by_position: list[Any] = []
    by_keyword: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            by_position += value
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            by_keyword.update(value)
        elif parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            by_position.append(value)
        else:
            by_keyword[name] = value
    return tuple(by_position), by_keyword


def overridable(function: _F) -> _F:
    """Make a Python function check its arguments, and the elements of list arguments, for overrides before it runs.

    Mirrors torch/overrides.py, ``wrap_torch_function``, which needs a function that selects the arguments.
    """

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if _C._call_has_torch_function(args, kwargs):
            args, kwargs = _spell_out(function, args, kwargs)
            return handle_torch_function(public, _relevant(args, kwargs), *args, **kwargs)
        return function(*args, **kwargs)

    return public  # type: ignore[return-value]


def overridable_as_called(function: _F) -> _F:
    """Make a Python function overridable, and pass the arguments to the override as the caller wrote them.

    This is for functions that are ops in C++ in PyTorch. An op passes on the arguments of the call: it does not add
    those that have a default, as PyTorch's functions in Python do (:func:`_spell_out`).
    """

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if _C._call_has_torch_function(args, kwargs):
            return handle_torch_function(public, _relevant(args, kwargs), *args, **kwargs)
        return function(*args, **kwargs)

    return public  # type: ignore[return-value]


def overridable_as_op(function: _F, op: Callable[..., Any]) -> _F:
    """Make a function that calls an op pass an override on to the op, with the arguments as the caller wrote them.

    In PyTorch the op itself stands in place of the function, and does not add the arguments that have a default.
    """

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        # The op may have other names for its tensors than the documentation, so the first one has to come by position.
        if args and _C._call_has_torch_function(args, kwargs):
            return op(*args, **kwargs)
        return function(*args, **kwargs)

    return public  # type: ignore[return-value]


class overridable_property(property):
    """A property of tensors that checks the class of the tensor for an override, as the properties in C do."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is not None and has_torch_function_unary(instance):
            return handle_torch_function(self.__get__, (instance,), instance)
        return super().__get__(instance, owner)


# Methods that check for an override themselves, and methods that call one which does.
_NOT_WRAPPED = {
    "__torch_function__", "__repr__", "backward", "__iter__", "__hash__", "__new__", "__reduce_ex__", "float", "double",
    "half", "bfloat16", "long", "int", "short", "char", "byte", "bool", "cpu",
}  # fmt: skip


def make_overridable(cls: type) -> None:
    """Make the Python methods and properties of a tensor class overridable."""
    for name, value in list(vars(cls).items()):
        if isinstance(value, property):
            setattr(cls, name, overridable_property(value.fget, value.fset, value.fdel, value.__doc__))
        elif isinstance(value, types.FunctionType) and name not in _NOT_WRAPPED:
            setattr(cls, name, overridable(value))


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[_F], _F]:
    """Make a function overridable; ``dispatcher`` takes its arguments and returns those that are checked for overrides.

    Example:
        >>> @torch.overrides.wrap_torch_function(lambda x: (x,))
        ... def double(x):
        ...     return x + x
        >>> double(torch.ones(1))
        tensor([2.])

    Mirrors torch/overrides.py, ``wrap_torch_function``.
    """

    def wrap(function: _F) -> _F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    return wrap


def is_tensor_like(inp: Any) -> bool:
    """Return whether ``inp`` is a tensor, or of a class that overrides ops.

    Example:
        >>> torch.overrides.is_tensor_like(torch.ones(1)), torch.overrides.is_tensor_like([1])
        (True, False)

    Mirrors torch/overrides.py, ``is_tensor_like``.
    """
    return isinstance(inp, _C.TensorBase) or hasattr(inp, "__torch_function__")


class TorchFunctionMode:
    """Handles every op that is called inside a ``with`` block, whatever its arguments are.

    The mode is off while it handles an op, so that it may call ops itself.

    Example:
        >>> class Loud(torch.overrides.TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return func(*args, **(kwargs or {}))
        >>> with Loud():
        ...     _ = torch.ones(2) + 1
        ones
        add

    Mirrors torch/overrides.py, ``TorchFunctionMode``.
    """

    inner: TorchFunctionMode

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        _C._push_on_torch_function_stack(self)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        _C._pop_torch_function_stack()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """Make a mode; this is an old name of the constructor."""
        warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`")
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls each function unchanged.

    Mirrors torch/overrides.py, ``BaseTorchFunctionMode``.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> TorchFunctionMode | None:
    depth = _C._len_torch_function_stack()
    return _C._get_function_stack_at(depth - 1) if depth > 0 else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    return [_C._get_function_stack_at(i) for i in range(_C._len_torch_function_stack())]


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[TorchFunctionMode]:
    mode = _C._pop_torch_function_stack()
    try:
        yield mode
    finally:
        _C._push_on_torch_function_stack(mode)
