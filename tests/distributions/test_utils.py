"""The helpers, compared with torch.

Mirrors: test/distributions/test_utils.py
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.distributions.families import assert_same, outcome

CALLS: list[Callable[[ModuleType, Any], Any]] = [
    lambda lib, u: list(u.broadcast_all(lib.zeros(3, dtype=lib.float64), 2)),
    lambda lib, u: list(u.broadcast_all(1, 2.5, True)),
    lambda lib, u: list(u.broadcast_all(lib.zeros(2, 1), lib.zeros(3, dtype=lib.float64))),
    lambda lib, u: u.broadcast_all("a", 1),
    lambda lib, u: u.clamp_probs(lib.tensor([0.0, 0.5, 1.0])),
    lambda lib, u: u.clamp_probs(lib.tensor([0.0, 0.5, 1.0], dtype=lib.float16)),
    lambda lib, u: u.probs_to_logits(lib.tensor([0.0, 0.5, 1.0])),
    lambda lib, u: u.probs_to_logits(lib.tensor([0.0, 0.5, 1.0]), is_binary=True),
    lambda lib, u: u.logits_to_probs(lib.tensor([0.0, 0.5, 1.0])),
    lambda lib, u: u.logits_to_probs(lib.tensor([0.0, 0.5, 1.0]), is_binary=True),
    *[lambda lib, u, d=d: u.tril_matrix_to_vec(lib.arange(18.0).reshape(2, 3, 3), d) for d in range(-4, 4)],
    *[
        lambda lib, u, n=n, d=d: u.vec_to_tril_matrix(lib.arange(1.0, 2 * n + 1).reshape(2, n), d)
        for n in (1, 3, 4, 6)
        for d in (-2, -1, 0, 1)
    ],
    lambda lib, u: u._sum_rightmost(lib.arange(24.0).reshape(2, 3, 4), 2),
]


@pytest.mark.parametrize("i", range(len(CALLS)))
def test_helpers(real_torch: ModuleType, i: int) -> None:
    ours, theirs = (outcome(lambda lib=lib: CALLS[i](lib, lib.distributions.utils)) for lib in (reftorch, real_torch))
    assert_same(ours, theirs, f"call {i}")


def test_a_lazy_property_of_a_class_is_a_property(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        assert isinstance(lib.distributions.Bernoulli.probs, property)
        d = lib.distributions.Bernoulli(logits=lib.zeros(2, requires_grad=True))
        assert "probs" not in d.__dict__
        with lib.no_grad():
            assert d.probs.requires_grad  # the gradient is recorded wherever the property is used first
        assert "probs" in d.__dict__
