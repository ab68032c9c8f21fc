"""Values that each thread has its own of, and that go along where work moves to another thread.

Mirrors: nothing in PyTorch, whose engine takes along only what its C++ keeps.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

_objects: weakref.WeakSet[ThreadLocal] = weakref.WeakSet()


class ThreadLocal(threading.local):
    """A :class:`threading.local` whose values a backward pass takes along when it goes on on a thread of its own.

    Note [Thread-local state] in ``cpp/ATen/ThreadLocalState.h`` says why.

    Example:
        >>> from reftorch._thread_local import ThreadLocal
        >>> class Depth(ThreadLocal):
        ...     value = 0
        >>> depth = Depth()
        >>> depth.value += 1
        >>> depth.value
        1

    Mirrors nothing in PyTorch.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> ThreadLocal:
        self: ThreadLocal = super().__new__(cls, *args, **kwargs)
        _objects.add(self)
        return self


def capture() -> list[tuple[ThreadLocal, dict[str, Any]]]:
    """Return the values that this thread has; the engine calls this before it starts a thread."""
    return [(each, dict(each.__dict__)) for each in list(_objects)]


def restore(values: list[tuple[ThreadLocal, dict[str, Any]]]) -> None:
    """Give this thread the values that :func:`capture` returned on another; the engine calls this there."""
    for each, attributes in values:
        each.__dict__.clear()
        each.__dict__.update(attributes)
