"""Weak references to tensors, and a dict whose keys are tensors that may die.

Mirrors: torch/utils/weak.py

Note [Tensors as weak keys]
    Problem: a table about tensors must not keep them alive. ``weakref.WeakKeyDictionary`` compares its keys with
    ``==``, which for tensors compares the elements. Trick: the keys of an ordinary dict are weak references that are
    equal if they refer to the same object. Their hash is the object's id, which is stored, because a reference must
    find its entry when its object is gone: then a callback removes the entry. Limit: ids are used again, so the id
    alone does not make two references equal.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from reftorch._tensor import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that equals another one if both refer to the same object; see Note [Tensors as weak keys].

    Args:
        key: the object.
        callback: called with the reference when the object is gone.

    Example:
        >>> from reftorch.utils.weak import WeakIdRef
        >>> x, y = torch.ones(2), torch.ones(2)
        >>> WeakIdRef(x) == WeakIdRef(x), WeakIdRef(x) == WeakIdRef(y)
        (True, False)

    Mirrors torch/utils/weak.py, ``WeakIdRef``.
    """

    __slots__ = ["_id"]

    _id: int

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]  # typeshed knows __new__ alone
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, theirs = self(), other() if isinstance(other, weakref.ref) else None
        return self is other if mine is None or theirs is None else mine is theirs

    def __ne__(self, other: object) -> bool:
        return not self == other  # PyTorch keeps that of weakref.ref, which compares the tensors


class WeakIdKeyDictionary(MutableMapping):
    """A dict that compares its keys by identity, and loses an entry when the key dies.

    Args:
        dict: a mapping, or pairs, to begin with.
        ref_type: the class of the references.

    Example:
        >>> from reftorch.utils.weak import WeakIdKeyDictionary
        >>> x, y = torch.ones(2), torch.ones(2)
        >>> names = WeakIdKeyDictionary({x: "x", y: "y"})
        >>> del y
        >>> len(names), names[x]
        (1, 'x')

    Mirrors torch/utils/weak.py, ``WeakIdKeyDictionary``.
    """

    def __init__(self, dict: Any = None, ref_type: type[weakref.ref] = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        this = weakref.ref(self)  # the callbacks must not keep the table alive

        def remove(reference: weakref.ref) -> None:
            table = this()
            if table is not None:
                table.data.pop(reference, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def _alive(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over a copy, in which a key that dies meanwhile stays as a dead reference."""
        for reference, value in self.data.copy().items():
            key = reference()
            if key is not None:
                yield key, value

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # of a kind that no weak reference can refer to
            return False

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._alive())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {id(key): value for key, value in self.items()} == {id(key): value for key, value in other.items()}

    __hash__ = None  # type: ignore[assignment]  # as other dicts

    def __ior__(self, other: Any) -> WeakIdKeyDictionary:
        self.update(other)
        return self

    def __or__(self, other: Any) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: Any) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        both = type(self)(other)
        both.update(self)
        return both

    def __copy__(self) -> WeakIdKeyDictionary:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        return type(self)([(key, copy.deepcopy(value, memo)) for key, value in self._alive()])

    def copy(self) -> WeakIdKeyDictionary:
        """Return a table with the same keys and values."""
        return WeakIdKeyDictionary(self)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of ``key``, or ``default``."""
        return self.data.get(self.ref_type(key), default)

    def items(self) -> Any:
        """Iterate over keys and values."""
        return self._alive()

    def keys(self) -> Any:
        """Iterate over the keys."""
        return iter(self)

    def values(self) -> Any:
        """Iterate over the values."""
        return (value for _, value in self._alive())

    def keyrefs(self) -> list[weakref.ref]:
        """Return the references, some of which may be dead when the caller looks at them."""
        return list(self.data.copy())

    def pop(self, key: Any, *args: Any) -> Any:
        """Remove ``key``; return its value, or the default that follows.

        Raises:
            KeyError: there is neither.
        """
        return self.data.pop(self.ref_type(key), *args)

    def popitem(self) -> tuple[Any, Any]:
        """Remove the youngest entry; return its key and value.

        Raises:
            KeyError: there is no entry.
        """
        while True:
            reference, value = self.data.popitem()
            key = reference()
            if key is not None:
                return key, value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return the value of ``key``, which becomes ``default`` if there is none."""
        return self.data.setdefault(self.ref_type(key, self._remove), default)

    def update(self, dict: Any = None, **kwargs: Any) -> None:  # type: ignore[override]
        """Add the entries of a mapping or of pairs."""
        pairs = [] if dict is None else dict.items() if hasattr(dict, "items") else dict
        for key, value in [*pairs, *kwargs.items()]:
            self[key] = value


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: a call returns the tensor, or None if it is gone.

    Raises:
        AssertionError: the object is not a tensor.

    Example:
        >>> from reftorch.utils.weak import TensorWeakRef
        >>> x = torch.ones(2)
        >>> reference = TensorWeakRef(x)
        >>> reference() is x
        True
        >>> del x
        >>> reference() is None
        True

    Mirrors torch/utils/weak.py, ``TensorWeakRef``.
    """

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
