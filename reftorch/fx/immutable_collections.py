"""Lists and dicts that cannot be changed: the containers among the arguments of a node.

A node keeps, beside its arguments, the set of nodes that it uses. If a program could change an argument in place, the
set would become wrong without notice. A program assigns new arguments instead, ``node.args = ...``.

Mirrors: torch/fx/immutable_collections.py
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from reftorch.utils._pytree import register_pytree_node

__all__ = ["immutable_dict", "immutable_list"]

_help_mutation = """
If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:

    new_args = ...  # copy and mutate args
    node.args = new_args
""".strip()

_T = TypeVar("_T")
_KT = TypeVar("_KT")
_VT = TypeVar("_VT")


def _no_mutation(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"{type(self).__name__!r} object does not support mutation. {_help_mutation}")


class immutable_list(list[_T]):
    """A list that cannot be changed.

    Example:
        >>> from reftorch.fx.immutable_collections import immutable_list
        >>> items = immutable_list([1, 2])
        >>> items, items + [3]
        ([1, 2], [1, 2, 3])
        >>> items.append(3)
        Traceback (most recent call last):
        ...
        TypeError: 'immutable_list' object does not support mutation. If you are attempting to modify the kwargs ...

    Mirrors torch/fx/immutable_collections.py, ``immutable_list``.
    """

    __delitem__ = _no_mutation
    __iadd__ = _no_mutation
    __imul__ = _no_mutation
    __setitem__ = _no_mutation
    append = _no_mutation
    clear = _no_mutation
    extend = _no_mutation
    insert = _no_mutation
    pop = _no_mutation
    remove = _no_mutation
    reverse = _no_mutation
    sort = _no_mutation

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[type, tuple[tuple[_T, ...]]]:
        return type(self), (tuple(self),)


class immutable_dict(dict[_KT, _VT]):
    """A dict that cannot be changed.

    Example:
        >>> from reftorch.fx.immutable_collections import immutable_dict
        >>> immutable_dict(a=1) | {"b": 2}
        {'a': 1, 'b': 2}

    Mirrors torch/fx/immutable_collections.py, ``immutable_dict``.
    """

    __delitem__ = _no_mutation
    __ior__ = _no_mutation
    __setitem__ = _no_mutation
    clear = _no_mutation
    pop = _no_mutation
    popitem = _no_mutation
    setdefault = _no_mutation
    update = _no_mutation

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type, tuple[tuple[tuple[_KT, _VT], ...]]]:
        return type(self), (tuple(self.items()),)


# tree_map() of an immutable container gives an immutable container.
register_pytree_node(immutable_list, lambda d: (d, None), lambda children, _: immutable_list(children))
register_pytree_node(
    immutable_dict,
    lambda d: (d.values(), list(d)),
    lambda children, keys: immutable_dict(zip(keys, children, strict=True)),
)
