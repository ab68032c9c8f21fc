"""Flattening by a description that is known before.

Mirrors: test/fx/test_fx_pytree.py
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from reftorch.fx import _pytree as fx_pytree
from reftorch.utils import _pytree as pytree


class Pair(NamedTuple):
    a: int
    b: int


def test_leaves_come_in_the_order_of_the_description() -> None:
    tree = {"a": [1, (2, 3)], "b": 4}
    spec = pytree.tree_flatten(tree)[1]
    assert fx_pytree.tree_flatten_spec({"b": 40, "a": [10, (20, 30)]}, spec) == [10, 20, 30, 40]
    assert hash(spec) == hash(pytree.tree_flatten(tree)[1])


def test_classes_can_be_registered() -> None:
    spec = pytree.tree_flatten(Pair(1, 2))[1]
    assert fx_pytree.tree_flatten_spec(Pair(3, 4), spec) == [3, 4]
    with pytest.raises(RuntimeError, match=r"Real spec .* of object 5 is different from expected spec"):
        fx_pytree.tree_flatten_spec(5, spec)
    fx_pytree.register_pytree_flatten_spec(Pair, lambda pair, spec: [pair.b, pair.a])
    assert fx_pytree.tree_flatten_spec(Pair(3, 4), spec) == [4, 3]
    del fx_pytree.SUPPORTED_NODES[Pair]
