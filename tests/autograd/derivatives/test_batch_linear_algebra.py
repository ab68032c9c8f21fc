"""Slopes of slopes of a determinant, where the matrix has no inverse or hardly one.

Mirrors: test/test_linalg.py (test_det_backward)
"""

import pytest

import reftorch as torch

REGULAR = [[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 1.0]]
SINGULAR = [[1.0, 2.0, 3.0], [2.0, 4.0, 7.0], [3.0, 6.0, 11.0]]
NEARLY = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.7, 0.8, 0.9 + 1e-15]]
BATCHES = {
    "regular": [REGULAR],
    "singular": [SINGULAR],
    "nearly singular": [NEARLY],
    "some of each": [REGULAR, SINGULAR, NEARLY],
}


def of_two_orders(lib, rows):
    A = lib.tensor(rows, dtype=lib.float64, requires_grad=True)
    (first,) = lib.autograd.grad(A.det().sum(), A, create_graph=True)
    (second,) = lib.autograd.grad((first * first.detach().sin()).sum(), A)
    return first.tolist(), second.tolist()


@pytest.mark.parametrize("rows", BATCHES.values(), ids=BATCHES)
def test_det(rows, real_torch):
    for ours, theirs in zip(of_two_orders(torch, rows), of_two_orders(real_torch, rows), strict=True):
        assert torch.allclose(torch.tensor(ours), torch.tensor(theirs), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("rows", BATCHES.values(), ids=BATCHES)
def test_det_in_a_batch(rows):
    """Under vmap nobody can ask which of the matrices are singular. Slopes of det are sums of products of elements."""
    A = torch.tensor(rows, dtype=torch.float64)
    a, b, c, d, e, f, g, h, i = A.reshape(-1, 9).unbind(1)
    expected = torch.stack([e * i - f * h, f * g - d * i, d * h - e * g, c * h - b * i, a * i - c * g, b * g - a * h,
                            b * f - c * e, c * d - a * f, a * e - b * d], 1).reshape(A.shape)  # fmt: skip
    assert torch.allclose(torch.vmap(torch.func.grad(torch.det))(A), expected)
    hessians = torch.vmap(torch.func.hessian(torch.det))(A)
    for hessian, matrix in zip(hessians, A.unbind(0), strict=True):
        assert torch.allclose(hessian, torch.autograd.functional.hessian(torch.det, matrix))
        assert torch.allclose(hessian[0, 0, 1, 1], matrix[2, 2])
        assert torch.allclose(hessian[0, 1, 1, 2], matrix[2, 0])
