"""Calls of torch.linalg as one would type them: results, strides and errors are torch's.

Mirrors: test/test_linalg.py

Each line is an expression, evaluated in both libraries with the tensors of ``names``. Where torch raises, we raise the
same type and the same first line.
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.native.differential import Program, assert_same_outcome, numbers

CALLS = """
torch.linalg.inv(Z)
torch.linalg.inv(torch.zeros(2, 2, 2))
torch.linalg.inv(B)
torch.linalg.inv(I)
torch.linalg.inv(H)
torch.linalg.inv(A)
torch.linalg.inv(T)
torch.linalg.inv(S.t())
torch.linalg.inv_ex(A)
torch.linalg.inv(torch.zeros(0, 0))
torch.inverse(T)
torch.linalg.solve(A, B)
torch.linalg.solve(A, B[:, 0])
torch.linalg.solve(T, B)
torch.linalg.solve(T, D)
torch.linalg.solve(Z, Z)
torch.linalg.solve(A, B.t(), left=False)
torch.linalg.solve(A, R)
torch.linalg.solve(B, B)
torch.linalg.solve_ex(A, B)
torch.linalg.solve(A, B.double())
torch.linalg.det(A)
torch.linalg.det(T)
torch.linalg.det(B)
torch.linalg.det(I)
torch._linalg_det(A)
torch._linalg_slogdet(A)
torch.linalg.slogdet(A)
torch.linalg.slogdet(T)
torch.linalg.slogdet(Z)
torch.slogdet(T)
torch.logdet(A)
torch.logdet(-A)
torch.det(T)
torch.linalg.cholesky(A)
torch.linalg.cholesky(A, upper=True)
torch.linalg.cholesky(-A)
torch.linalg.cholesky(torch.stack([A, -A]))
torch.linalg.cholesky_ex(A)
torch.linalg.cholesky_ex(T)
torch.cholesky(A)
torch.cholesky(-A)
torch.cholesky_solve(B, A)
torch.cholesky_solve(B, A, upper=True)
torch.cholesky_inverse(A)
torch.linalg.qr(B)
torch.linalg.qr(B, mode='complete')
torch.linalg.qr(B, mode='r')
torch.linalg.qr(R)
torch.linalg.qr(T)
torch.linalg.qr(B, mode='zz')
torch.qr(B)
torch.qr(B, some=False)
torch.linalg.svd(B)
torch.linalg.svd(B, full_matrices=False)
torch.linalg.svd(R)
torch.linalg.svd(T)
torch.linalg.svd(B, driver='gesvd')
torch.linalg.svdvals(T)
torch.svd(B)
torch.svd(B, some=False)
torch.svd(B, compute_uv=False)
torch.svd(R)
torch.linalg.svd(torch.full((2, 2), float('nan')))
torch.linalg.eigh(A)
torch.linalg.eigh(A, UPLO='U')
torch.linalg.eigh(A, UPLO='Z')
torch.linalg.eigh(T)
torch.linalg.eigvalsh(T)
torch.linalg.eigh(B)
torch.linalg.eigh(torch.full((2, 2), float('nan')))
torch.linalg.lstsq(B, C)
torch.linalg.lstsq(R, E)
torch.linalg.lstsq(B, v)
torch.linalg.lstsq(T, V, driver='gelsd')
torch.linalg.lstsq(B, C, driver='gels')
torch.linalg.lstsq(B, C, driver='gelss')
torch.linalg.lstsq(B, C, driver='zz')
torch.linalg.lstsq(B, E)
torch.linalg.pinv(B)
torch.linalg.pinv(A, hermitian=True)
torch.linalg.pinv(T)
torch.pinverse(B)
torch.linalg.matrix_rank(B)
torch.linalg.matrix_rank(T)
torch.linalg.matrix_rank(A, hermitian=True)
torch.linalg.matrix_rank(A, tol=1.)
torch.linalg.matrix_rank(A, atol=1., rtol=.1)
torch.linalg.matrix_power(A, 3)
torch.linalg.matrix_power(A, -2)
torch.linalg.matrix_power(A, 0)
torch.linalg.matrix_power(B, 2)
torch.linalg.matrix_power(I, 2)
torch.matrix_power(T, 5)
torch.linalg.matrix_exp(A)
torch.linalg.matrix_exp(I)
torch.linalg.cross(A, A)
torch.linalg.cross(R, R)
torch.linalg.cross(B, B)
torch.linalg.cross(B, B, dim=0)
torch.cross(B, B)
torch.cross(B, B, dim=0)
torch.cross(R, R[0])
torch.cross(Z, Z)
torch.linalg.vecdot(A, A)
torch.linalg.vecdot(A, A[0], dim=0)
torch.linalg.vecdot(I, I)
torch.linalg.multi_dot([A, B])
torch.linalg.multi_dot([A, B, B.t()])
torch.linalg.multi_dot([A[0], B, B.t()])
torch.linalg.multi_dot([A])
torch.chain_matmul(A, B)
torch.linalg.tensorsolve(W, D)
torch.linalg.tensorinv(W)
torch.linalg.lu_factor(A)
torch.linalg.lu_factor(B)
torch.linalg.lu_factor(T)
torch.linalg.lu_factor_ex(Z)
torch.linalg.lu_factor(Z)
torch.linalg.lu_factor(A, pivot=False)
torch.linalg.ldl_factor(A)
torch.linalg.ldl_factor(T)
torch.linalg.ldl_factor(A, hermitian=True)
torch.linalg.ldl_factor(B)
torch.linalg.ldl_factor(I)
torch.linalg.ldl_factor(A.half())
torch.linalg.ldl_factor(A[0])
torch.linalg.ldl_factor_ex(Z)
torch.linalg.ldl_factor_ex(A, check_errors=True)
torch.linalg.ldl_solve(*torch.linalg.ldl_factor(A), B)
torch.linalg.ldl_solve(*torch.linalg.ldl_factor(T), B)
torch.linalg.ldl_solve(*torch.linalg.ldl_factor(A), B.double())
torch.linalg.ldl_solve(*torch.linalg.ldl_factor(A), torch.ones(9, 1))
torch.linalg.ldl_solve(A, torch.ones(3), B)
torch.linalg.ldl_solve(A, torch.ones(9, dtype=torch.int32), B)
torch.linalg.ldl_solve(B, torch.ones(2, dtype=torch.int32), B)
torch.linalg.lu(A)
torch.linalg.lu(B)
torch.linalg.lu(T)
torch.linalg.lu(R)
torch.linalg.lu_solve(*torch.linalg.lu_factor(A), B)
torch.lu_solve(B, *torch.linalg.lu_factor(A))
torch.lu_unpack(*torch.linalg.lu_factor(T), True)
torch.linalg.norm(A)
torch.linalg.norm(A, 2)
torch.linalg.norm(A, 'nuc')
torch.linalg.norm(A, 'fro')
torch.linalg.norm(A, 'zz')
torch.linalg.norm(A[0], 'fro')
torch.linalg.norm(A, dim=1)
torch.linalg.norm(A, float('inf'))
torch.linalg.norm(T, 2)
torch.linalg.norm(T, 2, dim=(0, 1))
torch.linalg.norm(I)
torch.linalg.norm(A, dtype=torch.float64)
torch.linalg.vector_norm(A)
torch.linalg.vector_norm(A, 0)
torch.linalg.vector_norm(A, float('inf'), dim=1, keepdim=True)
torch.linalg.vector_norm(I)
torch.linalg.vector_norm(torch.zeros(0, 2), float('inf'))
torch.linalg.vector_norm(torch.zeros(0, 2), -1)
torch.linalg.vector_norm(torch.zeros(0, 2), float('inf'), dim=1)
torch.linalg.vector_norm(A, dtype=torch.float16)
torch.linalg.vector_norm(A, dtype=torch.int32)
torch.linalg.matrix_norm(T)
torch.linalg.matrix_norm(T, 1)
torch.linalg.matrix_norm(T, 3)
torch.linalg.matrix_norm(T, 'nuc', keepdim=True)
torch.linalg.matrix_norm(A[0])
torch.linalg.matrix_norm(T, dim=(0, 0))
torch.linalg.matrix_norm(T, -2, dim=(0, 2), keepdim=True)
torch.linalg.cond(A)
torch.linalg.cond(A, 1)
torch.linalg.cond(A, 'fro')
torch.linalg.cond(Z, 1)
torch.linalg.cond(B)
torch.linalg.cond(B, 1)
torch.linalg.cond(T, -2)
torch.linalg.svdvals(torch.full((3, 3), float('-inf')))
torch.linalg.svd(A / torch.tensor([0.0, 1.0, 1.0]))[1]
torch.linalg.svd(torch.stack([A, A / torch.tensor([0.0, 1.0, 1.0])]))[1]
torch.linalg.svd(torch.full((2, 3), float('nan')))
torch.linalg.solve_triangular(A, B, upper=True)
torch.linalg.solve_triangular(A, B, upper=False, unitriangular=True)
torch.linalg.solve_triangular(A, B.t(), upper=False, left=False)
torch.linalg.solve_triangular(T, B, upper=True)
torch.linalg.solve_triangular(A, R, upper=True)
torch.linalg.solve_triangular(A, B.float(), upper=True)
torch.linalg.solve_triangular(A.float(), B, upper=True)
torch.linalg.solve_triangular(A, torch.ones(B.shape, dtype=torch.int64), upper=True)
torch.triangular_solve(B, A)
torch.triangular_solve(B, A, upper=False, transpose=True)
torch.linalg.vander(A[0])
torch.vander(A[0])
torch.vander(A[0], N=2, increasing=True)
torch.linalg.inv(A[0])
torch.linalg.matmul(A, B)
torch.linalg.inv(A, out=torch.zeros(0))
torch.linalg.inv(A, out=torch.zeros(3, 3))
torch.linalg.solve(A, B, out=torch.zeros(0))
torch.linalg.norm(A, out=torch.zeros(()))
torch.linalg.solve(T, T[0])
torch.linalg.solve(T[:, None], T)
torch.linalg.solve(torch.zeros(0, 3, 3), torch.zeros(0, 3, 2))
torch.linalg.solve(torch.zeros(0, 0), torch.zeros(0, 2))
torch.linalg.det(torch.zeros(0, 0))
torch.linalg.det(torch.zeros(0, 3, 3))
torch.linalg.slogdet(torch.zeros(0, 0))
torch.linalg.cholesky(torch.zeros(0, 0))
torch.linalg.qr(torch.zeros(3, 0))
torch.linalg.qr(torch.zeros(3, 0), mode="complete")
torch.linalg.qr(torch.zeros(0, 3))
torch.linalg.svd(torch.zeros(3, 0))
torch.linalg.svd(torch.zeros(0, 3), full_matrices=False)
torch.linalg.eigh(torch.zeros(0, 0))
torch.linalg.pinv(torch.zeros(0, 3))
torch.linalg.matrix_rank(torch.zeros(0, 3))
torch.linalg.matrix_rank(torch.zeros(3, 3))
torch.linalg.matrix_power(torch.zeros(0, 0), 3)
torch.linalg.matrix_exp(torch.zeros(2, 0, 0))
torch.linalg.matrix_exp(A * 10)
torch.linalg.lu(torch.zeros(0, 3))
torch.linalg.lu_factor(torch.zeros(3, 0))
torch.linalg.pinv(T, atol=torch.tensor([0.1, 2.0]))
torch.linalg.matrix_rank(T, atol=torch.tensor([0.1, 2.0]))
torch.linalg.diagonal(T, offset=1)
torch.lu_unpack(*torch.linalg.lu_factor(C), True)
torch.lu_unpack(*torch.linalg.lu_factor(A), False)
torch.linalg.cond(torch.stack([A, A * 0]), 1)
A.det()
A.inverse()
A.slogdet()
A.logdet()
A.pinverse()
A.matrix_power(2)
"""


def in_library(expression: str) -> Program:
    def program(torch: Any) -> Any:
        names = {
            "torch": torch,
            "A": torch.tensor([[4.0, 1, 2], [1, 3, 0], [2, 0, 5]]),
            "B": torch.arange(6.0).view(3, 2),
            "C": numbers(torch, 3, 2),
            "D": numbers(torch, 2, 3),
            "E": numbers(torch, 2, 2),
            "H": torch.ones(3, 3, dtype=torch.float16),
            "I": torch.ones(2, 2, dtype=torch.int64),
            "R": torch.arange(6.0).view(2, 3),
            "S": numbers(torch, 3, 3) + 4 * torch.eye(3),
            "T": numbers(torch, 2, 3, 3) + 4 * torch.eye(3),
            "V": numbers(torch, 2, 3, 2),
            "W": (numbers(torch, 6, 6) + 7 * torch.eye(6)).view(2, 3, 6),
            "Z": torch.zeros(2, 2),
            "v": numbers(torch, 3),
        }
        result = eval(expression, names)
        if "svd(" in expression or "eigh(" in expression:  # the signs of vectors are LAPACK's choice
            return [t.abs() for t in result]
        return result

    return program


@pytest.mark.filterwarnings("ignore:torch.* is deprecated", "ignore:Using torch.cross without specifying the dim arg")
@pytest.mark.parametrize("expression", CALLS.strip().split("\n"))
def test_call(expression: str, real_torch: ModuleType) -> None:
    assert_same_outcome(in_library(expression), real_torch, rtol=2e-4, atol=2e-5)


def test_results_have_names() -> None:
    A = reftorch.eye(2)
    assert reftorch.linalg.svd(A).Vh.shape == (2, 2)
    assert reftorch.linalg.eigh(A).eigenvalues.shape == (2,)
    assert reftorch.linalg.slogdet(A).logabsdet == 0
    assert reftorch.linalg.lu_factor_ex(A).info == 0


def test_a_singular_matrix_raises_the_error_of_linalg() -> None:
    assert issubclass(reftorch.linalg.LinAlgError, RuntimeError)
    with pytest.raises(reftorch.linalg.LinAlgError, match="the input matrix is singular"):
        reftorch.linalg.inv(reftorch.zeros(2, 2))


def test_eigenvalues_of_any_matrix_are_refused_with_a_reason() -> None:
    for function in (reftorch.linalg.eig, reftorch.linalg.eigvals):
        with pytest.raises(NotImplementedError, match="complex numbers"):
            function(reftorch.eye(2))


def test_ldl_of_a_matrix_with_pairs_of_pivots() -> None:
    A = reftorch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]], dtype=reftorch.float64)
    LD, pivots = reftorch.linalg.ldl_factor(A)
    assert (pivots < 0).sum() == 2
    B = reftorch.eye(3, dtype=reftorch.float64)
    assert reftorch.allclose(A @ reftorch.linalg.ldl_solve(LD, pivots, B), B)


@pytest.mark.parametrize("pivots", [[4, 1, 1], [0, 1, 1], [1, 1, -1], [-1, 2, 3], [-1, -4, 1]])
def test_pivots_of_no_factorization_are_refused(pivots: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"Pivots given to ldl_solve must all satisfy|expected two negative pivots"):
        reftorch.linalg.ldl_solve(reftorch.eye(3), reftorch.tensor(pivots, dtype=reftorch.int32), reftorch.ones(3, 1))


@pytest.mark.parametrize("pivot", [0, -1, 3, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("solve", ["lu_solve", "lu_unpack", "linalg.lu_solve"])
def test_pivots_past_the_matrix_are_refused(pivot: int, solve: str, real_torch: ModuleType) -> None:
    messages = []
    for lib in (reftorch, real_torch):
        A, B = lib.eye(2), lib.ones(2, 1)
        pivots = lib.tensor([1, pivot], dtype=lib.int32)
        calls = {
            "lu_unpack": lambda: lib.lu_unpack(A, pivots),  # noqa: B023
            "lu_solve": lambda: lib.lu_solve(B, A, pivots),  # noqa: B023
            "linalg.lu_solve": lambda: lib.linalg.lu_solve(A, pivots, B),  # noqa: B023
        }
        with pytest.raises(RuntimeError) as error:
            calls[solve]()
        messages.append(str(error.value)[:60])
    assert messages[0] == messages[1]


def test_a_vander_that_no_memory_holds_is_refused_at_once() -> None:
    x = reftorch.arange(3.0)
    for make in (lambda: reftorch.vander(x, N=2**60), lambda: reftorch.linalg.vander(x, N=2**60)):
        with pytest.raises(RuntimeError, match="overflow"):
            make()
    assert reftorch.vander(reftorch.tensor([2, 3]), N=3).tolist() == [[4, 2, 1], [9, 3, 1]]


def test_ldl_of_what_is_singular() -> None:
    with pytest.raises(reftorch.linalg.LinAlgError, match=r"\(Batch element 1\): .* the block 1 of D is zero"):
        reftorch.linalg.ldl_factor(reftorch.stack([reftorch.eye(2), reftorch.zeros(2, 2)]))


def test_ldl_has_no_gradient(real_torch_or_none: ModuleType | None) -> None:
    for torch in filter(None, (reftorch, real_torch_or_none)):
        A = torch.eye(2).requires_grad_()
        with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
            torch.linalg.ldl_factor(A).LD.sum().backward()


@pytest.mark.parametrize("driver", ["gelsd", "gelss"])
def test_singular_values_of_an_infinity_are_not_searched_for(driver: str) -> None:
    """The search of LAPACK does not end for some of these matrices; torch's has something to say for most of them."""
    A = reftorch.eye(3)
    A[0, 1] = float("inf")
    U, S, Vh = reftorch.linalg.svd(reftorch.stack([A, reftorch.eye(3)]))
    assert [each[0].isnan().all().item() for each in (U, S, Vh)] == [True] * 3
    assert reftorch.equal(S[1], reftorch.ones(3))
    found = reftorch.linalg.lstsq(A, reftorch.ones(3, 2), driver=driver)
    assert found.solution.isnan().all() and found.rank == 0 and found.singular_values.isnan().all()


def test_large_batches_take_several_threads() -> None:
    before = reftorch.get_num_threads()
    A = reftorch.rand(64, 40, 40, dtype=reftorch.float64) + 40 * reftorch.eye(40, dtype=reftorch.float64)
    try:
        reftorch.set_num_threads(2)
        two = reftorch.linalg.inv(A)
        reftorch.set_num_threads(1)
        one = reftorch.linalg.inv(A)
    finally:
        reftorch.set_num_threads(before)
    assert two.equal(one)
    assert (A @ one - reftorch.eye(40, dtype=reftorch.float64)).abs().max().item() < 1e-12


@pytest.mark.parametrize("name", ["det", "slogdet", "inv", "svdvals", "eigvalsh", "cholesky", "pinv", "matrix_exp"])
def test_gradient_against_differences(name: str) -> None:
    A = reftorch.tensor([[3.0, 1.0, 0.5], [1.0, 4.0, -1.0], [0.5, -1.0, 5.0]], dtype=reftorch.float64)

    def function(A: Any) -> Any:
        result = getattr(reftorch.linalg, name)((A + A.mT) / 2)
        return result[1] if isinstance(result, tuple) else result

    A.requires_grad_()
    assert reftorch.autograd.gradcheck(function, [A])
    assert reftorch.autograd.gradgradcheck(function, [A])


def test_gradient_of_the_determinant_of_a_singular_matrix() -> None:
    A = reftorch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=reftorch.float64, requires_grad=True)
    (A.det() * 2).backward()
    expected = reftorch.tensor([[8.0, -4.0], [-4.0, 2.0]], dtype=reftorch.float64)
    assert reftorch.allclose(A.grad, expected)
