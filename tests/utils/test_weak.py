"""Weak tables behave as PyTorch's.

Mirrors: test/test_weak.py
"""

import copy
import gc
import importlib
import weakref
from types import ModuleType
from typing import Any

import pytest

import reftorch


@pytest.fixture(params=["reftorch", "torch"])
def lib(request: pytest.FixtureRequest, real_torch: ModuleType, noted: Any) -> Any:
    """Either library. The test says what both do, so there is nothing to note but that it was asked."""
    noted(True)
    return reftorch if request.param == "reftorch" else real_torch


def weak(lib: ModuleType) -> Any:
    return importlib.import_module(f"{lib.__name__}.utils.weak")


def test_references(lib: Any) -> None:
    w = weak(lib)
    x, y = lib.ones(2), lib.ones(2)
    seen: list[Any] = []
    first, same, other = w.WeakIdRef(x, seen.append), w.WeakIdRef(x), w.WeakIdRef(y)
    assert first == same and hash(first) == id(x) and (first == other) is False and first() is x
    del x
    assert first() is None and seen == [first] and first == first and (first == same) is False
    assert len({first, same, other}) == 3
    if lib is reftorch:  # torch compares the tensors
        assert other != w.WeakIdRef(lib.ones(2)) and (other != w.WeakIdRef(y)) is False
    with pytest.raises(AssertionError, match=r"expected torch\.Tensor, got <class 'int'>\."):
        w.TensorWeakRef(3)
    reference = w.TensorWeakRef(y)
    assert reference() is y and reference.ref() is y
    del y
    assert reference() is None


def test_entries_die_with_their_keys(lib: Any) -> None:
    table = weak(lib).WeakTensorKeyDictionary()
    keys = [lib.ones(1) for _ in range(5)]
    for i, key in enumerate(keys):
        table[key] = i
    seen = []
    for key, value in table.items():  # while a key dies
        seen.append(value)
        if value == 1:
            keys[3] = None
        del key
    assert seen == [0, 1, 2, 4] and list(table.values()) == [0, 1, 2, 4] and len(table) == 4
    del keys[0]
    gc.collect()
    assert [reference() is None for reference in table.keyrefs()] == [False] * 3
    assert table.popitem()[1] == 4 and table.pop(keys[0]) == 1 and table.pop(keys[0], "no") == "no"
    with pytest.raises(KeyError):
        table.pop(keys[0])
    weak_table = weakref.ref(table)
    del table
    assert weak_table() is None


def test_it_is_a_mapping(lib: Any) -> None:
    kind = weak(lib).WeakIdKeyDictionary
    x, y, z = (lib.ones(2) for _ in range(3))
    table = kind([(x, 1), (y, [2])])
    assert x in table and z not in table and 3 not in table and list(table) == list(table.keys())
    assert table[x] == table.get(x) == 1 and table.get(z) is None and table.get(z, 5) == 5
    assert table.setdefault(z, 7) == 7 and table.setdefault(z, 8) == 7
    del table[z]
    with pytest.raises(KeyError):
        table[z]
    for copied in (table.copy(), copy.copy(table), copy.deepcopy(table)):
        assert copied == table and next(iter(copied)) is x and copied is not table
    assert copy.deepcopy(table)[y] is not table[y] and copy.copy(table)[y] is table[y]
    assert table != {id(x): 1} and (table == 3) is False
    joined = table | {z: 3}
    assert type(joined) is kind and len(joined) == 3 and len({z: 3} | table) == 3 and len(table) == 2
    table |= {x: 4}
    assert table[x] == 4
    with pytest.raises(TypeError):
        hash(table)
    with pytest.raises(TypeError):
        table | 3
    table.clear()
    assert not table
    with pytest.raises(KeyError):
        table.popitem()
    assert repr(table).startswith("<WeakIdKeyDictionary at 0x")
