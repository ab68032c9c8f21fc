"""The ops that move elements, look at them in another way, or make them, over every dtype and layout; matrix products.

Mirrors: test/test_ops.py

Their special cases and errors are in test_tensor_shape.py and its neighbours.
"""

from typing import Any

import pytest

from tests.op_db import decompositions, factories, indexing, linalg, shape
from tests.op_db.checks import check_forward, check_gradcheck, check_gradients, check_inplace_and_out
from tests.op_db.core import DTYPES, OpInfo

# Both libraries warn where `out` is resized; torch, of ops that may change.
pytestmark = [
    pytest.mark.filterwarnings("ignore:An output with one or more elements was resized"),
    pytest.mark.filterwarnings("ignore:index_reduce"),
    pytest.mark.filterwarnings("ignore:torch.* is deprecated"),
    pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter"),
]

MOVING = [*shape.ROWS, *indexing.ROWS, *indexing.IN_PLACE, *linalg.ROWS, *decompositions.ROWS, *factories.COPIES]
ROWS = [*MOVING, *factories.FACTORIES, *factories.RANDOM, *indexing.SPECIAL]


def name(op: OpInfo) -> str:
    return op.ops


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ROWS, ids=name)
def test_equals_torch(op: OpInfo, dtype: str, real_torch: Any) -> None:
    check_forward(op, dtype, real_torch)


@pytest.mark.parametrize("op", MOVING, ids=name)
def test_inplace_and_out_equal_torch(op: OpInfo, real_torch: Any) -> None:
    check_inplace_and_out(op, real_torch)


@pytest.mark.parametrize("op", MOVING, ids=name)
def test_gradients_equal_torch(op: OpInfo, real_torch: Any) -> None:
    check_gradients(op, real_torch)


@pytest.mark.parametrize("op", MOVING, ids=name)
def test_gradcheck(op: OpInfo) -> None:
    check_gradcheck(op)
