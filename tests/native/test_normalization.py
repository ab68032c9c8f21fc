"""Batch and instance normalization against torch's.

Mirrors: test/test_nn.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.op_db.suite import OpTests
from tests.optim.rules import assert_close


class TestRows(OpTests):
    FAMILIES = "normalization"


def test_the_form_with_out_updates_the_running_statistics(real_torch: ModuleType, noted: Any) -> None:
    def program(lib: ModuleType) -> list[Any]:
        x = lib.arange(12, dtype=lib.float64).reshape(4, 3)
        mean, var = lib.zeros(3, dtype=lib.float64), lib.ones(3, dtype=lib.float64)
        outs = tuple(lib.empty(0, dtype=lib.float64) for _ in range(3))
        results = lib.native_batch_norm(x, None, None, mean, var, True, 0.1, 1e-5, out=outs)
        assert all(result is out for result, out in zip(results, outs, strict=True))
        return [t.tolist() for t in (*outs, mean, var)]

    assert_close(program(reftorch), noted(program(real_torch)), 1e-12)


def test_the_form_with_out_takes_any_strides() -> None:
    """torch writes other numbers for this input, so torch cannot judge here."""
    x = reftorch.arange(12, dtype=reftorch.float64).square().reshape(3, 4).t()
    outs = (reftorch.zeros(4, 3, dtype=x.dtype), *(reftorch.zeros(3, dtype=x.dtype) for _ in range(2)))
    reftorch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5, out=outs)
    expected = reftorch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    assert all(out.equal(result) for out, result in zip(outs, expected, strict=True))


def test_an_input_without_channels() -> None:
    """PyTorch looks at the running statistics first, and only then for the channels."""
    with pytest.raises(RuntimeError, match="running_mean must be defined in evaluation mode"):
        reftorch.batch_norm(reftorch.ones(3), None, None, None, None, False, 0.1, 0.1, False)
    with pytest.raises(RuntimeError, match="running_mean should contain 0 elements not 3"):
        reftorch.batch_norm(reftorch.ones(3), None, None, reftorch.zeros(3), None, True, 0.1, 0.1, False)
    with pytest.raises(IndexError, match="Dimension out of range"):
        reftorch.batch_norm(reftorch.ones(3), None, None, None, None, True, 0.1, 0.1, False)
