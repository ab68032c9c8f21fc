"""The ops that move elements, look at them in another way, or make them, over every dtype and layout; matrix products.

Mirrors: test/test_ops.py

Their special cases and errors are in test_tensor_shape.py and its neighbours.
"""

from typing import Any

import pytest

from tests.op_db import factories, indexing, linalg, shape
from tests.op_db.checks import check_forward, check_gradcheck, check_gradients, check_inplace, check_out
from tests.op_db.core import DTYPES, OpInfo

# Both libraries warn where `out` is resized.
pytestmark = pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")

MOVING = [*shape.ROWS, *indexing.ROWS, *linalg.ROWS, *factories.COPIES]
ROWS = [*MOVING, *factories.FACTORIES, *factories.RANDOM]
WITH_GRADIENTS = [op for op in MOVING if op.gradcheck]


def name(op: OpInfo) -> str:
    return op.ops


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ROWS, ids=name)
def test_equals_torch(op: OpInfo, dtype: str, real_torch: Any) -> None:
    check_forward(op, dtype, real_torch)


@pytest.mark.parametrize("op", MOVING, ids=name)
def test_inplace_and_out_equal_torch(op: OpInfo, real_torch: Any) -> None:
    for dtype in ("float32", "int64", "bool"):
        if op.inplace:
            check_inplace(op, dtype, real_torch)
        if op.out:
            check_out(op, dtype, real_torch)


@pytest.mark.parametrize("op", WITH_GRADIENTS, ids=name)
def test_gradients_equal_torch(op: OpInfo, real_torch: Any) -> None:
    check_gradients(op, real_torch)


@pytest.mark.parametrize("op", WITH_GRADIENTS, ids=name)
def test_gradcheck(op: OpInfo) -> None:
    check_gradcheck(op)
