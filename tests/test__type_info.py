"""The limits of dtypes.

Mirrors: test/test_type_info.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128", "float8_e4m3fn",
          "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")  # fmt: skip
INTEGERS = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
FIELDS = {
    "finfo": ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"),
    "iinfo": ("bits", "max", "min", "dtype"),
}


@pytest.mark.parametrize(
    ("kind", "dtype"), [*(("finfo", d) for d in FLOATS), *(("iinfo", d) for d in INTEGERS)], ids=lambda v: v
)
def test_fields(kind: str, dtype: str, real_torch: ModuleType) -> None:
    ours, theirs = (getattr(t, kind)(getattr(t, dtype)) for t in (reftorch, real_torch))
    assert repr(ours) == repr(theirs)
    for field in FIELDS[kind]:
        mine, wanted = getattr(ours, field), getattr(theirs, field)
        assert type(mine) is type(wanted) and mine == wanted, field


def test_equal_for_equal_dtypes() -> None:
    assert reftorch.finfo(reftorch.float32) == reftorch.finfo() != reftorch.finfo(reftorch.float64)
    assert reftorch.iinfo(reftorch.int8) == reftorch.iinfo(reftorch.int8) != reftorch.iinfo(reftorch.uint8)
    assert reftorch.finfo() != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(reftorch.finfo())


ERRORS: list[Any] = [
    lambda t: t.finfo(t.int8),
    lambda t: t.iinfo(t.float32),
    lambda t: t.iinfo(t.bool),
    lambda t: t.finfo(3),
    lambda t: t.iinfo(3),
    lambda t: setattr(t.finfo(t.float16), "max", 3),
]


@pytest.mark.parametrize("call", ERRORS)
def test_error(call: Any, real_torch: ModuleType) -> None:
    errors = []
    for t in (reftorch, real_torch):
        with pytest.raises((TypeError, AttributeError)) as raised:
            call(t)
        errors.append((type(raised.value), str(raised.value)))
    assert errors[0] == errors[1]
