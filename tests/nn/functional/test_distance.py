"""Lengths of vectors, and how far they are from each other.

Mirrors: test/test_nn.py (test_normalize, test_cosine_similarity, test_pairwise_distance)
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import X, Y, check, check_error

FUNCTIONS: dict[str, Callable] = {
    "normalize": lambda lib, F, x: F.normalize(x),
    "normalize by the sum": lambda lib, F, x: F.normalize(x, p=1, dim=0),
    "normalize by the largest": lambda lib, F, x: F.normalize(x, p=float("inf")),
    "normalize by all": lambda lib, F, x: F.normalize(x, dim=(0, 1)),
    "normalize of short ones": lambda lib, F, x: F.normalize(x * 1e-3, eps=0.1),
    "cosine_similarity": lambda lib, F, x: F.cosine_similarity(x, Y(lib)),
    "pairwise_distance": lambda lib, F, x: F.pairwise_distance(x, Y(lib), p=1, keepdim=True),
    "pdist": lambda lib, F, x: F.pdist(x),
}
ERRORS: dict[str, Callable] = {
    "normalize a vector": lambda lib, F: F.normalize(X(lib)[0]),
    "normalize integers": lambda lib, F: F.normalize(lib.ones(2, 2, dtype=lib.int64)),
    "cosine_similarity of vectors": lambda lib, F: F.cosine_similarity(X(lib)[0], X(lib)[0]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real_torch: ModuleType) -> None:
    check(FUNCTIONS[name], real_torch)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch)


def test_normalize_into_another() -> None:
    x, out = X(reftorch), reftorch.empty(0, dtype=reftorch.float64)
    assert reftorch.nn.functional.normalize(x, out=out) is out
    assert out.equal(reftorch.nn.functional.normalize(x))


def test_the_functions_are_those_of_torch_itself() -> None:
    F = reftorch.nn.functional
    assert F.cosine_similarity is reftorch.cosine_similarity and F.pdist is reftorch.pdist
