"""The questions that programs ask about a compiler, and the marks that they leave for one. There is no compiler here.

Mirrors: torch/compiler/__init__.py, and ``compile`` of torch/__init__.py
Leaves out: the compiler and its caches.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._utils import _warn_once

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
    "wrap_numpy",
]


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **kwargs: Any,
) -> Any:
    """Return the function or module ``model`` itself, and warn once that nothing is compiled.

    Args:
        model: a function or a module. Without it, ``compile`` returns a decorator.
        fullgraph, dynamic, backend, mode, options: the compiler's options, which change nothing.
        disable: True says that nothing should be compiled, so that nothing is warned of.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.compile(torch.relu)(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])

    Mirrors torch/__init__.py, ``compile``.
    """
    if not disable:
        _warn_once("torch.compile: there is no compiler here, so the function or module runs as it is.")
    return (lambda decorated: decorated) if model is None else model


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return ``fn`` itself, which no compiler looks into; without ``fn``, return a decorator.

    Mirrors torch/compiler/__init__.py, ``disable``.
    """
    return (lambda decorated: decorated) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """Return ``fn`` itself: the mark is for a compiler.

    Mirrors torch/compiler/__init__.py, ``allow_in_graph``.
    """
    return fn


def assume_constant_result(fn: Any) -> Any:
    """Return ``fn`` itself: the mark is for a compiler.

    Mirrors torch/compiler/__init__.py, ``assume_constant_result``.
    """
    return fn


def wrap_numpy(fn: Any) -> Any:
    """Return a function that takes tensors, calls ``fn`` with arrays of numpy, and returns tensors.

    Mirrors torch/compiler/__init__.py, ``wrap_numpy``.
    """
    from reftorch.utils import _pytree

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _pytree.tree_map(
            lambda value: value.numpy() if isinstance(value, _C.TensorBase) else value, (args, kwargs)
        )
        return _pytree.tree_map(
            lambda value: _C.from_numpy(value) if type(value).__name__ == "ndarray" else value, fn(*args, **kwargs)
        )

    return wrapped


def is_compiling() -> bool:
    """Return False: no compiler looks at the code that asks.

    Example:
        >>> torch.compiler.is_compiling()
        False

    Mirrors torch/compiler/__init__.py, ``is_compiling``.
    """
    return False


def is_dynamo_compiling() -> bool:
    """Return False: no compiler looks at the code that asks.

    Mirrors torch/compiler/__init__.py, ``is_dynamo_compiling``.
    """
    return False


def is_exporting() -> bool:
    """Return False: nothing is exported.

    Mirrors torch/compiler/__init__.py, ``is_exporting``.
    """
    return False


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Return the names of the compilers: none.

    Mirrors torch/compiler/__init__.py, ``list_backends``.
    """
    return []


def reset() -> None:
    """Do nothing: there are no compiled programs to forget.

    Mirrors torch/compiler/__init__.py, ``reset``.
    """


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no recorded graphs.

    Mirrors torch/compiler/__init__.py, ``cudagraph_mark_step_begin``.
    """


class set_stance:
    """A context manager, a decorator and a call, which would choose what is compiled. All do nothing.

    Mirrors torch/compiler/__init__.py, ``set_stance``.
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        self.stance = stance

    def __call__(self, fn: Any) -> Any:
        """Return ``fn`` itself."""
        return fn

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: Any) -> None:
        pass
