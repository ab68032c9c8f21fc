"""Values that each thread has for itself, and that follow work which moves to another thread.

Mirrors: nothing in PyTorch, whose engine moves only the state of its C++ code.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

_objects: weakref.WeakSet[ThreadLocal] = weakref.WeakSet()


class ThreadLocal(threading.local):
    """A :class:`threading.local` whose values follow a backward pass that continues on another thread.

    Note [Thread-local state] in ``cpp/ATen/ThreadLocalState.h`` gives the reason.

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
    """Return the values of this thread; the engine calls this function before it starts a thread."""
    return [(each, dict(each.__dict__)) for each in list(_objects)]


def restore(values: list[tuple[ThreadLocal, dict[str, Any]]]) -> None:
    """Give this thread the values that :func:`capture` returned; the engine calls this function on the new thread."""
    for each, attributes in values:
        each.__dict__.clear()
        each.__dict__.update(attributes)
