"""Tensors of random numbers for tests: torch's numbers.

Mirrors: test/test_testing.py (TestMakeTensor)
Leaves out: complex numbers, devices.
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.testing import make_tensor

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"low": -5, "high": 5},
    {"low": 0},
    {"high": 3},
    {"low": -1e300, "high": 1e300},
    {"low": 0.5, "high": 3.5},
    {"noncontiguous": True},
    {"exclude_zero": True},
    {"low": 0, "high": 1e-3, "exclude_zero": True},
    {"low": 5, "high": 2},
    {"low": 1000, "high": 2000},
    {"low": float("nan")},
    {"requires_grad": True},
)


def make(library: ModuleType, dtype: str, shape: tuple, options: dict[str, Any]) -> Any:
    """What a call gives, in terms that can be compared: numbers and layout, or type and words of the error."""
    library.manual_seed(3)
    try:
        result = library.testing.make_tensor(*shape, dtype=getattr(library, dtype), device="cpu", **options)
    except ValueError as error:
        return type(error), str(error).replace("reftorch", "torch")
    return str(result.tolist()), result.stride(), result.requires_grad


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("shape", [((3, 4),), (3, 4), ((),), (0,), ((2, 0),), (5,)], ids=str)
def test_numbers(dtype: str, shape: tuple, real_torch: ModuleType) -> None:
    for options in OPTIONS:
        assert make(reftorch, dtype, shape, options) == make(real_torch, dtype, shape, options), options


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_interval(dtype: str) -> None:
    kind = getattr(reftorch, dtype)
    numbers = make_tensor(500, dtype=kind, device="cpu").double()
    low, high = (0, 2) if dtype == "bool" else (-9, 9) if kind.is_floating_point else (-9, 10)
    assert max(low, 0 if dtype == "uint8" else -9) <= numbers.min() < numbers.max() <= high
    assert make_tensor(50, dtype=kind, device="cpu", low=0, high=2, exclude_zero=True).bool().all()


def test_layout() -> None:
    x = make_tensor(2, 3, dtype=reftorch.float32, device="cpu", noncontiguous=True)
    assert x.shape == (2, 3) and x.stride() == (6, 2) and x.storage_offset() == 1
    y = make_tensor(2, 3, 4, 4, dtype=reftorch.float32, device="cpu", memory_format=reftorch.channels_last)
    assert y.is_contiguous(memory_format=reftorch.channels_last)
    with pytest.raises(ValueError, match="mutually exclusive"):
        make_tensor(
            2, dtype=reftorch.float32, device="cpu", noncontiguous=True, memory_format=reftorch.contiguous_format
        )


def test_an_empty_interval() -> None:
    with pytest.warns(FutureWarning, match="low==high"):
        assert make_tensor(2, dtype=reftorch.float32, device="cpu", low=3, high=3).tolist() == [3, 3]
    with pytest.raises(ValueError, match="must be less than"):
        make_tensor(2, dtype=reftorch.int64, device="cpu", low=3, high=3)
