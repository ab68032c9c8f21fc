"""Comparisons, choices and clamping against torch's.

Mirrors: test/test_binary_ufuncs.py, test/test_torch.py
"""

from typing import Any

import pytest

import reftorch
from tests.op_db.checks import check_error
from tests.op_db.suite import OpTestsWithReference


class TestRows(OpTestsWithReference):
    FAMILIES = "binary_logic_ops tensor_compare scalar"


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


def test_input_is_a_name_wherever_it_stands(real_torch_or_none: Any) -> None:
    """The schemas say ``self``; of a function PyTorch calls it ``input``, be it the first argument or a later one."""
    for t in filter(None, (reftorch, real_torch_or_none)):
        assert t.where(condition=t.tensor([True, False]), input=t.ones(2), other=t.zeros(2)).tolist() == [1, 0]
        assert t.searchsorted(sorted_sequence=t.tensor([1, 3]), input=t.tensor([2])).tolist() == [1]
        assert t.polygamma(1, input=t.ones(1)).item() == pytest.approx(1.6449, abs=1e-4)
