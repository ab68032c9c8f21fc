"""vmap for internal use: over backward passes, and over functions whose gradients are checked.

Under this vmap, the methods of an autograd.Function run as they are, and their ops see the batch. Under
:func:`reftorch.vmap`, a Function must define its behaviour on batches (``setup_context`` and ``vmap``).

Mirrors: torch/_vmap_internals.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch._functorch.vmap import functions_run_as_they_are
from reftorch._functorch.vmap import vmap as _transform
from reftorch._warnings import warn

__all__ = ["vmap"]


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """Run :func:`reftorch.vmap`; ``allow_none_pass_through`` permits Nones in a returned tuple, for all rows."""

    def wrapped(*args: Any) -> Any:
        is_there: list[bool] = []

        def without_nones(*rows: Any) -> Any:
            results = func(*rows)
            is_there[:] = [result is not None for result in results]
            return tuple(result for result in results if result is not None)

        run = _transform(without_nones if allow_none_pass_through else func, in_dims, out_dims)
        try:
            with functions_run_as_they_are():
                results = run(*args)
        except RuntimeError as error:
            if "called random operation" in str(error):
                raise RuntimeError(
                    "vmap: We do not yet support calling random operations inside of vmap. Please perform random "
                    "operations outside of vmap as a workaround"
                ) from error
            raise
        if not allow_none_pass_through:
            return results
        found = iter(results)
        return tuple(next(found) if there else None for there in is_there)

    return wrapped


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """The old name of :func:`reftorch.vmap`; a call gives a FutureWarning.

    Args:
        func, in_dims, out_dims: see the new function.

    Example:
        >>> torch.vmap(torch.sum)(torch.ones(2, 3))
        tensor([3., 3.])

    Mirrors torch/_vmap_internals.py, ``vmap``.
    """
    warn("Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.", FutureWarning)
    return _vmap(func, in_dims, out_dims)
