"""Small helpers that several parts of the package share.

Mirrors: test/test_utils.py
Leaves out: what rebuilds tensors from a file.
"""

from types import ModuleType

import reftorch
from tests.answers.watched import asked

THINGS = [
    lambda lib: lib.ones(1),
    lambda lib: lib.ones(1, dtype=lib.float64),
    lambda lib: lib.ones(1, dtype=lib.bfloat16),
    lambda lib: lib.arange(2),
    lambda lib: lib.zeros(2, dtype=lib.bool),
    lambda lib: [1],
    lambda lib: 3,
    lambda lib: None,
    lambda lib: int,
    lambda lib: len,
    lambda lib: lib.nn.ReLU(),
    lambda lib: lib.nn.ReLU,
    lambda lib: lib.float32,
]


def test_type_names_are_those_of_torch(real_torch: ModuleType) -> None:
    def names(lib: ModuleType) -> list[str]:
        return [lib.typename(thing(lib)).replace("reftorch.", "torch.") for thing in THINGS]

    assert names(reftorch) == asked(real_torch, names)
