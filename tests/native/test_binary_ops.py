"""Arithmetic against torch's: broadcasting, promotion, layouts, numbers.

Mirrors: test/test_binary_ufuncs.py
"""

from typing import Any

import numpy as np
import pytest

import reftorch
from tests.op_db.checks import check_error
from tests.op_db.suite import OpTestsWithReference


class TestRows(OpTestsWithReference):
    FAMILIES = "binary_ops pointwise_ops pow"


ERRORS = [
    (
        lambda t: t.ones(2, 3) + t.ones(2, 4),
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    (
        lambda t: t.tensor([True]) - t.tensor([True]),
        RuntimeError,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()`",
    ),
    (
        lambda t: 1 - t.tensor([True]),
        RuntimeError,
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
        "the `~` or `logical_not()` operator instead.",
    ),
    (
        lambda t: t.add(t.tensor([1]), t.tensor([1]), alpha=1.5),
        RuntimeError,
        "For integral input tensors, argument alpha must not be a floating point number.",
    ),
    (
        lambda t: t.add(t.tensor([1]), t.tensor([1]), alpha=True),
        RuntimeError,
        "Boolean alpha only supported for Boolean results.",
    ),
    (lambda t: t.tensor([1]) // 0, RuntimeError, "ZeroDivisionError"),
    (lambda t: t.tensor([1]) % 0, RuntimeError, "ZeroDivisionError"),
    (
        lambda t: t.div(t.ones(2), 2, rounding_mode="up"),
        RuntimeError,
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'",
    ),
    (lambda t: t.tensor([2]) ** -1, RuntimeError, "Integers to negative integer powers are not allowed."),
    (
        lambda t: t.tensor([1]).add_(1.5),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    (
        lambda t: t.ones(3).add_(t.ones(2, 3)),
        RuntimeError,
        "output with shape [3] doesn't match the broadcast shape [2, 3]",
    ),
    (
        lambda t: t.ones(1).expand(3).add_(1),
        RuntimeError,
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation.",
    ),
    (lambda t: t.lerp(t.ones(2), t.ones(2, dtype=t.float64), 0.5), RuntimeError, "expected dtype float"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Any, error: type[Exception], message: str, real_torch_or_none: Any) -> None:
    check_error(call, error, message, real_torch_or_none)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_quotients_of_16_bits_are_rounded_before_they_are_cut(dtype: str, real_torch: Any) -> None:
    def cut(t: Any) -> list[float]:
        row = t.arange(1, 400).to(getattr(t, dtype))
        return t.div(row[:, None], row[:40] / 4, rounding_mode="trunc").float().reshape(-1).tolist()

    assert cut(reftorch) == cut(real_torch)


def test_a_number_to_powers_is_written_where_it_is_to_be(real_torch_or_none: Any) -> None:
    for t in (reftorch, real_torch_or_none or reftorch):
        out = t.empty(0, dtype=t.float64)
        assert t.pow(2, t.tensor([1, 3]), out=out) is out
        assert out.tolist() == [2, 8]
        with pytest.raises(RuntimeError, match="can't be cast to the desired output type Int"):
            t.pow(2.5, t.tensor([1, 3]), out=t.empty(0, dtype=t.int32))


def test_smallest_integer_divided_by_minus_one_does_not_trap() -> None:
    smallest = reftorch.tensor([-(2**63)])
    assert (smallest // -1).item() == -(2**63)
    assert (smallest % -1).item() == 0
    assert reftorch.div(smallest, -1, rounding_mode="trunc").item() == -(2**63)


MOST = 2**63 - 1
WRAPPED = {
    "add": lambda t, a, b: a + b,
    "add alpha": lambda t, a, b: t.add(a, b, alpha=MOST),
    "sub": lambda t, a, b: a - b,
    "mul": lambda t, a, b: a * b,
    "neg": lambda t, a, b: -b,
    "abs": lambda t, a, b: b.abs(),
    "square": lambda t, a, b: a.square(),
    "pow": lambda t, a, b: a**3,
    "addcmul": lambda t, a, b: t.addcmul(a, a, b),
    "sum": lambda t, a, b: a.sum(),
    "sum of rows": lambda t, a, b: t.stack([a, b, a]).sum(0),
    "nansum": lambda t, a, b: a.nansum(),
    "prod": lambda t, a, b: a.prod(),
    "prod of rows": lambda t, a, b: t.stack([a, b, a]).prod(0),
    "cumsum": lambda t, a, b: a.cumsum(0),
    "cumprod": lambda t, a, b: a.cumprod(0),
    "dot": lambda t, a, b: a.dot(b),
    "matmul": lambda t, a, b: a.view(2, 2) @ b.view(2, 2),
    "bmm": lambda t, a, b: a.view(1, 2, 2).bmm(b.view(1, 2, 2)),
    "addmm": lambda t, a, b: t.addmm(a[:2], a.view(2, 2), b.view(2, 2), beta=MOST, alpha=3),
    "diff": lambda t, a, b: t.cat([a, b]).diff(),
    "cross": lambda t, a, b: t.linalg.cross(a[:3], b[:3]),
    "trace": lambda t, a, b: a.view(2, 2).trace(),
    "index_add": lambda t, a, b: a.index_add(0, t.tensor([0, 0, 1, 1]), b),
    "scatter_add": lambda t, a, b: a.scatter_add(0, t.tensor([0, 0, 1, 1]), a),
    "scatter_reduce": lambda t, a, b: a.scatter_reduce(0, t.tensor([0, 0, 1, 1]), a, "prod"),
    "put": lambda t, a, b: a.clone().put_(t.tensor([0, 0]), b[:2], accumulate=True),
    "left shift": lambda t, a, b: t.bitwise_left_shift(a, t.tensor([1, 2, 62, 63])),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_integers_wrap_around(name: str, real_torch_or_none: Any) -> None:
    """What does not fit into 64 bits loses its high bits, as in PyTorch: nothing is undefined, nothing raises."""

    def result(t: Any) -> Any:
        a, b = t.tensor([MOST, -MOST - 1, MOST, MOST - 5]), t.tensor([MOST, -MOST - 1, -7, 2**62])
        return WRAPPED[name](t, a, b).tolist()

    ours = result(reftorch)
    exact = {
        "add": [2 * MOST, -(2**64), MOST - 7, MOST - 5 + 2**62],
        "mul": [MOST**2, 2**126, -7 * MOST, (MOST - 5) * 2**62],
    }
    if name in exact:
        assert ours == [(x + 2**63) % 2**64 - 2**63 for x in exact[name]]
    if real_torch_or_none:
        assert ours == result(real_torch_or_none)


NUMBERS_BESIDE_16_BITS = {
    "mul": lambda t, a, b: a * 0.1,
    "mul by what float16 has not": lambda t, a, b: a * 1e5,
    "div": lambda t, a, b: a / 0.3,
    "div trunc": lambda t, a, b: t.div(a, 0.3, rounding_mode="trunc"),
    "div floor": lambda t, a, b: t.div(a, 0.3, rounding_mode="floor"),
    "alpha": lambda t, a, b: t.add(a, b, alpha=0.3),
    "add": lambda t, a, b: a + 0.1,
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", NUMBERS_BESIDE_16_BITS)
def test_which_numbers_are_rounded_to_16_bits(name: str, dtype: str, real_torch: Any) -> None:
    """A factor and a divisor are not, alpha and what is added are: every bit is torch's."""
    results = []
    for t in (reftorch, real_torch):
        a = (t.arange(64.0) * 7.3 - 200).to(getattr(t, dtype))
        b = (t.arange(64.0) * -3.1 + 90).to(getattr(t, dtype))
        results.append(NUMBERS_BESIDE_16_BITS[name](t, a, b).tolist())
    assert results[0] == results[1]


@pytest.mark.parametrize("n", [5, 15, 16, 64, 100, 128, 129])
@pytest.mark.parametrize("rows", [1, 2, 6, 203])
def test_short_rows_are_computed_by_the_block(rows: int, n: int) -> None:
    """A bias for each column, a number for each row, rows that lie apart: what is not dense goes through buffers."""
    generator = np.random.default_rng(0)
    x, wide = generator.standard_normal((rows, n)), generator.standard_normal((rows, 2 * n))
    bias, column = generator.standard_normal(n), generator.standard_normal((rows, 1))
    t, u, b, c = (reftorch.from_numpy(a) for a in (x, wide, bias, column))
    pairs = [(t, b), (t, c), (u[:, :n], c), (u[:, :n], b), (b, c), (t, b.view(1, n)), (c.expand(rows, n), b)]
    for left, right in (*pairs, *((right, left) for left, right in pairs)):
        a, z = left.numpy(), right.numpy()
        for got, expected in (((left - right), a - z), (left > right, a > z), (reftorch.lerp(left, right, t), None)):
            wanted = np.broadcast_to(a, x.shape) + x * (z - a) if expected is None else expected
            np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-12, atol=1e-14)
            assert got.stride() == (n, 1) or rows == 1
    np.testing.assert_array_equal(t.clone().mul_(c).numpy(), x * column)
    np.testing.assert_array_equal(t.clone().sub_(b).numpy(), x - bias)
    single = t.float() * c.float().expand(rows, n)
    np.testing.assert_array_equal(single.numpy(), x.astype("f4") * column.astype("f4"))
