"""Bools whose bytes are neither 0 nor 1 are true in every op, as Note [Bool bytes] says.

Mirrors: test/test_torch.py (test_bool_tensor_value_change), test/test_reductions.py
Leaves out: CUDA, whose calls of the op table all have such bytes (tests/cuda/device_ops.py).
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db import OPS
from tests.op_db.checks import assert_same, outcome, with_other_bytes
from tests.op_db.core import Input, OpInfo, Sample

MOST_SAMPLES = 12
RETURN_BYTES = ("view.dtype", "frombuffer")  # rows whose results show the bytes themselves


def has_bool(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(has_bool, value))
    return isinstance(value, Input) and value.dtype == "bool"


def calls(op: OpInfo) -> list[Sample]:
    samples = [sample for dtype in ("bool", "int64") for sample in op.each(dtype)]
    return [sample for sample in samples if has_bool([*sample.args, *sample.kwargs.values()])][:MOST_SAMPLES]


def ran(op: OpInfo, sample: Sample, prepare: Callable[[Any], Any]) -> tuple[Any, Exception | None]:
    args, kwargs = sample.build(reftorch)
    reftorch.manual_seed(0)
    return outcome(lambda: op.run(reftorch, prepare(args), {name: prepare(value) for name, value in kwargs.items()}))


def truths(result: Any) -> Any:
    """The result with bools of the bytes 0 and 1, as numpy needs them: a copy of bools keeps their bytes."""
    if isinstance(result, (list, tuple)):
        return tuple(map(truths, result))
    return result.int() if isinstance(result, reftorch.Tensor) and result.dtype == reftorch.bool else result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in OPS if op.name not in RETURN_BYTES and calls(op)], ids=lambda op: op.ops)
def test_each_op_takes_any_byte_for_true(op: OpInfo) -> None:
    for sample in calls(op):
        want, error = ran(op, sample, lambda value: value)
        got, other_error = ran(op, sample, with_other_bytes)
        what = f"{op.name}({sample})"
        assert (error is None) == (other_error is None), f"{what}: {error!r}, {other_error!r}"
        if error is None and not op.function.startswith(("empty", "new_empty")):
            assert_same(truths(got), truths(want), what, strides=False)


def counts_of_truths(torch: Any) -> Any:
    m = torch.arange(3000).remainder(256).to(torch.uint8)
    m[1500:2500] = 3
    m = m.view(torch.bool)
    rows, t = m.view(60, 50), torch.arange(3000)
    return (
        m.sum().item(),
        m.float().sum().item(),
        m.half().sum().item(),
        rows.sum(0).tolist(),
        rows.T.sum(0).tolist(),
        rows.all(0).tolist(),
        rows.any(1).tolist(),
        m[1500:2500].all().item(),
        m[1500:2500:2].all().item(),
        (~m).sum().item(),
        (m == (m.int() != 0)).all().item(),
        (m ^ m.flip(0)).int().sum().item(),
        m.nonzero().numel(),
        t[m].sum().item(),
        t.masked_select(m).sum().item(),
        t.masked_fill(m, 0).sum().item(),
        torch.where(m, 1, 0).sum().item(),
        rows.amax(0).int().tolist(),
        rows.max(1).values.int().tolist(),
        rows.max(1).indices.tolist(),
        m.sort(stable=True).indices.sum().item(),
        m.int().argmax().item(),
        torch.unique(m, return_counts=True)[1].tolist(),
        m.cumsum(0)[-1].item(),
        m.maximum(~m).all().item(),
        m.tolist()[:3],
        m[2].item(),
        bool(m[2]),
        str(m[:3]),
        repr(m[254:258].tolist()),
        m.count_nonzero().item(),
        (m & m.flip(0)).int().sum().item(),
        (m | ~m).all().item(),
        (m.logical_not() == ~m).all().item(),
        t.masked_scatter(m, t).sum().item(),
        rows.cummax(0).values.int().sum().item(),
        rows.mode(1).values.tolist(),
        (m + m).int().sum().item(),
        (m * m).int().sum().item(),
        m.prod().item(),
        m.index_select(0, t[:9]).int().tolist(),
        torch.zeros(4, dtype=torch.bool).index_put((t[:2],), m[1:3], accumulate=True).int().tolist(),
    )


def test_long_and_strided_rows_count_truths(real_torch: Any) -> None:
    """Long rows take the loops of vector instructions, strided rows the loops of single elements."""
    assert counts_of_truths(reftorch) == asked(real_torch, counts_of_truths)
