"""Ops that write into memory that they read: each op beside torch on each layout of two tensors in one storage.

A program is an op and a layout. The table below is their product. Where torch refuses, this library must refuse too,
unless it computes the result in memory of its own first, so that its answer is right.

Mirrors: test/test_torch.py (the tests of memory overlap)
"""

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from tests.answers.watched import bare, note

# Two tensors, the one that is written to and the one that is read, made from one storage `b` of 36 numbers.
LAYOUTS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "same": lambda t, b: (b.view(6, 6), b.view(6, 6)),
    "shifted": lambda t, b: (b[:30], b[3:33]),
    "shifted rows": lambda t, b: (b[:30].view(5, 6), b[6:36].view(5, 6)),
    "part, broadcast": lambda t, b: (b[:9].view(3, 3), b[1:4]),
    "row, broadcast": lambda t, b: (b[:9].view(3, 3), b[:9].view(3, 3)[:1]),
    "column, broadcast": lambda t, b: (b[:9].view(3, 3), b[:9].view(3, 3)[:, :1]),
    "transposed": lambda t, b: (b.view(6, 6), b.view(6, 6).t()),
    "expanded target": lambda t, b: (b[:3].expand(4, 3), b[12:24].view(4, 3)),
    "number": lambda t, b: (b[:9].view(3, 3), b[4]),
    "one": lambda t, b: (b[:9].view(3, 3), b[4:5]),
    "every other": lambda t, b: (b[::2], b[1::2]),
    "steps over dense": lambda t, b: (b[::2], b[:18]),
    "dense over steps": lambda t, b: (b[:18], b[::2]),
    "apart": lambda t, b: (b[:18], b[18:]),
    "columns": lambda t, b: (b.view(6, 6)[:, :3], b.view(6, 6)[:, 2:5]),
    "start": lambda t, b: (b[:8], b[:4]),
    "smaller target": lambda t, b: (b[:3], b[:9].view(3, 3)),
}
# Neither library can tell the overlap of these cheaply; the numbers depend on the order in which elements are visited.
TOO_HARD = {"steps over dense", "dense over steps", "columns", "column, broadcast", "every other"}


def mask(t: Any, x: Any) -> Any:
    return t.ones(x.shape, dtype=t.bool)


def zeros(t: Any, x: Any) -> Any:
    return t.zeros(x.shape, dtype=t.int64)


def square(t: Any, x: Any) -> Any:
    return t.ones(len(x), len(x))


def pair(t: Any, d: Any) -> Any:
    return (d, t.empty(0, dtype=t.int64))


# d is written to, s is read.
OPS: dict[str, tuple[str, Callable[[Any, Any, Any], Any]]] = {
    "copy_": ("float32", lambda t, d, s: d.copy_(s)),
    "copy_ of a cast": ("float32", lambda t, d, s: d.copy_(s.double())),
    "fill_": ("float32", lambda t, d, s: d.fill_(2)),
    "fill_ by a tensor": ("float32", lambda t, d, s: d.fill_(s.reshape(-1)[0])),
    "zero_": ("float32", lambda t, d, s: d.zero_()),
    "set item": ("float32", lambda t, d, s: d.__setitem__(..., s)),
    "set rows": ("float32", lambda t, d, s: d.__setitem__(slice(1, None), s[..., :1])),
    "set by indices": ("float32", lambda t, d, s: d.__setitem__(t.arange(d.shape[0]), s)),
    "set by a mask": ("float32", lambda t, d, s: d.__setitem__(d > 4, 1.5)),
    "set by a mask, a tensor": ("float32", lambda t, d, s: d.__setitem__(mask(t, d), s.reshape(-1))),
    "index_put_": ("float32", lambda t, d, s: d.index_put_((t.tensor([0]),), s[0])),
    "index_put_ at itself": ("int64", lambda t, d, s: d.index_put_((s.fmod_(2),), t.tensor(5))),
    "index_fill_": ("float32", lambda t, d, s: d.index_fill_(0, t.tensor([0]), 2.0)),
    "index_copy_": ("float32", lambda t, d, s: d.index_copy_(0, t.arange(s.shape[0]), s)),
    "index_add_": ("float32", lambda t, d, s: d.index_add_(0, t.arange(s.shape[0]), s)),
    "index_select out": ("float32", lambda t, d, s: t.index_select(s, 0, t.tensor([0]), out=d)),
    "gather out": ("float32", lambda t, d, s: t.gather(s, 0, zeros(t, s), out=d)),
    "scatter_": ("float32", lambda t, d, s: d.scatter_(0, zeros(t, s), s)),
    "scatter_ at itself": ("int64", lambda t, d, s: d.scatter_(0, s, 1)),
    "scatter_add_": ("float32", lambda t, d, s: d.scatter_add_(0, zeros(t, s), s)),
    "scatter_reduce_": ("float32", lambda t, d, s: d.scatter_reduce_(0, zeros(t, s), s, "sum")),
    "scatter out": ("float32", lambda t, d, s: t.scatter(s, 0, zeros(t, s), 1.0, out=d)),
    "masked_fill_": ("float32", lambda t, d, s: d.masked_fill_(mask(t, d), 2.0)),
    "masked_fill_ by itself": ("bool", lambda t, d, s: d.masked_fill_(s, True)),
    "masked_scatter_": ("float32", lambda t, d, s: d.masked_scatter_(mask(t, d), s)),
    "masked_select out": ("float32", lambda t, d, s: t.masked_select(s, mask(t, s), out=d)),
    "put_": ("float32", lambda t, d, s: d.put_(zeros(t, s), s)),
    "take out": ("float32", lambda t, d, s: t.take(s, t.tensor([0]), out=d)),
    "lerp_": ("float32", lambda t, d, s: d.lerp_(s, 0.5)),
    "lerp_ by itself": ("float32", lambda t, d, s: d.lerp_(t.ones(s.shape), s)),
    "addcmul_": ("float32", lambda t, d, s: d.addcmul_(s, s)),
    "addcdiv_": ("float32", lambda t, d, s: d.addcdiv_(s, s)),
    "where out": ("float32", lambda t, d, s: t.where(mask(t, s), s, s, out=d)),
    "where out by itself": ("bool", lambda t, d, s: t.where(s, s, s, out=d)),
    "clamp_": ("float32", lambda t, d, s: d.clamp_(min=s)),
    "clamp out": ("float32", lambda t, d, s: t.clamp(s, 2, 5, out=d)),
    "cumsum out": ("float32", lambda t, d, s: t.cumsum(s, 0, out=d)),
    "logcumsumexp out": ("float32", lambda t, d, s: t.logcumsumexp(s, 0, out=d)),
    "cummax out": ("float32", lambda t, d, s: t.cummax(s, 0, out=pair(t, d))),
    "sort out": ("float32", lambda t, d, s: t.sort(s, 0, out=pair(t, d))),
    "topk out": ("float32", lambda t, d, s: t.topk(s, 1, 0, out=pair(t, d))),
    "kthvalue out": ("float32", lambda t, d, s: t.kthvalue(s, 1, 0, out=pair(t, d))),
    "max out": ("float32", lambda t, d, s: t.max(s, 0, out=pair(t, d))),
    "sum out": ("float32", lambda t, d, s: t.sum(s, 0, out=d)),
    "amax out": ("float32", lambda t, d, s: t.amax(s, 0, out=d)),
    "argmax out": ("int64", lambda t, d, s: t.argmax(s, 0, out=d)),
    "softmax out": ("float32", lambda t, d, s: t.softmax(s, 0, out=d)),
    "cat out": ("float32", lambda t, d, s: t.cat([s, s], out=d)),
    "stack out": ("float32", lambda t, d, s: t.stack([s], out=d)),
    "tril_": ("float32", lambda t, d, s: d.tril_()),
    "renorm out": ("float32", lambda t, d, s: t.renorm(s, 2, 0, 1.0, out=d)),
    "mm out": ("float32", lambda t, d, s: t.mm(s, t.ones(s.shape[-1], s.shape[-1]), out=d)),
    "addmm_": ("float32", lambda t, d, s: d.addmm_(s, t.ones(s.shape[-1], d.shape[-1]))),
    "addr_": ("float32", lambda t, d, s: d.addr_(t.ones(d.shape[0]), s)),
    "cross out": ("float32", lambda t, d, s: t.cross(s, t.ones(s.shape), out=d)),
    "bernoulli_": ("float32", lambda t, d, s: d.bernoulli_(1.0)),
    "normal_": ("float32", lambda t, d, s: d.normal_().mul_(0)),
    "arange out": ("float32", lambda t, d, s: t.arange(3, out=d)),
    "nonzero out": ("int64", lambda t, d, s: t.nonzero(s.reshape(-1)[:2], out=d)),
    "searchsorted out": ("int64", lambda t, d, s: t.searchsorted(t.arange(4), s, out=d)),
    "take_along_dim out": ("float32", lambda t, d, s: t.take_along_dim(s, zeros(t, s), 0, out=d)),
    "relu_": ("float32", lambda t, d, s: t.relu_(d)),
    "bitwise_and_": ("int64", lambda t, d, s: d.bitwise_and_(s)),
    "bitwise_not out": ("int64", lambda t, d, s: t.bitwise_not(s, out=d)),
}
for _name in [
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "remainder",
    "fmod",
    "atan2",
    "floor_divide",
    "eq",
    "lt",
    "logical_and",
    "logical_or",
    "hypot",
    "copysign",
]:
    OPS[f"{_name}_"] = ("float32", lambda t, d, s, name=_name: getattr(d, f"{name}_")(s))
    OPS[f"{_name} out"] = ("float32", lambda t, d, s, name=_name: getattr(t, name)(t.ones(s.shape), s, out=d))
for _name in [
    "neg",
    "sin",
    "sqrt",
    "abs",
    "floor",
    "sigmoid",
    "tanh",
    "reciprocal",
    "erf",
    "sign",
    "round",
    "logical_not",
    "digamma",
    "nan_to_num",
]:
    OPS[f"{_name}_"] = ("float32", lambda t, d, s, name=_name: getattr(d, f"{name}_")())
    OPS[f"{_name} out"] = ("float32", lambda t, d, s, name=_name: getattr(t, name)(s, out=d))

# Products of matrices and vectors, and what joins or takes tensors: `out` lies over an operand.
OPS |= {
    "mv out": ("float32", lambda t, d, s: t.mv(square(t, s), s, out=d)),
    "mv out over the matrix": ("float32", lambda t, d, s: t.mv(s, t.ones(s.shape[1]), out=d[0])),
    "addmv_": ("float32", lambda t, d, s: d.addmv_(t.ones(len(d), len(s)), s)),
    "addmv_ over the matrix": ("float32", lambda t, d, s: d[0].addmv_(s[: d.shape[1]], t.ones(s.shape[1]))),
    "addmv out over the addend": ("float32", lambda t, d, s: t.addmv(s, square(t, s), t.ones(len(s)), out=d)),
    "addmv out over the vector": ("float32", lambda t, d, s: t.addmv(t.ones(len(s)), square(t, s), s, out=d)),
    "addr out over the addend": ("float32", lambda t, d, s: t.addr(s, t.ones(s.shape[0]), t.ones(s.shape[-1]), out=d)),
    "addr_ by itself": ("float32", lambda t, d, s: d.addr_(s[:, 0], s[0])),
    "outer out": ("float32", lambda t, d, s: t.outer(s[0], s[:, 0], out=d)),
    "mm out over both": ("float32", lambda t, d, s: t.mm(s, s.t(), out=d)),
    "mm out over the second": ("float32", lambda t, d, s: t.mm(square(t, s), s, out=d)),
    "addmm out over the addend": (
        "float32",
        lambda t, d, s: t.addmm(s, t.ones(len(s), 2), t.ones(2, s.shape[1]), out=d),
    ),
    "addmm out": ("float32", lambda t, d, s: t.addmm(t.ones(1, 1), square(t, s), s, beta=0, out=d)),
    "bmm out": ("float32", lambda t, d, s: t.bmm(square(t, s)[None], s[None], out=d[None])),
    "baddbmm out": (
        "float32",
        lambda t, d, s: t.baddbmm(s[None], t.ones(1, len(s), 2), t.ones(1, 2, s.shape[1]), out=d[None]),
    ),
    "baddbmm_": ("float32", lambda t, d, s: d[None].baddbmm_(square(t, s)[None], s[None])),
    "addbmm out": ("float32", lambda t, d, s: t.addbmm(t.ones(1, 1), square(t, s)[None], s[None], out=d)),
    "dot out": ("float32", lambda t, d, s: t.dot(s, s, out=d[0])),
    "inner out": ("float32", lambda t, d, s: t.inner(s, t.ones(s.shape[-1], s.shape[-1]), out=d)),
    "kron out": ("float32", lambda t, d, s: t.kron(s, t.ones(1), out=d)),
    "linalg.cross out": ("float32", lambda t, d, s: t.linalg.cross(s, t.ones(s.shape), out=d)),
    "cumprod out": ("float32", lambda t, d, s: t.cumprod(s, 0, out=d)),
    "cumsum_": ("float32", lambda t, d, s: d.cumsum_(0)),
    "index_copy out": ("float32", lambda t, d, s: t.index_copy(t.ones(s.shape), 0, t.arange(len(s)), s, out=d)),
    "gather out over the index": ("int64", lambda t, d, s: t.gather(t.arange(40).expand(40, 40)[:, 0], 0, s, out=d)),
    "cat out over the last": ("float32", lambda t, d, s: t.cat([t.ones(s.shape), s], out=d)),
    "cat out of one": ("float32", lambda t, d, s: t.cat([s], out=d)),
    "hstack out": ("float32", lambda t, d, s: t.hstack([s, s], out=d)),
    "vstack out": ("float32", lambda t, d, s: t.vstack([s, s], out=d)),
    "stack out, columns": ("float32", lambda t, d, s: t.stack([s, s], 1, out=d)),
    # A number, which PyTorch turns into a tensor to be copied, and so refuses for an expanded target.
    "set number": ("float32", lambda t, d, s: d.__setitem__(..., 0.5)),
    "set whole number": ("float32", lambda t, d, s: d.__setitem__(..., 2)),
    "set truth": ("bool", lambda t, d, s: d.__setitem__(..., True)),
    "set number in a column": ("float32", lambda t, d, s: d.__setitem__((..., 0), 0.5)),
    "set number in rows": ("float32", lambda t, d, s: d.__setitem__(slice(0, 2), 0.5)),
    "set number in a row": ("float32", lambda t, d, s: d.__setitem__(0, 0.5)),
    "set number at None": ("float32", lambda t, d, s: d.__setitem__(None, 0.5)),
    "set number at True": ("float32", lambda t, d, s: d.__setitem__(True, 0.5)),
    "set number by a list": ("float32", lambda t, d, s: d.__setitem__([0], 0.5)),
    "set number by indices": ("float32", lambda t, d, s: d.__setitem__(t.arange(d.shape[0]), 0.5)),
    "set a 0-dim tensor": ("float32", lambda t, d, s: d.__setitem__(..., t.tensor(0.5))),
    "set a tensor of one": ("float32", lambda t, d, s: d.__setitem__(..., t.tensor([0.5]))),
    "index_put_ of a number": ("float32", lambda t, d, s: d.index_put_((t.tensor([0]),), t.tensor(2.0))),
    "index_put_ by a mask": ("float32", lambda t, d, s: d.index_put_((mask(t, d),), t.tensor(2.0))),
    "masked_fill_ by a tensor": ("float32", lambda t, d, s: d.masked_fill_(mask(t, d), t.tensor(2.0))),
    "index_fill_ by a tensor": ("float32", lambda t, d, s: d.index_fill_(0, t.tensor([0]), t.tensor(2.0))),
    "scatter_ of a number": ("float32", lambda t, d, s: d.scatter_(0, zeros(t, d), 2.0)),
    "add_ of a number": ("float32", lambda t, d, s: d.add_(1)),
    "mul_ of a number": ("float32", lambda t, d, s: d.mul_(2)),
    "copy_ of a number": ("float32", lambda t, d, s: d.copy_(t.tensor(1))),
    "fill_ by a 0-dim tensor": ("float32", lambda t, d, s: d.fill_(t.tensor(1))),
    "full out": ("float32", lambda t, d, s: t.full(tuple(d.shape), 2.0, out=d)),
    "zeros out": ("float32", lambda t, d, s: t.zeros(tuple(d.shape), out=d)),
    "eye out": ("float32", lambda t, d, s: t.eye(d.shape[0], d.shape[-1], out=d)),
    "linspace out": ("float32", lambda t, d, s: t.linspace(0, 1, d.shape[0], out=d)),
    "uniform_": ("float32", lambda t, d, s: d.uniform_().mul_(0)),
    "fill_diagonal_": ("float32", lambda t, d, s: d.fill_diagonal_(1.0)),
}

# These compute in memory of their own, then copy, or look at the overlap after `out` was given its new shape.
COMPUTED_APART = {"renorm out", "addr_", "cross out", "take_along_dim out", "take out", "kthvalue out"}
COMPUTED_APART |= {"nonzero out", "index_select out", "argmax out", "cummax out"}
COMPUTED_APART |= {"addr out over the addend", "addr_ by itself", "kron out", "linalg.cross out"}
# These refuse an `out` that is their input, or a larger one, where torch happens to read each number before it writes.
REFUSED_HERE = {"cumsum out", "sort out", "sum out", "amax out", "mm out", "addmm_", "cat out", "stack out", "topk out"}
REFUSED_HERE |= {
    "cummax out",
    "index_select out",
    "take out",
    "argmax out",
    "kthvalue out",
    "logcumsumexp out",
    "max out",
}
# torch multiplies without a look at the memory: most of its numbers are wrong, and the others are right by chance.
REFUSED_HERE |= {"mv out", "mv out over the matrix", "addmv_", "addmv_ over the matrix", "addmv out over the vector"}
REFUSED_HERE |= {"mm out over both", "mm out over the second", "addmm out", "bmm out", "baddbmm_", "addbmm out"}
REFUSED_HERE |= {"inner out", "cumprod out"}


def run(lib: Any, op: str, layout: str) -> tuple[str, Any]:
    """("error", its type) or ("numbers", those of the written tensor)."""
    dtype, program = OPS[op]
    base = lib.arange(36) % 2 == 0 if dtype == "bool" else lib.arange(36, dtype=getattr(lib, dtype)) + 1
    d, s = LAYOUTS[layout](lib, base)
    try:
        program(lib, d, s)
    except Exception as error:
        return "error", type(error).__name__
    return "numbers", [*d.shape, *map(float, d.reshape(-1).tolist())]


def alike(ours: list[float], theirs: list[float]) -> bool:
    return len(ours) == len(theirs) and all(
        math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.parametrize("op", OPS)
def test_writing_over_what_is_read(op: str, real_torch: Any) -> None:
    differ, same = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for layout in LAYOUTS:
            (kind, ours), (their_kind, theirs) = run(reftorch, op, layout), run(bare(real_torch), op, layout)
            numbers_count = not (layout in TOO_HARD or op in COMPUTED_APART)
            if op not in REFUSED_HERE | COMPUTED_APART:
                same.append((their_kind, theirs if their_kind == "numbers" and numbers_count else None))
            if kind != their_kind:
                excused = REFUSED_HERE if kind == "error" else COMPUTED_APART
                if op not in excused:
                    differ.append((layout, kind, ours, theirs))
            elif kind == "numbers" and numbers_count and not alike(ours, theirs):
                differ.append((layout, kind, ours, theirs))
    if same:
        note(real_torch, lambda: same)
    assert not differ


@pytest.mark.parametrize("op", OPS)
def test_every_layout_gives_numbers_or_an_error(op: str) -> None:
    """Without torch beside it, so that the sanitizer's build runs every op on every layout."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = {layout: run(reftorch, op, layout) for layout in LAYOUTS}
    errors = {what for kind, what in kinds.values() if kind == "error"}
    assert errors <= {"RuntimeError", "IndexError", "TypeError"}, kinds


@pytest.mark.parametrize("op", sorted(COMPUTED_APART))
def test_a_result_computed_apart_is_right(op: str) -> None:
    """Where this library answers although the memory overlaps, the answer is that of a copy of the input."""
    dtype, program = OPS[op]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for layout in LAYOUTS:
            kind, ours = run(reftorch, op, layout)
            base = reftorch.arange(36, dtype=getattr(reftorch, dtype)) + 1
            d, s = LAYOUTS[layout](reftorch, base)
            if kind == "numbers":
                apart = d.clone()
                program(reftorch, apart, s.clone())
                assert alike(ours, [*apart.shape, *map(float, apart.reshape(-1).tolist())]), layout


def test_a_broadcast_part_of_itself_is_refused(real_torch: Any) -> None:
    for lib in (reftorch, real_torch):
        x = lib.arange(9.0).view(3, 3)
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
            x.copy_(x.view(-1)[1:4])
