"""Convolutions and the windows of images against torch's.

Mirrors: test/nn/test_convolution.py
"""

import math
from typing import Any

import pytest

import reftorch as torch
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "convolution im2_col"


# --- what `make parity` found ----------------------------------------------------------------------------------------


def test_an_infinite_weight_meets_no_zeros_in_a_transposed_convolution(real_torch: Any) -> None:
    """The tiles lay zeros around the input, and 0 times infinity is NaN: another rung has to compute such a call."""

    def results(lib: Any) -> list[Any]:
        weight = lib.ones(2, 3, 3, dtype=lib.float64)
        weight[0, 1, 2] = math.inf
        x = lib.ones(1, 2, 5, dtype=lib.float64, requires_grad=True)
        forward = lib.conv_transpose1d(x, weight)
        (gradient,) = lib.autograd.grad(lib.conv1d(x, weight.transpose(0, 1)).sum(), x)
        return [forward.tolist(), gradient.tolist()]

    assert results(torch) == results(real_torch)
    assert not any(math.isnan(number) for channel in results(torch)[0][0] for number in channel)


@pytest.mark.parametrize(("steps", "pad"), [(0, 2), (9, -1), (2, 0), (3, 0)])
def test_conv_tbc_of_no_steps_and_of_negative_padding(steps: int, pad: int, real_torch: Any) -> None:
    def result(lib: Any) -> Any:
        x = lib.arange(steps * 2.0, dtype=lib.float64).view(steps, 1, 2)
        weight = lib.arange(12.0, dtype=lib.float64).view(3, 2, 2)
        return lib.conv_tbc(x, weight, lib.ones(2, dtype=lib.float64), pad)

    assert result(torch).tolist() == result(real_torch).tolist()
