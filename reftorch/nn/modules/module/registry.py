"""The dicts in which a module registers its parameters, buffers and submodules.

Mirrors: nothing in PyTorch, where these are plain dicts that ``Module.__getattr__`` reads
Leaves out: nothing.

Note [Registries mirror into __dict__]
    Problem: ``self.weight`` in a forward pass is the most frequent read in a network. If the parameter were only in
    ``self._parameters``, Python would search the instance and all its classes, fail, and call ``Module.__getattr__``,
    a Python function. Such a read takes some 250 ns; an attribute of the instance takes 10 ns.
    Trick: every entry of a registry is also an entry of ``module.__dict__``. The registry decides what is registered;
    ``__dict__`` only makes reads fast. The registry itself updates ``__dict__``, so code that writes
    ``module._parameters[name] = p`` directly, as PyTorch programs do, works as well.
    The registry holds its module by a weak reference. A strong reference would be a cycle, and a module that nobody
    uses would keep its parameters until the garbage collector runs.
"""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["Registry"]


class Registry(dict):
    """A dict whose entries are also attributes of the module that owns it. See Note [Registries mirror into __dict__].

    Args:
        owner: weak reference to the module.
        entries: dict of the initial entries.
    """

    __slots__ = ("_owner",)

    def __init__(self, owner: weakref.ref, entries: dict[str, Any] | None = None) -> None:
        self._owner = owner
        self.update(entries or {})

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if (owner := self._owner()) is not None:
            owner.__dict__[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        if (owner := self._owner()) is not None:
            owner.__dict__.pop(name, None)

    def update(self, *args: Any, **kwargs: Any) -> None:
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __ior__(self, other: Any) -> Registry:  # type: ignore[misc]
        self.update(other)
        return self

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        if name not in self:
            return super().pop(name, *default)
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        if not self:
            raise KeyError("popitem(): dictionary is empty")
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        for name in list(self):
            del self[name]

    def copy(self) -> dict[str, Any]:
        """Return a plain dict, because the copy belongs to no module."""
        return dict(self)

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)
