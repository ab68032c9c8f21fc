"""16-bit floats: an op on them is the op on floats, rounded once, whatever loop brings the elements to it.

Mirrors: test/test_binary_ufuncs.py, test/test_unary_ufuncs.py (their reference_numerics tests of 16-bit dtypes)
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch

REDUCED = ("float16", "bfloat16")
UNARY = (
    "abs", "acos", "atan", "ceil", "cos", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma", "log", "log1p",
    "neg", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "sin", "sqrt", "tanh", "trunc",
)  # fmt: skip
BINARY = (
    "add", "atan2", "copysign", "div", "eq", "fmod", "gt", "heaviside", "hypot", "maximum", "minimum", "mul", "pow",
    "remainder", "sub",
)  # fmt: skip


def all_numbers(dtype: str) -> Any:
    """Every number of a 16-bit dtype: subnormal ones, both zeros, infinities and NaN."""
    bits = reftorch.arange(-(2**15), 2**15, dtype=reftorch.int16)
    return bits.view(getattr(reftorch, dtype))


def same_numbers(got: Any, want: Any) -> bool:
    """Equal in every bit, but for what a NaN carries."""
    if got.dtype == reftorch.bool:
        return bool(got.equal(want))
    nan = want.isnan()
    bits = [x.masked_fill(nan, 0).contiguous().view(reftorch.int16) for x in (got, want)]
    return got.dtype == want.dtype and bool(got.isnan().equal(nan)) and bool(bits[0].equal(bits[1]))


def in_float(op: Callable[..., Any], *args: Any) -> Any:
    wide = op(*(x.float() for x in args))
    return wide.to(args[0].dtype) if wide.is_floating_point() else wide


@pytest.mark.parametrize("dtype", REDUCED)
@pytest.mark.parametrize("name", UNARY)
def test_unary_ops_round_once(name: str, dtype: str) -> None:
    op, x = getattr(reftorch, name), all_numbers(dtype)
    assert same_numbers(op(x), in_float(op, x))


@pytest.mark.parametrize("dtype", REDUCED)
@pytest.mark.parametrize("name", BINARY)
def test_binary_ops_round_once(name: str, dtype: str) -> None:
    op, x = getattr(reftorch, name), all_numbers(dtype)
    for y in (x.roll(12345), x.flip(0), x[40007:40008].expand_as(x)):
        assert same_numbers(op(x, y), in_float(op, x, y))


LAYOUTS = {
    "dense": lambda x: x,
    "short": lambda x: x[:9],
    "more than a block": lambda x: x[:1537],
    "steps": lambda x: x[::3],
    "transposed": lambda x: x[:4000].view(40, 100).t(),
    "few columns": lambda x: x[:3000].view(1000, 3)[:, :2],
    "rows of a part": lambda x: x[:4000].view(40, 100)[:, 7:90],
    "one number": lambda x: x[5],
    "none": lambda x: x[:0],
}


@pytest.mark.parametrize("dtype", REDUCED)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str, dtype: str) -> None:
    """One operand laid out so, the other dense or the same number throughout; results into strided memory, too."""
    x = LAYOUTS[layout](all_numbers(dtype)[11::5])
    others = (x, x.contiguous(), x.new_full((), 1.5).expand(x.shape), x.new_full(x.shape[-1:], 0.75))
    for op in (reftorch.add, reftorch.mul, reftorch.gt):
        for y in others:
            want = in_float(op, x, y)
            assert same_numbers(op(x, y), want)
            assert same_numbers(op(y, x), in_float(op, y, x))
            out = reftorch.zeros(*x.shape, 2, dtype=want.dtype)[..., 1]
            assert same_numbers(op(x, y, out=out), want)
    for unary in (reftorch.exp, reftorch.sin):
        out = reftorch.zeros(*x.shape, 2, dtype=x.dtype)[..., 1]
        assert same_numbers(unary(x), in_float(unary, x))
        assert same_numbers(unary(x, out=out), in_float(unary, x))
    in_place = x.clone()
    assert same_numbers(in_place.mul_(in_place), in_float(reftorch.mul, x, x))
    assert same_numbers(reftorch.addcmul(x, x, others[1]), in_float(reftorch.addcmul, x, x, others[1]))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_between_halves_and_floats(layout: str) -> None:
    x = LAYOUTS[layout](all_numbers("float16"))
    wide = x.float()
    assert wide.stride() == reftorch.empty_like(x).stride() and same_numbers(wide.half(), x)
    assert wide.double().equal(x.double()) or x.isnan().any()
    strided = reftorch.zeros(*x.shape, 2)[..., 0].copy_(x)
    assert same_numbers(strided.half(), x)


@pytest.mark.parametrize("dtype", REDUCED)
def test_rounding_is_torchs(dtype: str, real_torch: Any) -> None:
    """What takes one operation is torch's to the last bit."""
    ours = all_numbers(dtype)
    theirs = real_torch.arange(-(2**15), 2**15, dtype=real_torch.int16).view(getattr(real_torch, dtype))
    programs: tuple[Callable[[Any], Any], ...] = (
        lambda x: x + x.roll(777),
        lambda x: x - x.roll(1234),
        lambda x: x * x.roll(4321),
        lambda x: x / x.roll(999),
        lambda x: x.sqrt(),
        lambda x: x.float().mul(1.001).to(x.dtype),
        lambda x: x.add(x.roll(5), alpha=0.3),  # 0.3 is one of the 16-bit floats first
    )
    for program in programs:
        got, want = program(ours), program(theirs)
        assert want.dtype == theirs.dtype
        wanted = reftorch.from_numpy(want.view(real_torch.int16).numpy()).view(ours.dtype)
        assert same_numbers(got, wanted)


@pytest.mark.parametrize("dtype", REDUCED)
@pytest.mark.parametrize("size", [1, 15, 17, 511, 2047, 2049, 5000, 70000])
def test_reductions_are_those_of_floats(size: int, dtype: str) -> None:
    """Small whole numbers, whose sums are exact in whatever order; a NaN is found wherever it is."""
    x = (reftorch.arange(size) * 7 % 5 - 2).to(getattr(reftorch, dtype))
    for program in (
        lambda t: t.sum(dtype=reftorch.float32),
        lambda t: t.max(),
        lambda t: t.amin(),
        lambda t: t.mean(),
        lambda t: t.argmax(),
        lambda t: t.norm(1),
        lambda t: t.any(),
        lambda t: t.cumsum(0),
        lambda t: t.cumprod(0),
        lambda t: t.softmax(0),
        lambda t: t.log_softmax(0),
        lambda t: t.view(1, -1).expand(3, -1).sum(1, dtype=reftorch.float32),
    ):
        got, want = program(x), program(x.float())
        assert same_numbers(got, want.to(got.dtype)) if got.dtype == x.dtype else got.equal(want)
    x[size // 2] = float("nan")
    assert x.max().isnan() and x.amin().isnan() and x.sum().isnan() and x.argmax() == size // 2
    assert x.softmax(0).isnan().all() and x.cumsum(0).isnan().sum() == size - size // 2
