"""What the rows of a family go through: derive from OpTests, name the families, and pytest makes the tests.

Mirrors: torch/testing/_internal/common_device_type.py (instantiate_device_type_tests and its ``ops`` decorator)
"""

from typing import Any

import pytest

from tests.op_db import rows_of
from tests.op_db.checks import (
    check_forward,
    check_gradcheck,
    check_gradients,
    check_inplace_and_out,
    check_reference,
)
from tests.op_db.core import DTYPES, OpInfo


# Both libraries warn where `out` is resized.
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
class OpResultTests:
    """Of families whose rows are compared in their results only; they are all in ``VALUES`` and ``SPECIAL``."""

    FAMILIES: str  # their names, separated by spaces

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        rows = rows_of(self.FAMILIES.split(), "ROWS", "IN_PLACE")
        if metafunc.function.__name__ == "test_equals_torch":
            assert not rows or issubclass(metafunc.cls, OpTests), f"{self.FAMILIES}: a row is compared in every way"
            rows += rows_of(self.FAMILIES.split(), "VALUES", "SPECIAL")
            # A row that draws nothing for a dtype has nothing to compare there: a test of it could not fail.
            pairs = [(dtype, op) for dtype in DTYPES for op in rows if next(op.each(dtype), None) is not None]
            metafunc.parametrize(("dtype", "op"), pairs, ids=[f"{dtype}-{op.ops}" for dtype, op in pairs])
            return
        if metafunc.function.__name__ == "test_equals_numpy":
            rows = [op for op in rows if op.ref is not None]
        assert rows, f"{self.FAMILIES}: no row for {metafunc.function.__name__}: derive from another class"
        metafunc.parametrize("op", rows, ids=lambda op: op.ops)

    def test_equals_torch(self, op: OpInfo, dtype: str, real_torch: Any) -> None:
        check_forward(op, dtype, real_torch)


class OpTests(OpResultTests):
    """``ROWS`` of the families are compared in every way, ``VALUES`` and ``SPECIAL`` in their results only."""

    def test_inplace_and_out_equal_torch(self, op: OpInfo, real_torch: Any) -> None:
        check_inplace_and_out(op, real_torch)

    def test_gradients_equal_torch(self, op: OpInfo, real_torch: Any) -> None:
        check_gradients(op, real_torch)

    def test_gradcheck(self, op: OpInfo) -> None:
        check_gradcheck(op)


class OpTestsWithReference(OpTests):
    """Of a family whose rows name a numpy function, too."""

    def test_equals_numpy(self, op: OpInfo) -> None:
        check_reference(op)
