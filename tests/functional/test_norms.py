"""Norms under old names, and distances.

Mirrors: test/test_linalg.py (test_nuclear_norm, test_frobenius_norm), test/test_torch.py (test_cdist_*)
"""

from types import ModuleType

import pytest

from tests.native.differential import Program, assert_same, assert_same_error, numbers

RESULTS: dict[str, Program] = {
    "nuclear": lambda t: [t.nuclear_norm(numbers(t, 3, 4)), t.nuclear_norm(numbers(t, 3, 4), True)],
    "nuclear of dims": lambda t: t.nuclear_norm(numbers(t, 3, 4, 2), dim=(0, 2), keepdim=True),
    "frobenius": lambda t: [t.frobenius_norm(numbers(t, 3, 4), d) for d in (1, (0, 1), [])],
    "frobenius kept": lambda t: t.frobenius_norm(numbers(t, 3, 4), dim=0, keepdim=True),
    "except": lambda t: [t.norm_except_dim(numbers(t, 2, 3, 4), 2, d) for d in (0, 1, 2, -1, -2)],
    "cdist": lambda t: t.cdist(numbers(t, 4, 3), numbers(t, 2, 3), p=1),
    "cdist modes": lambda t: [
        t.cdist(numbers(t, 4, 3), numbers(t, 2, 3) + 1, compute_mode=f"{mode}_for_euclid_dist")
        for mode in ("use_mm", "donot_use_mm")
    ],
    "cdist of many": lambda t: t.cdist(numbers(t, 2, 40, 3), numbers(t, 30, 3) + 1),
}

ERRORS: dict[str, Program] = {
    "frobenius of three": lambda t: t.frobenius_norm(t.ones(2, 2, 2), dim=(0, 1, 2)),
    "cdist mode": lambda t: t.cdist(t.ones(2, 2), t.ones(2, 2), compute_mode="foo"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)
