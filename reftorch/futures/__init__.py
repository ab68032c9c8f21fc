"""Results that come later.

Mirrors: torch/futures/__init__.py
Leaves out: devices whose streams a future would make wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class _Future(Generic[T]):
    """A value, or an exception, that another thread or a later line provides: ``torch.Future``.

    Mirrors torch/csrc/jit/python/init.cpp, ``Future``.
    """

    def __init__(self, *, devices: Any = None) -> None:
        if devices:
            raise ValueError(f"Future(): expected no devices, because futures know no streams here, got {devices}")
        self._condition = threading.Condition()
        self._done = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Any], None]] = []

    def done(self) -> bool:
        """Return whether there is a value or an exception."""
        return self._done

    def wait(self) -> T:
        """Wait for the value and return it, or raise the exception."""
        with self._condition:
            self._condition.wait_for(lambda: self._done)
        return self.value()

    def value(self) -> T:
        """Return the value of a future that is done, or raise the exception.

        Raises:
            RuntimeError: the future is not done.
        """
        if not self._done:
            raise RuntimeError("value(): the future is not done. Hint: wait() waits for the value")
        if self._error is not None:
            raise self._error
        return self._result

    def then(self, callback: Callable[[Any], Any]) -> Future[Any]:
        """Return a future for the result of ``callback(self)``, which is called when this future is done."""
        following: Future[Any] = Future()

        def run(done: Any) -> None:
            try:
                following.set_result(callback(done))
            except Exception as error:
                following.set_exception(error)

        self.add_done_callback(run)
        return following

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Call ``callback(self)`` when this future is done; at once if it is done already."""
        with self._condition:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def set_result(self, result: T) -> None:
        """Provide the value.

        Raises:
            RuntimeError: the future has a value or an exception already.
        """
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Provide an exception, which ``wait`` and ``value`` raise.

        Raises:
            AssertionError: ``result`` is not an exception.
        """
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._finish(None, result)

    def _finish(self, result: Any, error: BaseException | None) -> None:
        with self._condition:
            if self._done:
                raise RuntimeError("Future already completed. Hint: a value can be provided only once")
            self._done, self._result, self._error = True, result, error
            callbacks, self._callbacks = self._callbacks, []
            self._condition.notify_all()
        for callback in callbacks:
            callback(self)


_Future.__module__, _Future.__name__, _Future.__qualname__ = "reftorch", "Future", "Future"


class Future(_Future[T]):
    """A value, or an exception, that another thread or a later line provides.

    Args:
        devices: must be empty: futures know no streams here.

    Raises:
        ValueError: devices are given.

    Example:
        >>> future = torch.futures.Future()
        >>> doubled = future.then(lambda done: 2 * done.value())
        >>> future.set_result(3)
        >>> doubled.wait()
        6

    Mirrors torch/futures/__init__.py, ``Future``.
    """


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return a future that is done when all ``futures`` are; its value is the list of them.

    Mirrors torch/futures/__init__.py, ``collect_all``.
    """
    collected: Future[list[Future[Any]]] = Future()
    lock, left = threading.Lock(), len(futures)

    def count(done: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last:
            collected.set_result(futures)

    if not futures:
        collected.set_result([])
    for future in futures:
        future.add_done_callback(count)
    return collected


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """Wait for all ``futures`` and return their values.

    Mirrors torch/futures/__init__.py, ``wait_all``.
    """
    return [future.wait() for future in collect_all(futures).wait()]
