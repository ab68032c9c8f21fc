"""The handle that removes a hook, and the mark of hooks that need not be saved.

Mirrors: torch/utils/hooks.py
``BackwardHook`` is defined beside ``Module`` here, and can be imported from this module, too.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reftorch._api import getattr_of as _getattr_of
from reftorch._warnings import warn

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

if TYPE_CHECKING:
    from reftorch.nn.modules.module.backward_hooks import BackwardHook
else:  # nn lies above this module
    _OF_NN = {"BackwardHook": "reftorch.nn.modules.module.backward_hooks"}
    __getattr__ = _getattr_of("reftorch.utils.hooks", (), _OF_NN)


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


def unserializable_hook(f: Any) -> Any:
    """Mark a hook of a tensor that need not be saved with the tensor, so that saving gives no warning.

    Returns:
        The function itself: this is a decorator.

    Mirrors torch/utils/hooks.py, ``unserializable_hook``.
    """
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook of a tensor that saving leaves behind, unless :func:`unserializable_hook` has marked the hook.

    Mirrors torch/utils/hooks.py, ``warn_if_has_hooks``.
    """
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning"
            )
