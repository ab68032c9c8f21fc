"""Fillings that look at more than one element, and the truncated normal one.

Mirrors: test/nn/test_init.py
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.nn import init

FILLINGS: dict[str, Callable[[Any], Any]] = {
    "eye_": lambda t: t.nn.init.eye_(t.empty(3, 2)),
    "dirac_": lambda t: t.nn.init.dirac_(t.empty(4, 3, 3)),
    "dirac_ of groups": lambda t: t.nn.init.dirac_(t.empty(4, 1, 3, 2), 2),
    "dirac_ of volumes": lambda t: t.nn.init.dirac_(t.empty(2, 2, 1, 2, 3)),
    "orthogonal_": lambda t: t.nn.init.orthogonal_(t.empty(5, 3), gain=2.0),
    "orthogonal_ of rows": lambda t: t.nn.init.orthogonal_(t.empty(2, 3, 2)),
    "orthogonal_ of nothing": lambda t: t.nn.init.orthogonal_(t.empty(0, 3)),
    "sparse_": lambda t: t.nn.init.sparse_(t.empty(7, 3), 0.4, std=2.0),
    "trunc_normal_": lambda t: t.nn.init.trunc_normal_(t.empty(40)),
    "trunc_normal_ of short": lambda t: t.nn.init.trunc_normal_(t.empty(3, 4), 1.0, 2.0, -1.0, 1.5),
    "trunc_normal_ far away": lambda t: t.nn.init.trunc_normal_(t.empty(40), 0.0, 1.0, 1.5, 2.5),
    "trunc_normal_ generator": lambda t: t.nn.init.trunc_normal_(t.empty(9), generator=t.Generator().manual_seed(4)),
}
ERRORS: dict[str, Callable[[Any], Any]] = {
    "eye_": lambda t: t.nn.init.eye_(t.empty(3)),
    "sparse_": lambda t: t.nn.init.sparse_(t.empty(3), 0.5),
    "orthogonal_": lambda t: t.nn.init.orthogonal_(t.empty(3)),
    "dirac_": lambda t: t.nn.init.dirac_(t.empty(3, 3)),
    "dirac_ groups": lambda t: t.nn.init.dirac_(t.empty(3, 3, 3), 2),
}


@pytest.mark.parametrize("name", FILLINGS)
def test_the_same_seed_gives_the_numbers_of_torch(name: str, real_torch: ModuleType) -> None:
    filled = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(7)
        filled.append(FILLINGS[name](lib).reshape(-1).tolist())
    assert filled[0] == pytest.approx(filled[1], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    messages = []
    for lib in (reftorch, real_torch):
        with pytest.raises(ValueError) as caught:
            ERRORS[case](lib)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_fillings_work_in_place_and_record_nothing() -> None:
    for fill in (init.eye_, init.orthogonal_, init.trunc_normal_, lambda p: init.sparse_(p, 0.5)):
        p = reftorch.nn.Parameter(reftorch.full((3, 4), 9.0))
        assert fill(p) is p and p.is_leaf and p.requires_grad and 9.0 not in p.detach()


def test_a_mean_far_outside_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="mean is more than 2 std"):
        init.trunc_normal_(reftorch.empty(3), mean=0.0, a=3.0, b=4.0)
