"""Losses of pairs and triples.

Mirrors: test/test_nn.py
"""

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.nn.functions import W, X, Y, check, check_error, numbers

Z, S = numbers("z", 4, 3), numbers("s", 4)


def signs(lib: ModuleType) -> object:
    return lib.tensor([1, -1, -1, 1])


LOSSES: dict[str, Callable] = {
    "hinge_embedding": lambda lib, F, x, r: F.hinge_embedding_loss(x, signs(lib)[:, None], 0.7, reduction=r),
    "cosine_embedding": lambda lib, F, x, r: F.cosine_embedding_loss(x, Y(lib), signs(lib), -0.2, reduction=r),
    "cosine_embedding of one": lambda lib, F, x, r: F.cosine_embedding_loss(
        x[0], Y(lib)[0], lib.tensor(1), reduction=r
    ),
    "margin_ranking": lambda lib, F, x, r: F.margin_ranking_loss(x[:, 0], S(lib), signs(lib), 0.5, reduction=r),
    "triplet_margin": lambda lib, F, x, r: F.triplet_margin_loss(x, Y(lib), Z(lib), reduction=r),
    "triplet_margin of sums": lambda lib, F, x, r: F.triplet_margin_loss(
        x, Y(lib), Z(lib), 2.0, 1, 1e-3, True, reduction=r
    ),
    "triplet_margin of one": lambda lib, F, x, r: F.triplet_margin_loss(x[0], Y(lib)[0], Z(lib)[0], reduction=r),
    "triplet of distances": lambda lib, F, x, r: F.triplet_margin_with_distance_loss(
        x, Y(lib), Z(lib), distance_function=lambda a, b: (a - b).abs().amax(-1), swap=True, reduction=r
    ),
    "triplet of usual distances": lambda lib, F, x, r: F.triplet_margin_with_distance_loss(
        x, Y(lib), Z(lib), margin=3.0, reduction=r
    ),
}
ERRORS: dict[str, Callable] = {
    "hinge reduction": lambda lib, F: F.hinge_embedding_loss(X(lib), Y(lib), reduction="other"),
    "cosine targets": lambda lib, F: F.cosine_embedding_loss(X(lib), Y(lib), W(lib)),
    "cosine target of one": lambda lib, F: F.cosine_embedding_loss(X(lib), Y(lib), lib.tensor(1)),
    "cosine inputs": lambda lib, F: F.cosine_embedding_loss(X(lib)[0], Y(lib)[0], S(lib)),
    "ranking": lambda lib, F: F.margin_ranking_loss(X(lib), Y(lib), S(lib)),
    "triplet": lambda lib, F: F.triplet_margin_loss(X(lib), Y(lib), S(lib)),
    "triplet margin": lambda lib, F: F.triplet_margin_loss(X(lib), Y(lib), Z(lib), margin=-1.0),
    "triplet distances": lambda lib, F: F.triplet_margin_with_distance_loss(X(lib), Y(lib), S(lib)),
    "triplet reduction": lambda lib, F: F.triplet_margin_with_distance_loss(X(lib), Y(lib), Z(lib), reduction="other"),
}


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, reduction: str, real_torch: ModuleType) -> None:
    check(LOSSES[name], real_torch, reduction)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch)
