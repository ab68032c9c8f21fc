"""A version compares as a version, not as text.

Mirrors: test/test_torch.py (test_torch_version, by its subject)
"""

import itertools
from types import ModuleType
from typing import Any

from reftorch.torch_version import TorchVersion

VERSIONS = [
    "2.13.0", "2.13", "2.13.0+cpu", "2.13.0+cu128", "2.13.0+cu121.1", "2.13.0+1", "2.4", "1.9.0", "1.10.0a0",
    "1.10.0a0+git1", "1.10.0b2", "2.0rc1", "2.0", "2.1.0.dev20230901", "2.1.0a1.dev3", "2.1.0", "parrot", "",
]  # fmt: skip
OTHERS: list[Any] = [*VERSIONS, (2, 13), (2,), [2, 4, 0], 3, None, 2.5]


def compared(version: Any, other: Any) -> list[Any]:
    return [getattr(version, method)(other) for method in ("__eq__", "__lt__", "__le__", "__gt__", "__ge__")]


def test_the_order(real_torch_or_none: ModuleType | None) -> None:
    ordered = ["1.9", "1.10.0.dev1", "1.10.0a0", "1.10.0b2", "1.10.0rc1", "1.10", "1.10.0+cpu", "1.10.1", "2.0"]
    assert sorted(map(TorchVersion, reversed(ordered))) == ordered
    assert TorchVersion("2.13.0+cpu") >= (2, 13) and hash(TorchVersion("2.13")) == hash("2.13")
    if real_torch_or_none is not None:
        theirs = real_torch_or_none.torch_version.TorchVersion
        for a, b in itertools.product(VERSIONS, OTHERS):
            assert compared(TorchVersion(a), b) == compared(theirs(a), b), (a, b)
