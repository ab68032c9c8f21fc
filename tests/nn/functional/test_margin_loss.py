"""Losses of classes by margins, and of numbers by the likelihood of a distribution.

Mirrors: test/test_nn.py
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.functions import PROBABILITIES, TARGETS, W, X, Y, check, check_error


def classes(lib: ModuleType) -> Any:
    return lib.tensor([2, 0, 1, 0])


def labels(lib: ModuleType) -> Any:
    return lib.tensor([[0, 2, -1], [1, -1, 0], [-1, 1, 2], [2, 1, 0]])


def signs(lib: ModuleType) -> Any:
    return lib.where(Y(lib) > 0, 1.0, -1.0).double()


LOSSES: dict[str, Callable] = {
    "soft_margin": lambda lib, F, x, r: F.soft_margin_loss(x, signs(lib), reduction=r),
    "multi_margin": lambda lib, F, x, r: F.multi_margin_loss(x, classes(lib), reduction=r),
    "multi_margin of squares": lambda lib, F, x, r: F.multi_margin_loss(
        x, classes(lib), 2, 0.5, W(lib)[0], reduction=r
    ),
    "multi_margin of one": lambda lib, F, x, r: F.multi_margin_loss(x[0], lib.tensor(1), reduction=r),
    "multi_margin of one in a list": lambda lib, F, x, r: F.multi_margin_loss(x[0], lib.tensor([1]), reduction=r),
    "multilabel_margin": lambda lib, F, x, r: F.multilabel_margin_loss(x, labels(lib), reduction=r),
    "multilabel_margin of one": lambda lib, F, x, r: F.multilabel_margin_loss(x[1], labels(lib)[1], reduction=r),
    "multilabel_soft_margin": lambda lib, F, x, r: F.multilabel_soft_margin_loss(
        x, (Y(lib) > 0).double(), W(lib)[0], reduction=r
    ),
    "poisson": lambda lib, F, x, r: F.poisson_nll_loss(x, TARGETS(lib) * 4, full=True, reduction=r),
    "poisson of rates": lambda lib, F, x, r: F.poisson_nll_loss(x.exp(), TARGETS(lib) * 4, False, reduction=r),
    "gaussian": lambda lib, F, x, r: F.gaussian_nll_loss(x, Y(lib), W(lib), reduction=r),
    "gaussian of rows": lambda lib, F, x, r: F.gaussian_nll_loss(x, Y(lib), x[:, 0].exp(), full=True, reduction=r),
    "gaussian of columns": lambda lib, F, x, r: F.gaussian_nll_loss(x, Y(lib), x[:1].exp(), reduction=r),
    "gaussian of a number": lambda lib, F, x, r: F.gaussian_nll_loss(x, Y(lib), 0.7, reduction=r),
    "gaussian of small variances": lambda lib, F, x, r: F.gaussian_nll_loss(
        x, Y(lib), x.square() * 0.1, eps=0.2, reduction=r
    ),
}
ERRORS: dict[str, Callable] = {
    "soft_margin reduction": lambda lib, F: F.soft_margin_loss(X(lib), Y(lib), reduction="other"),
    "multi_margin class": lambda lib, F: F.multi_margin_loss(X(lib), lib.tensor([0, 1, 2, 3])),
    "multi_margin targets": lambda lib, F: F.multi_margin_loss(X(lib), lib.tensor([0, 1, 2])),
    "multi_margin p": lambda lib, F: F.multi_margin_loss(X(lib), classes(lib), p=3),
    "multi_margin weight": lambda lib, F: F.multi_margin_loss(X(lib), classes(lib), weight=W(lib)),
    "multi_margin weights": lambda lib, F: F.multi_margin_loss(X(lib), classes(lib), weight=W(lib)[0, :2]),
    "multi_margin input": lambda lib, F: F.multi_margin_loss(X(lib)[None], classes(lib)),
    "multi_margin dtype": lambda lib, F: F.multi_margin_loss(X(lib), classes(lib).float()),
    "multilabel_margin class": lambda lib, F: F.multilabel_margin_loss(X(lib), labels(lib) + 1),
    "multilabel_margin targets": lambda lib, F: F.multilabel_margin_loss(X(lib), labels(lib)[:, :2]),
    "multilabel_soft_margin": lambda lib, F: F.multilabel_soft_margin_loss(X(lib), TARGETS(lib), reduction="other"),
    "poisson": lambda lib, F: F.poisson_nll_loss(X(lib), TARGETS(lib), reduction="other"),
    "gaussian": lambda lib, F: F.gaussian_nll_loss(X(lib), Y(lib), W(lib), reduction="other"),
    "gaussian negative": lambda lib, F: F.gaussian_nll_loss(X(lib), Y(lib), -1.0),
    "soft_margin_loss of a larger target": lambda lib, F: F.soft_margin_loss(X(lib)[:1], Y(lib)),
    "soft_margin_loss of another target": lambda lib, F: F.soft_margin_loss(X(lib), Y(lib)[:2]),
    "gaussian size": lambda lib, F: F.gaussian_nll_loss(X(lib), Y(lib), W(lib)[:2]),
}


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, reduction: str, real_torch: ModuleType) -> None:
    check(LOSSES[name], real_torch, reduction)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch)


def test_the_old_flags_mean_a_reduction() -> None:
    p = PROBABILITIES(reftorch)
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        loss = reftorch.nn.functional.soft_margin_loss(p, p, size_average=False)
    assert loss.equal(reftorch.nn.functional.soft_margin_loss(p, p, reduction="sum"))
