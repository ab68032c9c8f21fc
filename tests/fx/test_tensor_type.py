"""Annotations by shapes.

Mirrors: test/fx/test_gradual_type.py
"""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.fx import annotate, symbolic_trace
from tests.fx import both


@pytest.mark.filterwarnings("ignore")
def test_relations_are_those_of_torch(real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        space = __import__(f"{library.__name__}.fx.tensor_type", fromlist=["Dyn"])
        T, Dyn = space.TensorType, space.Dyn
        types = [Dyn, 1, 2, T((1, Dyn)), T((1, 2)), T((1, 2, 3)), T[1, 2]]
        pairs = list(itertools.product(types, repeat=2))
        found.append([(space.is_consistent(a, b), space.is_more_precise(a, b), a == b) for a, b in pairs])
        found[-1].append(list(map(repr, types)))
    assert found[0] == noted(found[1])


def test_annotations_are_in_the_code(real_torch: ModuleType, noted: Any) -> None:
    texts = []
    for library in (reftorch, real_torch):
        space = __import__(f"{library.__name__}.fx.tensor_type", fromlist=["Dyn"])

        def program(x, y):  # type: ignore[no-untyped-def]
            return x + y

        program.__annotations__ = {"x": space.TensorType((1, space.Dyn)), "y": list[int]}
        texts.append(both.plain(library.fx.symbolic_trace(program).code))
    assert texts[0] == noted(texts[1])


def test_a_value_is_annotated_once() -> None:
    def program(x):  # type: ignore[no-untyped-def]
        return annotate.annotate(annotate.annotate(x + 1, int), float)

    with pytest.raises(RuntimeError, match="Tried to annotate a value that already had a type on it!"):
        symbolic_trace(program)
    assert annotate.annotate(3, int) == 3
