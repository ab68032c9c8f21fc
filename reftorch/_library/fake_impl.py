"""Fake kernels, which return the results of an op without data, for tensors without memory.

Mirrors: torch/_library/fake_impl.py
Leaves out: FakeTensor, and so sizes that depend on data (``FakeImplCtx.new_dynamic_size``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from reftorch._library.registration import _fake_impls
from reftorch._thread_local import ThreadLocal

__all__ = ["FakeImplCtx", "fake_impl_of", "get_ctx"]


class FakeImplCtx:
    """The context of a fake kernel that is running; :func:`get_ctx` returns it.

    Mirrors torch/_library/fake_impl.py, ``FakeImplCtx``.
    """

    def __init__(self, op: str) -> None:
        self._op = op

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> NoReturn:
        """Request a size that depends on data. A meta tensor has no data, so this always raises.

        Raises:
            RuntimeError: always.

        Mirrors torch/_library/fake_impl.py, ``FakeImplCtx.new_dynamic_size``.
        """
        raise RuntimeError(
            f"{self._op}: You're trying to run this operator with meta Tensors (as opposed to FakeTensors), but this "
            "operator may return an output Tensor with data-dependent shape. Meta Tensors don't support operators with "
            "outputs that have data-dependent shapes but FakeTensors do."
        )

    def create_unbacked_symint(self, *, min: int = 2, max: int | None = None) -> NoReturn:
        """The former name of :meth:`new_dynamic_size`."""
        self.new_dynamic_size()


class _Running(ThreadLocal):
    """The fake kernels that run on this thread, the innermost last."""

    def __init__(self) -> None:
        self.contexts: list[FakeImplCtx] = []


_running = _Running()


def get_ctx() -> FakeImplCtx:
    """Return the context of the fake kernel that runs.

    Raises:
        RuntimeError: no fake kernel runs.

    Mirrors torch/library.py, ``get_ctx``.
    """
    if not _running.contexts:
        raise RuntimeError("get_ctx() can only be called inside of a fake impl (see torch.library.register_fake).")
    return _running.contexts[-1]


def fake_impl_of(qualname: str) -> Callable[..., Any]:
    """Make the kernel of an op's Meta row. It calls the fake kernel that is registered at the time of the call."""

    def meta_kernel(*args: Any, **kwargs: Any) -> Any:
        _running.contexts.append(FakeImplCtx(qualname))
        try:
            return _fake_impls[qualname](*args, **kwargs)
        finally:
            _running.contexts.pop()

    return meta_kernel
