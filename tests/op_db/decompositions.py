"""Factors, solutions, inverses, determinants and norms of matrices.

Mirrors: torch/testing/_internal/opinfo/definitions/linalg.py
Leaves out: complex matrices.

The signs of eigenvectors and singular vectors are LAPACK's choice, and the two libraries have different ones: what is
compared does not depend on them.
"""

from collections.abc import Callable
from typing import Any

from tests.op_db.core import DTYPES, Inputs, Library, OpInfo, Sample
from tests.op_db.linalg import of


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    # A float32 matrix that is nearly singular loses digits by nature.
    return OpInfo(ops, samples, dtypes=DTYPES, rtol=2e-3, **options)


def linalg(lib: Library) -> Any:
    return lib._C._linalg


def positive(lib: Library, a: Any) -> Any:
    """A symmetric positive-definite matrix from any matrix."""
    return a @ a.mT + lib.eye(a.shape[-1], dtype=a.dtype)


def on_positive(name: str) -> Callable[..., Any]:
    def call(lib: Library, a: Any, *args: Any, **kwargs: Any) -> Any:
        space = lib if hasattr(lib, name) else linalg(lib)
        return getattr(space, name)(positive(lib, a), *args, **kwargs)

    return call


def dominant(name: str) -> Callable[..., Any]:
    """The op on a matrix that is far from singular: one with a large diagonal."""

    def call(lib: Library, a: Any, *args: Any, **kwargs: Any) -> Any:
        space = linalg(lib) if hasattr(linalg(lib), name) else lib
        return getattr(space, name)(a + 7 * lib.eye(a.shape[-1], dtype=a.dtype), *args, **kwargs)

    return call


def call_with(*shapes: tuple[int, ...], **kwargs: Any) -> Callable[[Inputs], list[Sample]]:
    return lambda make: [Sample(tuple(make(*shape) for shape in shapes), kwargs)]


def calls(*samples: Callable[[Inputs], list[Sample]]) -> Callable[[Inputs], list[Sample]]:
    return lambda make: [sample for each in samples for sample in each(make)]


def svd_without_signs(lib: Library, a: Any, *args: Any) -> Any:
    U, S, Vh = linalg(lib).linalg_svd(a, *args)
    k = S.shape[-1]
    return U[..., :k].abs(), S, Vh[..., :k, :].abs(), U[..., :k] @ Vh[..., :k, :]


def old_svd_without_signs(lib: Library, a: Any, *args: Any) -> Any:
    U, S, V = lib.svd(a, *args)
    return U.abs(), S, V.abs(), U @ V.mT if U.shape[-1] == V.shape[-1] else S


def eigh_without_signs(lib: Library, a: Any, *args: Any) -> Any:
    values, vectors = linalg(lib).linalg_eigh(a + a.mT, *args)
    return values, vectors.abs()


def hidden_eigh(lib: Library, a: Any) -> Any:
    values, vectors = lib._linalg_eigh(a + a.mT)
    return values, vectors.abs()


def lu_factor_and_solve(lib: Library, a: Any, b: Any, **kwargs: Any) -> Any:
    return linalg(lib).linalg_lu_solve(*dominant("linalg_lu_factor")(lib, a), b, **kwargs)


def old_lu_solve(lib: Library, a: Any, b: Any) -> Any:
    return lib.lu_solve(b, *dominant("linalg_lu_factor")(lib, a))


def unpacked(lib: Library, a: Any) -> Any:
    return lib.lu_unpack(*linalg(lib).linalg_lu_factor(a))


def lower_factor_first(name: str) -> Callable[..., Any]:
    """The op on the Cholesky factor of the second matrix."""

    def call(lib: Library, b: Any, a: Any, upper: bool = False) -> Any:
        return getattr(lib, name)(b, linalg(lib).linalg_cholesky(positive(lib, a), upper=upper), upper)

    return call


def inverse_of_factor(lib: Library, a: Any, upper: bool = False) -> Any:
    return lib.cholesky_inverse(linalg(lib).linalg_cholesky(positive(lib, a), upper=upper), upper)


def without_out(name: str) -> Callable[..., Any]:
    """The op without out=: torch's casts into another dtype here, or lays the result out by rules of its own."""

    def call(lib: Library, *args: Any, **kwargs: Any) -> Any:
        return getattr(linalg(lib), name)(*args, **kwargs)

    return call


SQUARE = ((3, 3),)
ROWS = [
    # LU and what rests on it
    row("linalg_lu_factor_ex", of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),))),
    row("linalg_lu_factor", of(SQUARE, ((4, 2),), ((2, 3, 3),))),
    row("linalg_lu", of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),))),
    row("lu_unpack", of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), call=unpacked, out=False),
    row("linalg_lu_solve", calls(call_with((3, 3), (3, 2)), call_with((3, 3), (3, 2), adjoint=True),
                                 call_with((3, 3), (2, 3), left=False),
                                 call_with((3, 3), (2, 3), left=False, adjoint=True),
                                 call_with((2, 3, 3), (3, 2))), call=lu_factor_and_solve),
    row("lu_solve", of(((3, 3), (3, 2))), call=old_lu_solve, out=False),
    row("_linalg_solve_ex linalg_solve linalg_solve_ex",
        calls(of(((3, 3), (3, 2)), ((3, 3), (3,)), ((2, 3, 3), (3, 2)), ((2, 3, 3), (2, 3))),
              call_with((3, 3), (2, 3), left=False)), call=dominant("linalg_solve")),
    row("linalg_inv_ex", of(SQUARE, ((2, 3, 3),))),
    row("linalg_inv", of(SQUARE, ((2, 3, 3),), ((0, 0),))),
    row("inverse", of(SQUARE, ((2, 3, 3),))),
    row("_linalg_det linalg_det", of(SQUARE, ((2, 3, 3),), ((0, 0),)),
        call=lambda lib, a: linalg(lib).linalg_det(a), out=False),
    row("det", of(SQUARE, ((2, 3, 3),))),
    row("_linalg_slogdet linalg_slogdet", of(SQUARE, ((2, 3, 3),)),
        call=lambda lib, a: linalg(lib).linalg_slogdet(a), out=False),
    row("slogdet", of(SQUARE, ((2, 3, 3),))),
    row("logdet", of(SQUARE, ((2, 3, 3),)), call=on_positive("logdet")),
    # Cholesky, triangles
    row("linalg_cholesky_ex", of(SQUARE, ((2, 3, 3),)), call=on_positive("linalg_cholesky_ex")),
    row("linalg_cholesky", calls(of(SQUARE), call_with((2, 3, 3), upper=True)),
        call=on_positive("linalg_cholesky")),
    row("cholesky", of(SQUARE), call=lambda lib, a: on_positive("cholesky")(lib, a), out=False),
    row("cholesky_solve", calls(of(((3, 2), (3, 3)), ((3, 2), (2, 3, 3))), call_with((3, 2), (3, 3), upper=True)),
        call=lower_factor_first("cholesky_solve"), out=False),
    row("cholesky_inverse", calls(of(SQUARE), call_with((3, 3), upper=True)), call=inverse_of_factor, out=False),
    row("linalg_solve_triangular", calls(call_with((3, 3), (3, 2), upper=True), call_with((3, 3), (3, 2), upper=False),
        call_with((2, 3, 3), (3, 2), upper=False, unitriangular=True),
        call_with((3, 3), (2, 3), upper=True, left=False)),
        call=dominant("linalg_solve_triangular")),
    row("triangular_solve", calls(of(((3, 2), (3, 3))), call_with((3, 2), (3, 3), upper=False, transpose=True),
        call_with((3, 2), (3, 3), unitriangular=True)),
        call=lambda lib, b, a, **kwargs: lib.triangular_solve(b, a + 7 * lib.eye(3, dtype=a.dtype), **kwargs)),
    # orthogonal factors
    row("linalg_qr", calls(of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)),
                           call_with((2, 4), mode="complete"))),
    row("qr", of(SQUARE, ((4, 2),))),
    row("_linalg_svd linalg_svd",
        calls(of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), lambda make: [Sample((make(4, 2), False))]),
        call=svd_without_signs, out=False),
    row("svd", of(SQUARE, ((4, 2),), ((2, 4),)), call=old_svd_without_signs, out=False),
    row("linalg_svdvals", of(SQUARE, ((4, 2),), ((2, 3, 3),))),
    row("linalg_eigh", calls(of(SQUARE, ((2, 3, 3),)), lambda make: [Sample((make(3, 3), "U"))]),
        call=eigh_without_signs),
    row("_linalg_eigh", of(SQUARE), call=hidden_eigh, out=False),
    row("linalg_eigvalsh", of(SQUARE, ((2, 3, 3),)),
        call=lambda lib, a: linalg(lib).linalg_eigvalsh(a + a.mT)),
    # least squares
    row("linalg_lstsq", calls(of(((4, 2), (4, 2)), ((2, 4), (2, 2)), ((4, 2), (4,)), ((2, 4, 2), (2, 4, 2))),
                              call_with((4, 2), (4, 2), driver="gels"), call_with((4, 2), (4, 2), driver="gelsd"),
                              call_with((2, 4, 2), (2, 4, 2), driver="gelss")),
        call=without_out("linalg_lstsq")),
    row("linalg_pinv.atol_rtol_float linalg_pinv.atol_rtol_tensor",
        calls(of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), call_with((4, 2), atol=0.1, rtol=0.1)),
        call=lambda lib, a, **kwargs: linalg(lib).linalg_pinv(a, **kwargs)),
]  # fmt: skip

ROWS += [
    row("linalg_pinv linalg_pinv.rcond_tensor", lambda make: [Sample((make(4, 2), 0.1))],
        call=without_out("linalg_pinv")),
    row("pinverse", of(((4, 2),))),
    row("linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor",
        calls(of(SQUARE, ((2, 4, 2),)), call_with((4, 2), atol=1.0, rtol=0.1)),
        call=lambda lib, a, **kwargs: linalg(lib).linalg_matrix_rank(a, **kwargs)),
    row("linalg_matrix_rank linalg_matrix_rank.tol_tensor",
        lambda make: [Sample((make(4, 2), 1.0))],
        call=without_out("linalg_matrix_rank")),
    # powers
    row("linalg_matrix_power",
        lambda make: [Sample((make(3, 3), n)) for n in (0, 1, 2, 3, 6, -1, -2)],
        call=without_out("linalg_matrix_power")),
    row("matrix_power", lambda make: [Sample((make(2, 3, 3), 3)), Sample((make(2, 2), 3))], low=-1, high=1),
    # torch's has no correct digit in 16 bits
    row("linalg_matrix_exp",
        lambda make: [] if make.dtype in ("float16", "bfloat16") else of(SQUARE, ((2, 2, 2),))(make), low=-1, high=1),
    # norms
    row("linalg_vector_norm", calls(of(((2, 3),), ((),)), *(call_with((2, 3), ord=ord, dim=dim, keepdim=True)
        for ord in (2, 1, 3.5, 0, float("inf"), -float("inf"), -2) for dim in (1, (0, 1))))),
    row("linalg_matrix_norm", lambda make: [
        Sample((make(2, 3, 2), ord)) for ord in (1, 2, -1, -2, float("inf"), -float("inf"))]),
    row("linalg_matrix_norm.str_ord", lambda make: [
        Sample((make(2, 3, 2), ord), {"keepdim": True, "dim": (0, 2)}) for ord in ("fro", "nuc")],
        call=without_out("linalg_matrix_norm")),
    row("linalg_norm", calls(of(((2, 3),), ((3,),)), lambda make: [
        Sample((make(2, 3), 1)), Sample((make(2, 3), 1, 1)), Sample((make(2, 3), None, (0, 1)))])),
    row("linalg_norm.ord_str", lambda make: [Sample((make(2, 3), "fro")), Sample((make(2, 3), "nuc"))]),
    row("linalg_cond", lambda make: [Sample((make(3, 3),)), Sample((make(3, 3), 1)), Sample((make(4, 2), -2))],
        torch_gradient=False,
        call=without_out("linalg_cond")),
    row("linalg_cond.p_str", lambda make: [Sample((make(3, 3), "fro")), Sample((make(3, 3), "nuc"))],
        torch_gradient=False,
        call=without_out("linalg_cond")),
    row("linalg_tensorinv", of(((2, 2, 4),), ((1, 2, 2),)),
        call=without_out("linalg_tensorinv")),
    row("linalg_tensorsolve", of(((2, 2, 4), (2, 2)), ((2, 1, 2), (2, 1))),
        call=without_out("linalg_tensorsolve")),
    row("linalg_diagonal", of(((2, 3, 3),), ((3, 3),))),
    # no dtype of ours holds complex numbers: what is compared is the error for a matrix that is not square
    OpInfo("linalg_eig linalg_eigvals", of(((2, 3),)), dtypes=("complex64",),
           call=lambda lib, a: linalg(lib).linalg_eig(a)),
]  # fmt: skip
