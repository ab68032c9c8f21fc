"""Functions of one tensor against torch's, over every dtype and layout.

Mirrors: test/test_unary_ufuncs.py
"""

import math
from typing import Any

import pytest

import reftorch
from tests.op_db.checks import check_error
from tests.op_db.suite import OpTestsWithReference


class TestRows(OpTestsWithReference):
    FAMILIES = "unary_ops"


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_near_and_far(name: str, dtype: str) -> None:
    """A block of elements takes the fast rung, unless an angle among them is too far out for it."""
    near = reftorch.linspace(-6e4, 6e4, 3001, dtype=reftorch.float64).to(getattr(reftorch, dtype))
    far = reftorch.tensor([1e7, -3e10, 1e30, 0.5, math.inf, math.nan], dtype=near.dtype)
    for x in (near, far, reftorch.cat([near, far])):
        want = [getattr(math, name)(v) if math.isfinite(v) else math.nan for v in x.tolist()]
        digits = reftorch.finfo(x.dtype).eps
        for source in (x, reftorch.stack([x, x], 1)[:, 0]):
            got = getattr(source, name)().double()
            expected = reftorch.tensor(want, dtype=reftorch.float64)
            assert reftorch.allclose(got, expected, rtol=4 * digits, atol=digits / 8, equal_nan=True)


def test_results_go_where_they_belong() -> None:
    """The blocks of the two rungs are written into strided memory, too."""
    x = reftorch.linspace(-30, 30, 1000)
    out = reftorch.zeros(1000, 2)
    reftorch.sin(x, out=out[:, 1])
    assert out[:, 1].equal(x.sin()) and not out[:, 0].any()


ERRORS = [
    (
        lambda t: t.neg(t.tensor([True])),
        RuntimeError,
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
        "`~` or `logical_not()` operator instead.",
    ),
    (lambda t: t.abs(t.tensor([True])), NotImplementedError, "\"abs_cpu\" not implemented for 'Bool'"),
    (lambda t: t.floor(t.tensor([True])), NotImplementedError, "\"floor_vml_cpu\" not implemented for 'Bool'"),
    (lambda t: t.bitwise_not(t.tensor([1.0])), NotImplementedError, "\"bitwise_not_cpu\" not implemented for 'Float'"),
    (lambda t: t.relu(t.tensor([True])), RuntimeError, "Boolean inputs not supported for relu"),
    (
        lambda t: t.tensor([1, 2]).exp_(),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    (lambda t: t.abs(t.ones(2), out=t.ones(2, dtype=t.float64)), RuntimeError, "Found dtype Double but expected Float"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Any, error: type[Exception], message: str, real_torch_or_none: Any) -> None:
    check_error(call, error, message, real_torch_or_none)
