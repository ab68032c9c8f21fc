"""Mathematical functions of two tensors, and shifts, against torch's.

Mirrors: test/test_binary_ufuncs.py
"""

import math
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.op_db.checks import check_error
from tests.op_db.suite import OpTestsWithReference


class TestRows(OpTestsWithReference):
    FAMILIES = "binary_math_ops"


ERRORS = [
    (lambda t: t.fmod(t.tensor([1]), 0), RuntimeError, "ZeroDivisionError"),
    (
        lambda t: t.heaviside(t.ones(2), t.ones(2, dtype=t.int64)),
        RuntimeError,
        "heaviside is not yet implemented for tensors with different dtypes.",
    ),
    (lambda t: t.gcd(t.ones(2), t.ones(2)), NotImplementedError, "\"gcd_cpu\" not implemented for 'Float'"),
    (lambda t: t.hypot(t.tensor([1]), t.tensor([1])), NotImplementedError, "\"hypot_cpu\" not implemented for 'Long'"),
    (lambda t: t.ones(2) << 1, NotImplementedError, "\"lshift_cpu\" not implemented for 'Float'"),
    (
        lambda t: t.ones(2).float_power_(2),
        RuntimeError,
        "the base given to float_power_ has dtype Float but the operation's result requires dtype Double",
    ),
    (
        lambda t: t.float_power(t.ones(2), 2, out=t.ones(2)),
        RuntimeError,
        "the output given to float_power has dtype Float but the operation's result requires dtype Double",
    ),
    (
        lambda t: t.heaviside(t.ones(2, requires_grad=True), t.ones(2)).sum().backward(),
        RuntimeError,
        "derivative for aten::heaviside is not implemented",
    ),
    (lambda t: t.maximum(t.ones(2), 2), TypeError, "maximum(): argument 'other' (position 2) must be Tensor, not int"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Any, error: type[Exception], message: str, real_torch_or_none: Any) -> None:
    check_error(call, error, message, real_torch_or_none)


OPERATORS = {
    "2 - x": ("RsubBackward1", lambda t, x: 2 - x),
    "x - 2": ("SubBackward0", lambda t, x: x - 2),
    "2 / x": ("MulBackward0", lambda t, x: 2 / x),
    "x / 2": ("DivBackward0", lambda t, x: x / 2),
    "2 ** x": ("PowBackward2", lambda t, x: 2**x),
    "x % 2": ("RemainderBackward0", lambda t, x: x % 2),
    "x % x": ("RemainderBackward1", lambda t, x: x % x),
    "fmod number": ("FmodBackward0", lambda t, x: x.fmod(2)),
    "rsub": ("RsubBackward0", lambda t, x: t.rsub(x, x)),
    "copysign number": ("CopysignBackward1", lambda t, x: x.copysign(-1)),
    "xlogy": ("XlogyBackward0", lambda t, x: t.xlogy(x, x)),
    "xlogy of number": ("XlogyBackward1", lambda t, x: t.xlogy(2, x)),
    "xlogy by number": ("XlogyBackward2", lambda t, x: t.xlogy(x, 2)),
    "ldexp": ("LdexpBackward0", lambda t, x: t.ldexp(x, t.tensor([1, 2]))),
    "float_power": ("PowBackward0", lambda t, x: x.float_power(2)),
    "absolute": ("AbsBackward0", lambda t, x: t.absolute(x)),
    "fix": ("TruncBackward0", lambda t, x: t.fix(x)),
    "divide": ("DivBackward2", lambda t, x: t.divide(x, 2, rounding_mode="floor")),
    "round": ("RoundBackward1", lambda t, x: t.round(x, decimals=1)),
    "deg2rad": ("Deg2RadBackward0", lambda t, x: x.deg2rad()),
    "special": ("SpecialI1Backward0", lambda t, x: t.special.i1(x)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_node_and_value_of_an_operator(name: str, real_torch_or_none: Any) -> None:
    node, program = OPERATORS[name]
    results = []
    for t in (reftorch, *((real_torch_or_none,) if real_torch_or_none is not None else ())):
        result = program(t, t.tensor([1.25, 3.0], requires_grad=True))
        assert type(result.grad_fn).__name__ == node, t.__name__
        results.append(result.tolist())
    assert results[0] == pytest.approx(results[-1])


REFLECTED = {
    "<<": lambda t, i: [2 << i, i << 2, i << i, i << True],
    ">>": lambda t, i: [100 >> i, i >> 1, i >> i],
    "&": lambda t, i: [6 & i, i & 3, True & i],
    "|": lambda t, i: [6 | i, i | 3],
    "^": lambda t, i: [6 ^ i, i ^ 3],
    "%": lambda t, i: [7 % i, i % 3, i % 2.5],
    "//": lambda t, i: [7 // i, i // 2],
    "/": lambda t, i: [7 / i, i / 2],
    "-": lambda t, i: [7 - i, 7.5 - i, i - 1],
    "+": lambda t, i: [+i, 2 + i],
    "==": lambda t, i: [i == 2, i != 2, i < 3, i >= 2.5],
}


@pytest.mark.parametrize("name", REFLECTED)
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8"])
def test_number_on_the_left(name: str, dtype: str, real_torch: Any) -> None:
    results = [REFLECTED[name](t, t.tensor([1, 2, 5], dtype=getattr(t, dtype))) for t in (reftorch, real_torch)]
    for mine, wanted in zip(*results, strict=True):
        assert str(mine.dtype) == str(wanted.dtype)
        assert mine.tolist() == pytest.approx(wanted.tolist(), rel=0, abs=0)


def test_shift_in_place() -> None:
    x = reftorch.tensor([1, 2, -5])
    y = x
    y <<= 2
    y >>= 1
    assert y is x and x.tolist() == [2, 4, -10]


def test_plus_is_the_tensor_itself() -> None:
    x = reftorch.ones(2, requires_grad=True)
    assert +x is x
    with pytest.raises(RuntimeError, match="on a bool tensor is not supported"):
        _ = +reftorch.tensor([True])


def test_smallest_integer_does_not_trap() -> None:
    smallest = reftorch.tensor([-128], dtype=reftorch.int8)
    assert reftorch.fmod(smallest, -1).item() == 0
    assert reftorch.gcd(smallest, reftorch.zeros(1, dtype=reftorch.int8)).item() == -128  # 128 has no int8


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders_equal_those_of_numpy(name: str, dtype: str) -> None:
    """A block of elements takes the fast rung, unless a quotient among them is too large for it."""
    a = reftorch.randn(3000).to(getattr(reftorch, dtype)) * 1000
    b = reftorch.randn(3000).to(a.dtype)
    b[::50] = 0
    b[1::50] = math.inf
    a[2::50] = math.inf
    a[3::50] = math.nan
    huge = reftorch.tensor([1e30, 3e38, 1.0], dtype=a.dtype), reftorch.tensor([3.0, 1e-40, 1e-45], dtype=a.dtype)
    far = reftorch.cat([a, huge[0]]), reftorch.cat([b, huge[1]])
    rows = a.reshape(60, 50), b[:50]
    for x, y in ((a, b), far, rows, *((a, reftorch.tensor(v, dtype=a.dtype)) for v in (0.7, 0.0, -3.0))):
        with np.errstate(all="ignore"):
            want = getattr(np, name)(x.numpy(), y.numpy())
        for source in (x, reftorch.stack([x, x], -1)[..., 0]):
            assert np.array_equal(getattr(reftorch, name)(source, y).numpy(), want, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_nextafter_equals_that_of_numpy(dtype: str) -> None:
    corners = [0.0, -0.0, 1.0, -1.0, 6e4, -6e4, 1e-7, -1e-7, math.inf, -math.inf, math.nan]
    x = reftorch.tensor(corners, dtype=getattr(reftorch, dtype))
    got = reftorch.nextafter(x[:, None], x).numpy()
    want = np.nextafter(x.numpy()[:, None], x.numpy())
    assert np.array_equal(got, want, equal_nan=True)
    # Of two equals C gives the second; numpy's float16 gives the first.
    want = np.where(x.numpy()[:, None] == x.numpy(), x.numpy(), want)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()
