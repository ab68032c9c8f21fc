"""Functions of one tensor against torch's, over every dtype and layout.

Mirrors: test/test_unary_ufuncs.py
"""

from typing import Any

import pytest

import reftorch
from tests.op_db import unary
from tests.op_db.checks import (
    check_error,
    check_forward,
    check_gradcheck,
    check_gradients,
    check_inplace_and_out,
    check_reference,
)
from tests.op_db.core import DTYPES, OpInfo

# Both libraries warn where `out` is resized.
pytestmark = pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")

every_row = pytest.mark.parametrize("op", unary.ROWS, ids=lambda op: op.ops)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [*unary.ROWS, *unary.SPECIAL], ids=lambda op: op.ops)
def test_equals_torch(op: OpInfo, dtype: str, real_torch: Any) -> None:
    check_forward(op, dtype, real_torch)


@every_row
def test_inplace_and_out_equal_torch(op: OpInfo, real_torch: Any) -> None:
    check_inplace_and_out(op, real_torch)


@every_row
def test_gradients_equal_torch(op: OpInfo, real_torch: Any) -> None:
    check_gradients(op, real_torch)


@every_row
def test_gradcheck(op: OpInfo) -> None:
    check_gradcheck(op)


@pytest.mark.parametrize("op", [op for op in unary.ROWS if op.ref is not None], ids=lambda op: op.ops)
def test_equals_numpy(op: OpInfo) -> None:
    check_reference(op)


def test_sine_of_dense_memory_equals_that_of_strided() -> None:
    """Dense floats take the fast rung, unless an angle among them is too far out for it."""
    near = reftorch.linspace(-1e6, 1e6, 10_001)
    far = reftorch.tensor([1e7, -3e10, 1e30, 0.5, float("inf"), float("nan")])
    for x in (near, far, reftorch.cat([near, far])):
        strided = reftorch.stack([x, x], 1)[:, 0]
        for name in ("sin", "cos"):
            dense, plain = getattr(x, name)(), getattr(strided, name)()
            assert reftorch.allclose(dense, plain, rtol=1e-6, atol=1e-7, equal_nan=True), name


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
