"""The handle that removes a hook.

Mirrors: torch/utils/hooks.py
Leaves out: ``BackwardHook``, which is beside ``Module``, and the marks for hooks that cannot be pickled.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

__all__ = ["RemovableHandle"]


class RemovableHandle:
    """Refers to one hook in a dict of hooks, and removes the hook on request.

    The handle holds the dicts weakly, so it keeps neither a module nor its hooks alive.

    Args:
        hooks_dict: the ``OrderedDict`` from ids to hooks; the caller stores the hook there under ``handle.id``.
        extra_dict: another dict, or a sequence of dicts, with options of the hook under the same id.

    Example:
        >>> from collections import OrderedDict
        >>> from reftorch.utils.hooks import RemovableHandle
        >>> hooks = OrderedDict()
        >>> handle = RemovableHandle(hooks)
        >>> hooks[handle.id] = print
        >>> with handle:
        ...     len(hooks)
        1
        >>> len(hooks)
        0

    Mirrors torch/utils/hooks.py, ``RemovableHandle``.
    """

    id: int
    next_id: int = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        extras = extra_dict if isinstance(extra_dict, Sequence) else [] if extra_dict is None else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(extra) for extra in extras)

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple:
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state: tuple) -> None:
        hooks_dict, self.id, extras = state
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks_dict is None else hooks_dict)
        self.extra_dict_ref = tuple(weakref.ref(extra) for extra in extras if extra is not None)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()
