"""The constraints and their registries, compared with torch.

Mirrors: test/distributions/test_constraints.py
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.answers.watched import asked
from tests.distributions.families import assert_same, outcome

CONSTRAINTS: dict[str, Callable[[ModuleType, Any], Any]] = {
    **{
        name: lambda lib, c, name=name: getattr(c, name)
        for name in (
            "boolean",
            "one_hot",
            "nonnegative_integer",
            "positive_integer",
            "real",
            "real_vector",
            "positive",
            "nonnegative",
            "unit_interval",
            "simplex",
            "lower_triangular",
            "lower_cholesky",
            "corr_cholesky",
            "square",
            "symmetric",
            "positive_semidefinite",
            "positive_definite",
            "dependent",
        )
    },
    "integer_interval": lambda lib, c: c.integer_interval(0, 3),
    "integer_less_than": lambda lib, c: c._IntegerLessThan(2),
    "greater_than": lambda lib, c: c.greater_than(0.5),
    "greater_than a tensor": lambda lib, c: c.greater_than(lib.tensor([0.5, 1.0])),
    "greater_than_eq": lambda lib, c: c.greater_than_eq(1),
    "less_than": lambda lib, c: c.less_than(0.5),
    "interval": lambda lib, c: c.interval(0.0, 1.0),
    "a wide interval": lambda lib, c: c.interval(-1.0, 2.0),
    "half_open_interval": lambda lib, c: c.half_open_interval(0.0, 1.0),
    "multinomial": lambda lib, c: c.multinomial(2),
    "independent": lambda lib, c: c.independent(c.positive, 1),
    "independent of vectors": lambda lib, c: c.independent(c.simplex, 1),
    "mixture": lambda lib, c: c.MixtureSameFamilyConstraint(c.simplex),
    "cat": lambda lib, c: c.cat([c.positive, c.real], dim=-1, lengths=[1, 1]),
    "stack": lambda lib, c: c.stack([c.positive, c.unit_interval], dim=-1),
    "stack of vectors": lambda lib, c: c.stack([c.simplex, c.real_vector], dim=0),
    "dependent of event_dim": lambda lib, c: c.dependent(event_dim=1),
}
VALUES: list[Any] = [
    0.0,
    1.0,
    0.5,
    -1.0,
    2.0,
    float("nan"),
    [0.0, 1.0],
    [0.25, 0.75],
    [[1.0, 0.0], [0.6, 0.8]],
    [[2.0, 1.0], [1.0, 2.0]],
    [[1.0, 2.0], [2.0, 1.0]],
    [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]],
    [[[1.0, 0.0], [0.0, -1.0]]],
    [[0.0, 0.0], [0.0, 0.0]],
]


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_check(real_torch: ModuleType, name: str) -> None:
    results = []
    for lib in (reftorch, real_torch):
        c = CONSTRAINTS[name](lib, lib.distributions.constraints)
        found = [outcome(lambda c=c, v=v, lib=lib: c.check(lib.tensor(v, dtype=lib.float64))) for v in VALUES]
        found = [
            f if not isinstance(f, tuple) or f[0] in ("ValueError", "AssertionError") else "refused" for f in found
        ]
        results.append(
            [
                *found,
                repr(c).split(" object")[0],
                outcome(lambda c=c: c.is_discrete),
                outcome(lambda c=c: c.event_dim),
                lib.distributions.constraints.is_dependent(c),
            ]
        )
    assert_same(*results, name)


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_registries(real_torch: ModuleType, registry: str, name: str) -> None:
    """The transform's class, and that it maps numbers into the constraint."""
    results = []
    for lib in (reftorch, real_torch):
        c = CONSTRAINTS[name](lib, lib.distributions.constraints)
        t = outcome(lambda lib=lib, c=c: getattr(lib.distributions, registry)(c))
        x = lib.tensor(np.random.default_rng(0).normal(size=(2, 2, 3 if "holesky" in name or "defin" in name else 2)))
        x = x[..., :2] if "corr" not in name and name != "real" else x
        y = outcome(lambda t=t, x=x: t(x))
        results.append([t if isinstance(t, tuple) else repr(t).split(" object")[0], y])
        if hasattr(y, "shape") and c.event_dim <= 2 and "dependent" not in name:
            assert outcome(lambda c=c, y=y: c.check(y)).all()
    assert_same(*results, name)


WRONG: list[Callable[[ModuleType, Any], Any]] = [
    lambda lib, c: c.independent(3, 1),
    lambda lib, c: c.independent(c.real, "a"),
    lambda lib, c: c.independent(c.real, -1),
    lambda lib, c: c.MixtureSameFamilyConstraint(3),
    lambda lib, c: c.cat([3]),
    lambda lib, c: c.cat([c.real], lengths=[1, 2]),
    lambda lib, c: c.stack([3]),
    lambda lib, c: c.Constraint().check(lib.zeros(1)),
    lambda lib, c: lib.distributions.transform_to.register(int, lambda c: None),
]


@pytest.mark.parametrize("i", range(len(WRONG)))
def test_errors(real_torch: ModuleType, i: int) -> None:
    def refused(lib: ModuleType) -> Any:
        return outcome(lambda: WRONG[i](lib, lib.distributions.constraints))

    ours, theirs = refused(reftorch), asked(real_torch, refused)
    assert ours == theirs and isinstance(ours, tuple)


def test_a_transform_can_be_registered() -> None:
    D = reftorch.distributions

    class Negative(D.constraints.Constraint):  # type: ignore[name-defined, misc]
        pass

    @D.transform_to.register(Negative)
    def to_negative(constraint: Any) -> Any:
        return D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0.0, -1.0)])

    assert D.transform_to(Negative())(reftorch.zeros(1)).item() == -1
    with pytest.raises(NotImplementedError, match="Cannot transform Negative constraints"):
        D.biject_to(Negative())
