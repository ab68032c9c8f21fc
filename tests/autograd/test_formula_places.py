"""Every derivative formula where its tensors are: on meta, and under another default dtype and another default device.

Mirrors: test/test_meta.py, test/test_ops.py (test_backward), test/test_utils.py (TestDeviceUtils)
Leaves out: CUDA devices, where tests/cuda/device_ops.py runs the same rows.

A formula that makes a tensor makes it like its input: with the dtype of the input, on its device. The defaults that a
caller has chosen are for the factories that the caller calls.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import reftorch
from tests.native.test_meta_op_db import DEPENDS_ON_ELEMENTS, LEAVE_META, on_meta
from tests.op_db import OPS
from tests.op_db.checks import assert_same, both_orders, outcome
from tests.op_db.core import OpInfo, Sample

MOST_SAMPLES = 3
# Formulas that cannot be computed without elements, and what their error says.
NEED_ELEMENTS: dict[str, str] = {}


@contextlib.contextmanager
def other_defaults() -> Iterator[None]:
    before = reftorch.get_default_dtype()
    reftorch.set_default_dtype(reftorch.float64)
    try:
        with reftorch.device("meta"):
            yield
    finally:
        reftorch.set_default_dtype(before)


def unmoved(value: Any) -> Any:
    return value


def grads_of(
    op: OpInfo, sample: Sample, move: Callable[[Any], Any] = unmoved, defaults: Any = contextlib.nullcontext
) -> list[Any]:
    """The gradients of two orders. The formulas, and not the op itself, run under ``defaults``."""
    where = contextlib.nullcontext if move is unmoved else lambda: reftorch.device("meta")
    return both_orders(op, sample, move, where, defaults)


def samples_of(op: OpInfo) -> list[Sample]:
    samples = list(op.each("float32")) if "float32" in op.dtypes else []
    return samples[:: max(len(samples) // MOST_SAMPLES, 1)][:MOST_SAMPLES]


def described(grads: list[Any]) -> list[Any]:
    return [None if g is None else (g.dtype, tuple(g.shape)) for g in grads]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in OPS if samples_of(op)], ids=lambda op: op.ops)
def test_formula_makes_tensors_like_its_inputs(op: OpInfo) -> None:
    for sample in samples_of(op):
        want, error = outcome(lambda: grads_of(op, sample))  # noqa: B023
        if error is not None or not want:
            continue
        what = f"{op.name}({sample})"
        got, error = outcome(lambda: grads_of(op, sample, defaults=other_defaults))  # noqa: B023
        assert error is None, f"{what}, under other defaults: {error!r}"
        assert described(got) == described(want), f"{what}, under other defaults"
        for g, w in zip(got, want, strict=True):
            if w is not None:
                assert g.device == w.device, f"{what}, under other defaults"
                assert_same(g, w, f"{what}, under other defaults", 1e-4, strides=False)
        if op.name in DEPENDS_ON_ELEMENTS or op.name in LEAVE_META:
            continue
        got, error = outcome(lambda: grads_of(op, sample, on_meta))  # noqa: B023
        if op.name in NEED_ELEMENTS:
            assert NEED_ELEMENTS[op.name] in str(error), f"{what}, on meta: {error!r}"
            continue
        assert error is None, f"{what}, on meta: {error!r}"
        assert described(got) == described(want), f"{what}, on meta"
        assert all(g is None or g.is_meta for g in got), f"{what}, on meta"
