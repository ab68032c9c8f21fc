"""The published examples of fx give the same texts and numbers with both libraries.

Mirrors: nothing in PyTorch: the examples are in another repository.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.fx import both

EXAMPLES = both.load("examples", reftorch)


def plain(value: Any) -> Any:
    if isinstance(value, str):
        return both.plain(value)
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("name", EXAMPLES.EXAMPLES)
def test_the_example_gives_what_it_gives_with_torch(name: str, real_torch: ModuleType, noted: Any) -> None:
    theirs, ours = both.load("examples", real_torch).EXAMPLES[name](), EXAMPLES.EXAMPLES[name]()
    assert plain(ours) == noted(plain(theirs)) and ours
