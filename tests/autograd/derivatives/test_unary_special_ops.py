"""Slopes of special functions where numbers end: 0, the smallest numbers, the largest, infinity.

Mirrors: test/test_ops_gradients.py
"""

import math
from typing import Any

import pytest

import reftorch

NAMES = "sinc special.i0e special.i1 special.i1e i0 sqrt rsqrt log log1p tanh sigmoid erf asin atanh reciprocal abs"
NAMES += " exp expm1 sin cos atan asinh square special.entr exp2 lgamma digamma erfinv"


def slopes(lib: Any, name: str, dtype: str) -> list[float]:
    function = lib
    for part in name.split("."):
        function = getattr(function, part)
    facts = lib.finfo(getattr(lib, dtype))
    values = [
        0.0,
        -0.0,
        facts.smallest_normal,
        -facts.smallest_normal,
        facts.smallest_normal / 4,
        facts.eps,
        -facts.eps,
    ]
    values += [0.5, -0.5, 1.0, -1.0, 30.0, -30.0, math.inf, -math.inf]
    x = lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True)
    function(x).sum().backward()
    return x.grad.tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES.split())
def test_slopes_at_the_ends_of_numbers(name: str, dtype: str, real_torch: Any) -> None:
    ours, theirs = slopes(reftorch, name, dtype), slopes(real_torch, name, dtype)
    assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-30, nan_ok=True)


@pytest.mark.parametrize("dtype", [reftorch.float16, reftorch.float32, reftorch.float64])
def test_sinc_is_flat_around_zero(dtype: Any) -> None:
    tiny = reftorch.finfo(dtype).smallest_normal
    x = reftorch.tensor([0.0, tiny, -tiny, tiny / 2], dtype=dtype, requires_grad=True)
    reftorch.sinc(x).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0, 0.0]  # type: ignore[union-attr]
