"""Small helpers that several parts of the package share.

Mirrors: test/test_utils.py
Leaves out: what rebuilds tensors from a file.
"""

from types import ModuleType

import pytest

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


def test_the_module_of_a_device() -> None:
    assert reftorch.get_device_module("cpu") is reftorch.get_device_module(reftorch.device("cpu")) is reftorch.cpu
    assert reftorch.get_device_module("cuda:1") is reftorch.cuda
    with pytest.raises(RuntimeError, match=r"Invalid value of device '1', expect torch.device, str, or None"):
        reftorch.get_device_module(1)
    with pytest.raises(RuntimeError, match="Device 'meta' does not have a corresponding module"):
        reftorch.get_device_module("meta")


def test_a_check_of_one_number() -> None:
    for value in (1, 0.1, True):
        reftorch._assert_async(reftorch.tensor(value))
    with pytest.raises(RuntimeError, match="single nonzero value, but got zero"):
        reftorch._assert_async(reftorch.tensor(0.0))
    with pytest.raises(RuntimeError, match="no such number"):
        reftorch._assert_async(reftorch.tensor(False), "no such number")
    for size, words in ((0, "no values"), (2, "more than one value")):
        with pytest.raises(RuntimeError, match=f"Boolean value of Tensor with {words} is ambiguous"):
            reftorch._assert_async(reftorch.ones(size))
