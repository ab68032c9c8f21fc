"""Containers that cannot be changed.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import pickle
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.fx.immutable_collections import immutable_dict, immutable_list
from reftorch.utils._pytree import tree_map


def test_every_change_is_refused_as_by_torch(real_torch: ModuleType, noted: Any) -> None:
    changes: dict[str, tuple[Any, ...]] = {
        "append": (1,), "extend": ([1],), "insert": (0, 1), "pop": (), "remove": (1,), "reverse": (), "sort": (),
        "clear": (), "__setitem__": (0, 1), "__delitem__": (0,), "__iadd__": ([1],), "__imul__": (2,),
        "update": ({},), "popitem": (), "setdefault": (1, 2), "__ior__": ({},),
    }  # fmt: skip
    for name, args in changes.items():
        messages = []
        for library in (reftorch, real_torch):
            space = library.fx.immutable_collections
            for container in (space.immutable_list([1]), space.immutable_dict({0: 1})):
                if hasattr(container, name):
                    with pytest.raises(TypeError) as error:
                        getattr(container, name)(*args)
                    messages.append(str(error.value))
        assert messages[: len(messages) // 2] == noted(messages[len(messages) // 2 :]) and messages


def test_copies_and_trees_stay_immutable() -> None:
    items, mapping = immutable_list([1, 2]), immutable_dict({"a": 1})
    for container in (items, mapping):
        assert type(pickle.loads(pickle.dumps(container))) is type(container)
        assert type(tree_map(lambda x: x, container)) is type(container)
        assert len({container, type(container)(container)}) == 1
    assert tree_map(lambda x: -x, (items, mapping)) == ([-1, -2], {"a": -1})
