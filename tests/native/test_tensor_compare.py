"""Comparisons, choices and clamping against torch's.

Mirrors: test/test_binary_ufuncs.py, test/test_torch.py
"""

from typing import Any

import pytest

from tests.op_db import compare
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

every_row = pytest.mark.parametrize("op", compare.ROWS, ids=lambda op: op.ops)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [*compare.ROWS, *compare.SPECIAL], ids=lambda op: op.ops)
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


@pytest.mark.parametrize("op", [op for op in compare.ROWS if op.ref is not None], ids=lambda op: op.ops)
def test_equals_numpy(op: OpInfo) -> None:
    check_reference(op)


ERRORS = [
    (lambda t: t.clamp(t.ones(2)), RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None"),
    (
        lambda t: t.where(t.tensor([1]), t.ones(1), t.ones(1)),
        RuntimeError,
        "where expected condition to be a boolean tensor, but got a tensor with dtype Long",
    ),
    (
        lambda t: t.bitwise_and(t.ones(1), t.ones(1)),
        NotImplementedError,
        "\"bitwise_and_cpu\" not implemented for 'Float'",
    ),
    (lambda t: t.isclose(t.ones(1), t.tensor([1])), RuntimeError, "Float did not match Long"),
    (
        lambda t: t.isclose(t.ones(1), t.ones(1), rtol=-1),
        RuntimeError,
        "rtol must be greater than or equal to zero, but got -1",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Any, error: type[Exception], message: str, real_torch_or_none: Any) -> None:
    check_error(call, error, message, real_torch_or_none)
