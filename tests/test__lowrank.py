"""Singular values from a few random vectors.

Mirrors: test/test_linalg.py (test_svd_lowrank, test_pca_lowrank)
"""

from typing import Any

import pytest

import reftorch as torch
from reftorch._lowrank import get_approximate_basis


def matrices(*shape: int, rank: int) -> Any:
    torch.manual_seed(3)
    *batch, m, n = shape
    return torch.randn(*batch, m, rank, dtype=torch.float64) @ torch.randn(*batch, rank, n, dtype=torch.float64)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (2, 6, 4)])
def test_svd_of_low_rank_is_exact(shape: tuple[int, ...]) -> None:
    a = matrices(*shape, rank=2)
    u, s, v = torch.svd_lowrank(a, q=3)
    torch.testing.assert_close(u @ torch.diag_embed(s) @ v.mT, a)
    torch.testing.assert_close(s[..., :2], torch.linalg.svdvals(a)[..., :2])


def test_svd_less_a_matrix() -> None:
    a, m = matrices(6, 4, rank=2), matrices(1, 4, rank=1)
    u, s, v = torch.svd_lowrank(a, q=4, M=m)
    torch.testing.assert_close(u @ torch.diag(s) @ v.mT, a - m)


def test_pca_takes_the_mean_away() -> None:
    a = matrices(6, 4, rank=2) + 5
    u, s, v = torch.pca_lowrank(a, q=3)
    torch.testing.assert_close(u @ torch.diag(s) @ v.mT, a - a.mean(0, keepdim=True))
    assert torch.pca_lowrank(a)[1].shape == (4,)


@pytest.mark.parametrize("options", [{"q": 5}, {"q": -1}, {"niter": -1}])
def test_pca_refuses(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be non-negative integer"):
        torch.pca_lowrank(torch.ones(6, 4), **options)


def test_basis_is_orthonormal() -> None:
    basis = get_approximate_basis(matrices(6, 4, rank=4), 3)
    torch.testing.assert_close(basis.mT @ basis, torch.eye(3, dtype=torch.float64))
