"""Functions of one tensor against torch's, over every dtype and layout.

Mirrors: test/test_unary_ufuncs.py
"""

from typing import Any

import pytest

import reftorch
from tests.op_db import unary
from tests.op_db.checks import check_error
from tests.op_db.suite import OpTestsWithReference


class TestRows(OpTestsWithReference):
    ROWS = unary.ROWS
    SPECIAL = unary.SPECIAL


def test_sine_of_dense_memory_equals_that_of_strided() -> None:
    """Dense floats take the fast rung, unless an angle among them is too far out for it."""
    near = reftorch.linspace(-1e6, 1e6, 10_001)
    far = reftorch.tensor([1e7, -3e10, 1e30, 0.5, float("inf"), float("nan")])
    for x in (near, far, reftorch.cat([near, far])):
        strided = reftorch.stack([x, x], 1)[:, 0]
        for name in ("sin", "cos", "tan"):
            dense, plain = getattr(x, name)(), getattr(strided, name)()
            assert reftorch.allclose(dense, plain, rtol=2e-6, atol=1e-7, equal_nan=True), name


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
