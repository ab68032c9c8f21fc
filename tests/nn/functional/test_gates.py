"""Activations that look at more than one element, have weights, or are drawn.

Mirrors: test/test_nn.py (test_glu, test_PReLU, test_rrelu, test_gumbel_softmax)
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import W, X, check, check_error

FUNCTIONS: dict[str, Callable] = {
    "glu": lambda lib, F, x: F.glu(x, dim=0),
    "glu of the last": lambda lib, F, x: F.glu(x.t()),
    "softmin": lambda lib, F, x: F.softmin(x, dim=1),
    "softmin of the usual dimension": lambda lib, F, x: F.softmin(x),
    "prelu": lambda lib, F, x: F.prelu(x, W(lib)[0]),
    "rrelu": lambda lib, F, x: F.rrelu(x),
    "rrelu in place": lambda lib, F, x: F.rrelu(x.clone(), 0.2, 0.4, inplace=True),
    "rrelu_": lambda lib, F, x: F.rrelu_(x.clone(), 0.2, 0.4),
    "rrelu of training": lambda lib, F, x: seeded(lib) and F.rrelu(x, 0.2, 0.7, training=True),
    "gumbel_softmax": lambda lib, F, x: seeded(lib) and F.gumbel_softmax(x, tau=0.5),
    "gumbel_softmax of one": lambda lib, F, x: seeded(lib) and F.gumbel_softmax(x, hard=True, dim=0),
}
ERRORS: dict[str, Callable] = {
    "odd glu": lambda lib, F: F.glu(X(lib)),
    "glu of a number": lambda lib, F: F.glu(X(lib)[0, 0]),
    "glu of no dimension": lambda lib, F: F.glu(X(lib), dim=2),
    "glu of integers": lambda lib, F: F.glu(lib.ones(2, dtype=lib.int64)),
    "rrelu bounds": lambda lib, F: F.rrelu(X(lib), 0.5, 0.2, training=True),
    "rrelu of integers": lambda lib, F: F.rrelu(lib.ones(2, dtype=lib.int64)),
}


def seeded(lib: ModuleType) -> bool:
    lib.manual_seed(11)
    return True


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real_torch: ModuleType) -> None:
    check(FUNCTIONS[name], real_torch)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch)


def test_gumbel_softmax_warns_of_eps() -> None:
    with pytest.warns(UserWarning, match="deprecated and has no effect"):
        reftorch.nn.functional.gumbel_softmax(reftorch.zeros(3), eps=1e-3)
