"""Calls like those of the op table, with other shapes, layouts, dtypes, values and dimensions.

Mirrors: torch/testing/_internal/opinfo/core.py (sample_inputs; PyTorch lists them, here they are drawn)

A row's samples say how an op is called. A drawn call keeps that form. Equal sizes stay equal, so that what had to fit
together mostly still does; now and then something is changed on its own, so that it does not, and both libraries have
to refuse it in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

from tests.op_db.core import DTYPES, FLOATS, Input, OpInfo, Sample

SIZES = (0, 1, 2, 3, 4, 5, 7)
LAYOUTS = ("contiguous", "contiguous", "contiguous", "transposed", "rolled", "strided", "sliced", "expanded")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, float("inf"), float("-inf"), float("nan"))


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def rebuilt(value: Any, change: Any) -> Any:
    """``value`` with ``change(leaf)`` for every leaf of its lists and tuples."""
    if isinstance(value, (list, tuple)):
        return type(value)(rebuilt(item, change) for item in value)
    return change(value)


@st.composite
def inputs_like(
    draw: Any, given: Input, sizes: dict[int, int], op: OpInfo, dtype: str, special: bool, mixed: bool
) -> Input:
    """A tensor in the place of ``given``: its sizes mapped, its values new, now and then its dtype (``mixed``)."""
    shape = tuple(sizes.get(n, n) for n in given.values.shape)
    match draw(st.integers(0, 11)):  # mostly as it is
        case 0 if shape:
            at = draw(st.integers(0, len(shape) - 1))
            shape = (*shape[:at], 1, *shape[at + 1 :])
        case 1 if shape:
            shape = shape[1:]
        case 2:
            shape = (draw(st.sampled_from(SIZES)), *shape)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    is_index = given.dtype != dtype and given.dtype not in FLOATS
    if is_index:
        bound = max(min((n for n in sizes.values() if n > 0), default=1), 1)
        pool = np.concatenate([given.values.reshape(-1), np.arange(bound)])
        values = random.choice(pool, shape).astype(given.values.dtype)
    elif given.dtype in FLOATS:
        values = _floats(shape, op, special, random)
    elif given.dtype == "bool":
        values = random.integers(0, 2, shape).astype(bool)
    else:
        low = max(op.low, 0) if given.dtype == "uint8" else op.low
        values = random.integers(int(np.ceil(low)), int(np.floor(op.high)) + 1, shape)
    layout = draw(st.sampled_from(LAYOUTS)) if shape and 0 not in shape else "contiguous"
    if layout == "expanded":
        values = np.broadcast_to(values[:1], shape)
    if mixed and draw(st.integers(0, 15)) == 0:
        other = draw(st.sampled_from(DTYPES))
        if given.dtype in FLOATS and other not in FLOATS:
            values = np.nan_to_num(values, nan=0, posinf=1, neginf=0).clip(0 if other == "uint8" else None, 100)
        given = replace(given, dtype=other)
    return replace(given, values=np.asarray(values), layout=layout)


@st.composite
def calls(draw: Any, op: OpInfo, dtypes: tuple[str, ...] = DTYPES, special: bool = True) -> tuple[str, Sample]:
    """One call of the op, and the dtype it is about."""
    usual = [dtype for dtype in dtypes if dtype in op.dtypes]  # the others are mostly refused
    dtype = draw(st.sampled_from(usual if usual and draw(st.booleans()) else dtypes))
    samples = list(op.each(dtype))
    hypothesis.assume(samples)
    sample = draw(st.sampled_from(samples))
    given = [leaf for leaf in leaves([list(sample.args), list(sample.kwargs.values())]) if isinstance(leaf, Input)]
    if draw(st.integers(0, 7)) == 0 and given and all(i.values.ndim == given[0].values.ndim for i in given):
        return dtype, _without_dimensions(sample)
    old_sizes = sorted({n for i in given for n in i.values.shape})
    special = special and draw(st.booleans())
    if draw(st.integers(0, 3)) == 0:  # every shape and number as it was: some ops take few others
        return dtype, _with_other_values(sample, op, special, np.random.default_rng(draw(st.integers(0, 2**32 - 1))))
    ndim = max((i.values.ndim for i in given), default=0)
    sizes = {n: draw(st.sampled_from((n, *SIZES))) for n in old_sizes}
    follow = draw(st.booleans())  # numbers that are sizes change with the sizes

    def change(leaf: Any) -> Any:
        if isinstance(leaf, Input):
            return draw(inputs_like(leaf, sizes, op, dtype, special, mixed=len(dtypes) > 1))
        if isinstance(leaf, int) and not isinstance(leaf, bool):
            if follow and leaf in sizes:
                return sizes[leaf]
            if draw(st.integers(0, 3)) == 0:  # as a dimension: another one, from either end, or one too many
                return draw(st.integers(-ndim - 1, ndim))
        return leaf

    return dtype, _changed(sample, change)


def _changed(sample: Sample, change: Any) -> Sample:
    return Sample(rebuilt(sample.args, change), {name: rebuilt(value, change) for name, value in sample.kwargs.items()})


def _with_other_values(sample: Sample, op: OpInfo, special: bool, random: np.random.Generator) -> Sample:
    """The same call with every float another."""

    def change(leaf: Any) -> Any:
        if not (isinstance(leaf, Input) and leaf.dtype in FLOATS) or leaf.layout == "expanded":
            return leaf
        return replace(leaf, values=_floats(leaf.values.shape, op, special, random))

    return _changed(sample, change)


def _floats(shape: tuple[int, ...], op: OpInfo, special: bool, random: np.random.Generator) -> np.ndarray:
    values = random.uniform(op.low, op.high, shape)
    return np.where(random.random(shape) < 0.2, random.choice(SPECIAL, shape), values) if special else values


def _without_dimensions(sample: Sample) -> Sample:
    """The same call with every tensor 0-dim."""

    def change(leaf: Any) -> Any:
        if isinstance(leaf, Input):
            first = leaf.values.reshape(-1)[:1]
            return replace(
                leaf, values=first.reshape(()) if first.size else np.zeros((), leaf.values.dtype), layout="contiguous"
            )
        return leaf

    return _changed(sample, change)
