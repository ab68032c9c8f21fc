"""The comparison notices what differs, and the calls it draws are of every kind it promises.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck
from hypothesis.internal.conjecture import providers

import reftorch
from tests.op_db import OPS
from tests.op_db.core import Inputs, OpInfo, Sample
from tests.parity.generate import calls
from tests.parity.parity import examine

SETTINGS = hypothesis.settings(
    max_examples=40, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(autouse=True)
def _draws_that_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis mixes numbers that stand in the loaded modules of a checkout into what it draws.

    Torch's stored answers are about the draws of one run. So these must not depend on the tests that ran before, or on
    a number in some file.
    """
    monkeypatch.setattr(providers, "_get_local_constants", providers.Constants)
    providers.CONSTANTS_CACHE.cache.clear()


def two(make: Inputs) -> list[Sample]:
    return [Sample((make(2, 3), make(2, 3)))]


def in_ours_only(change: Any) -> Any:
    """A sum that comes out changed in our library."""

    def call(lib: Any, a: Any, b: Any) -> Any:
        return change(lib, lib.add(a, b)) if lib is reftorch else lib.add(a, b)

    return call


def refuse_big(lib: Any, result: Any) -> Any:
    if result.numel() > 6:
        raise RuntimeError("too big")
    return result


@pytest.mark.parametrize(
    ("difference", "change"),
    [
        ("tolerance", lambda lib, r: r + 1 if r.is_floating_point() else r),
        ("dtype", lambda lib, r: r.to(lib.float64)),
        ("shape", lambda lib, r: r.unsqueeze(0)),
        ("strides", lambda lib, r: r.t().contiguous().t() if r.dim() == 2 else r),
        ("too big", refuse_big),
        ("gradient", lambda lib, r: r.detach() if r.dtype == lib.float64 else r),
    ],
)
def test_a_difference_is_found(difference: str, change: Any, real_torch: Any) -> None:
    row = examine(OpInfo("add.Tensor", two, call=in_ours_only(change)), real_torch, SETTINGS, seed=0)
    assert difference in row.difference


def test_what_is_the_same_passes(real_torch: Any) -> None:
    row = examine(OpInfo("add.Tensor", two), real_torch, SETTINGS, seed=0)
    assert not row.difference
    assert row.results > 40
    assert row.gradients > 40


@pytest.mark.parametrize(
    "wanted",
    [
        lambda a, b: a.values.shape == (),
        lambda a, b: a.values.size == 0,
        lambda a, b: a.values.ndim != b.values.ndim,
        lambda a, b: a.layout == "transposed",
        lambda a, b: b.layout == "expanded",
        lambda a, b: a.layout == "sliced",
        lambda a, b: a.dtype == "bfloat16",
        lambda a, b: a.dtype != b.dtype,
        lambda a, b: a.values.shape[:1] == (1,) and a.values.ndim == b.values.ndim and b.values.shape[0] > 1,
    ],
)
def test_calls_of_every_kind_are_drawn(wanted: Any) -> None:
    drawn = hypothesis.find(
        calls(OpInfo("add.Tensor", two)),
        lambda call: wanted(*call[1].args),
        settings=hypothesis.settings(SETTINGS, max_examples=4000),
    )
    assert wanted(*drawn[1].args)


def drawn_from(op: OpInfo) -> list[Any]:
    drawn: list[Any] = []

    @hypothesis.settings(SETTINGS, max_examples=2, phases=[hypothesis.Phase.generate])
    @hypothesis.given(calls(op))
    def keep(call: Any) -> None:
        drawn.append(call)

    keep()
    return drawn


def test_every_row_can_be_drawn_from() -> None:
    assert [op.ops for op in OPS if not drawn_from(op)] == []
