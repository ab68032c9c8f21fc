"""Factors, solutions, inverses, determinants and norms of matrices.

Mirrors: torch/testing/_internal/opinfo/definitions/linalg.py
Leaves out: complex matrices.

The signs of eigenvectors and singular vectors are LAPACK's choice, and the two libraries have different ones: what is
compared does not depend on them. Where values repeat, whole vectors are a choice: what they make up is compared.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, Apart, Input, Inputs, Library, OpInfo, Sample
from tests.op_db.linalg import of


def not_finite(sample: Sample) -> bool:
    return not all(np.isfinite(leaf.values).all() for leaf in sample.args if isinstance(leaf, Input))


NOT_FINITE = Apart("what LAPACK makes of a matrix with infinities or NaN is no answer", when=not_finite)


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    # A float32 matrix that is nearly singular loses digits by nature.
    return OpInfo(
        ops, samples, dtypes=DTYPES, rtol=2e-3, **{**options, "apart": (NOT_FINITE, *options.get("apart", ()))}
    )


def linalg(lib: Library) -> Any:
    return lib._C._linalg


def positive(lib: Library, a: Any) -> Any:
    """A symmetric positive-definite matrix from any matrix."""
    return a @ a.mT + lib.eye(a.shape[-2], dtype=a.dtype)


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


def apart(values: np.ndarray) -> bool:
    """Whether no two of these, in order, are nearly the same."""
    if values.size == 0:
        return True
    gaps = np.abs(np.diff(values, axis=-1))
    return bool((gaps > 1e-3 * np.abs(values).max()).all())


def repeated_values(sample: Sample) -> bool:
    """Whether a matrix has equal or zero singular values, or its sum with its transpose equal eigenvalues."""
    for leaf in sample.args:
        if isinstance(leaf, Input) and leaf.is_float and leaf.values.ndim > 1 and np.isfinite(leaf.values).all():
            values = leaf.values
            dims = sample.kwargs.get("dim")
            if isinstance(dims, tuple) and len({d % values.ndim for d in dims}) == 2:
                values = np.moveaxis(values, dims, (-2, -1))
            singular = np.linalg.svd(values, compute_uv=False)
            if not apart(np.concatenate([singular, np.zeros_like(singular[..., :1])], axis=-1)):
                return True
            square = values.shape[-1] == values.shape[-2]
            if square and not apart(np.linalg.eigvalsh(values + values.swapaxes(-1, -2))):
                return True
    return False


NOT_UNIQUE = Apart("no slope where singular values or eigenvalues repeat", says="gradient of", when=repeated_values)


NO_FULL_RANK = Apart("the factors of a matrix that has not full rank are not unique", when=repeated_values)
VIEW = Apart("torch asks for a view where only a copy can be", says="view size is not compatible")
SINGULAR = Apart("the inverse of a matrix that is nearly singular is rounding", when=repeated_values)
SINGULAR_SLOPE = Apart(
    "the slope of a determinant needs the inverse, which is rounding where the matrix is nearly singular",
    says="gradient of",
    when=repeated_values,
)


def has_one_right_hand_side(sample: Sample) -> bool:
    A, B = (leaf.values for leaf in sample.args[:2])
    return B.ndim == A.ndim - 1 and B.shape != A.shape[:-1]


def has_larger_right_hand_side(sample: Sample) -> bool:
    A, B = (leaf.values for leaf in sample.args[:2])
    return B.ndim == A.ndim and B.shape[:-2] != A.shape[:-2]


def svd_without_signs(lib: Library, a: Any, *args: Any) -> Any:
    """Vectors are compared where they are unique up to their sign, what they make up always."""
    U, S, Vh = linalg(lib).linalg_svd(a, *args)
    k = S.shape[-1]
    made = (U[..., :k] * S.unsqueeze(-2)) @ Vh[..., :k, :]
    if not unique(S):
        return S, made
    return U[..., :k].abs(), S, Vh[..., :k, :].abs(), made, U[..., :k] @ Vh[..., :k, :]


def unique(S: Any) -> bool:
    values = S.detach().numpy()
    return apart(np.concatenate([values, np.zeros_like(values[..., :1])], axis=-1))


def old_svd_without_signs(lib: Library, a: Any, *args: Any) -> Any:
    U, S, V = lib.svd(a, *args)
    if not unique(S) or U.shape[-1] != V.shape[-1]:
        k = S.shape[-1]
        return S, (U[..., :k] * S.unsqueeze(-2)) @ V[..., :k].mT
    return U.abs(), S, V.abs(), U @ V.mT


def without_signs(values: Any, vectors: Any) -> Any:
    made = (vectors * values.unsqueeze(-2)) @ vectors.mT
    return (values, vectors.abs(), made) if apart(values.detach().numpy()) else (values, made)


def eigh_without_signs(lib: Library, a: Any, *args: Any) -> Any:
    return without_signs(*linalg(lib).linalg_eigh(a + a.mT, *args))


def hidden_eigh(lib: Library, a: Any) -> Any:
    return without_signs(*lib._linalg_eigh(a + a.mT))


def lu_factor_and_solve(lib: Library, a: Any, b: Any, **kwargs: Any) -> Any:
    return linalg(lib).linalg_lu_solve(*dominant("linalg_lu_factor")(lib, a), b, **kwargs)


def ldl_factor_and_solve(lib: Library, a: Any, b: Any, **kwargs: Any) -> Any:
    return linalg(lib).linalg_ldl_solve(*linalg(lib).linalg_ldl_factor(a), b, **kwargs)


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


SQUARE = ((3, 3),)
NO_REFLECTIONS = Apart(
    "torch has a node without gradients for a product of no reflections, a constant", says="gradient of",
    when=lambda sample: sample.args[0].values.size == 0 or sample.args[1].values.size == 0,
)  # fmt: skip

ROWS = [
    # LU and what rests on it
    row("linalg_lu_factor_ex", of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), apart=(NOT_UNIQUE,)),
    row("linalg_lu_factor", of(SQUARE, ((4, 2),), ((2, 3, 3),)), apart=(NOT_UNIQUE,)),
    row("linalg_lu", of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), apart=(NOT_UNIQUE,)),
    row("lu_unpack", of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), call=unpacked, out=False, apart=(NOT_UNIQUE,)),
    row("linalg_lu_solve", calls(call_with((3, 3), (3, 2)), call_with((3, 3), (3, 2), adjoint=True),
                                 call_with((3, 3), (2, 3), left=False),
                                 call_with((3, 3), (2, 3), left=False, adjoint=True),
                                 call_with((2, 3, 3), (3, 2))), call=lu_factor_and_solve),
    row("linalg_ldl_factor_ex", of(SQUARE, ((2, 3, 3),), ((0, 0),)), gradcheck=False),
    row("linalg_ldl_factor", of(SQUARE, ((2, 3, 3),)), gradcheck=False),
    row("linalg_ldl_solve", calls(call_with((3, 3), (3, 2)), call_with((2, 3, 3), (3, 2))), call=ldl_factor_and_solve,
        gradcheck=False),
    row("lu_solve", of(((3, 3), (3, 2))), call=old_lu_solve, out=False),
    row("_linalg_solve_ex linalg_solve linalg_solve_ex",
        calls(of(((3, 3), (3, 2)), ((3, 3), (3,)), ((2, 3, 3), (3, 2)), ((2, 3, 3), (2, 3))),
              call_with((3, 3), (2, 3), left=False)), call=dominant("linalg_solve")),
    row("linalg_inv_ex", of(SQUARE, ((2, 3, 3),)), apart=(SINGULAR,)),
    row("linalg_inv", of(SQUARE, ((2, 3, 3),), ((0, 0),)), apart=(SINGULAR,)),
    row("inverse", of(SQUARE, ((2, 3, 3),)), apart=(SINGULAR,)),
    row("_linalg_det linalg_det", of(SQUARE, ((2, 3, 3),), ((0, 0),)),
        call=lambda lib, a: linalg(lib).linalg_det(a), out=False, apart=(SINGULAR_SLOPE,)),
    row("det", of(SQUARE, ((2, 3, 3),)), apart=(SINGULAR_SLOPE,)),
    row("_linalg_slogdet linalg_slogdet", of(SQUARE, ((2, 3, 3),)),
        call=lambda lib, a: linalg(lib).linalg_slogdet(a), out=False, apart=(SINGULAR_SLOPE,)),
    row("slogdet", of(SQUARE, ((2, 3, 3),)), apart=(SINGULAR_SLOPE,)),
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
                           call_with((2, 4), mode="complete")), apart=(NO_FULL_RANK,)),
    row("qr", of(SQUARE, ((4, 2),)), apart=(NO_FULL_RANK,)),
    row("_linalg_svd linalg_svd",
        calls(of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), lambda make: [Sample((make(4, 2), False))]),
        call=svd_without_signs, out=False, apart=(NOT_UNIQUE,)),
    row("svd", of(SQUARE, ((4, 2),), ((2, 4),)), call=old_svd_without_signs, out=False, apart=(NOT_UNIQUE,)),
    row("linalg_svdvals", of(SQUARE, ((4, 2),), ((2, 3, 3),)), apart=(NOT_UNIQUE,)),
    row("linalg_eigh", calls(of(SQUARE, ((2, 3, 3),)), lambda make: [Sample((make(3, 3), "U"))]),
        call=eigh_without_signs, apart=(NOT_UNIQUE,)),
    row("_linalg_eigh", of(SQUARE), call=hidden_eigh, out=False, apart=(NOT_UNIQUE,)),
    row("linalg_eigvalsh", of(SQUARE, ((2, 3, 3),)),
        call=lambda lib, a: linalg(lib).linalg_eigvalsh(a + a.mT), apart=(NOT_UNIQUE,)),
    # least squares
    row("linalg_lstsq", calls(of(((4, 2), (4, 2)), ((2, 4), (2, 2)), ((4, 2), (4,)), ((2, 4, 2), (2, 4, 2))),
                              call_with((4, 2), (4, 2), driver="gels"), call_with((4, 2), (4, 2), driver="gelsd"),
                              call_with((2, 4, 2), (2, 4, 2), driver="gelss")), apart=(
        Apart("torch takes the rows of a single right-hand side for a batch", when=has_one_right_hand_side),
        Apart("torch has room for the ranks of one batch only where the other is the larger one",
              when=has_larger_right_hand_side),
        NO_FULL_RANK)),
    row("linalg_pinv.atol_rtol_float linalg_pinv.atol_rtol_tensor",
        calls(of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), call_with((4, 2), atol=0.1, rtol=0.1)),
        call=lambda lib, a, **kwargs: linalg(lib).linalg_pinv(a, **kwargs)),
]  # fmt: skip

ROWS += [
    row("linalg_pinv linalg_pinv.rcond_tensor", lambda make: [Sample((make(4, 2), 0.1))]),
    row("pinverse", of(((4, 2),)), apart=(SINGULAR,)),
    row("linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor",
        calls(of(SQUARE, ((2, 4, 2),)), call_with((4, 2), atol=1.0, rtol=0.1)),
        call=lambda lib, a, **kwargs: linalg(lib).linalg_matrix_rank(a, **kwargs)),
    row("linalg_matrix_rank linalg_matrix_rank.tol_tensor",
        lambda make: [Sample((make(4, 2), 1.0))]),
    # powers
    row("linalg_matrix_power",
        lambda make: [Sample((make(3, 3), n)) for n in (0, 1, 2, 3, 6, -1, -2)]),
    row("matrix_power", lambda make: [Sample((make(2, 3, 3), 3)), Sample((make(2, 2), 3))], low=-1, high=1),
    # torch's has no correct digit in 16 bits
    row("linalg_matrix_exp",
        lambda make: [] if make.dtype in ("float16", "bfloat16") else of(SQUARE, ((2, 2, 2),))(make), low=-1, high=1,
        apart=(VIEW,)),
    # norms
    row("linalg_vector_norm", calls(of(((2, 3),), ((),)), *(call_with((2, 3), ord=ord, dim=dim, keepdim=True)
        for ord in (2, 1, 3.5, 0, float("inf"), -float("inf"), -2) for dim in (1, (0, 1))))),
    row("linalg_matrix_norm", lambda make: [
        Sample((make(2, 3, 2), ord)) for ord in (1, 2, -1, -2, float("inf"), -float("inf"))], apart=(NOT_UNIQUE,)),
    row("linalg_matrix_norm.str_ord", lambda make: [
        Sample((make(2, 3, 2), ord), {"keepdim": True, "dim": (0, 2)}) for ord in ("fro", "nuc")],
        call=lambda lib, *args, **kwargs: linalg(lib).linalg_matrix_norm(*args, **kwargs),  # torch lays out= out anew
        apart=(NOT_UNIQUE,)),
    row("linalg_norm", calls(of(((2, 3),), ((3,),)), lambda make: [
        Sample((make(2, 3), 1)), Sample((make(2, 3), 1, 1)), Sample((make(2, 3), None, (0, 1)))])),
    row("linalg_norm.ord_str", lambda make: [Sample((make(2, 3), "fro")), Sample((make(2, 3), "nuc"))],
        apart=(NOT_UNIQUE,)),
    row("linalg_cond", lambda make: [Sample((make(3, 3),)), Sample((make(3, 3), 1)), Sample((make(4, 2), -2))],
        torch_gradient=False, apart=(SINGULAR,)),
    row("linalg_cond.p_str", lambda make: [Sample((make(3, 3), "fro")), Sample((make(3, 3), "nuc"))],
        torch_gradient=False, apart=(SINGULAR,)),
    row("linalg_tensorinv", of(((2, 2, 4),), ((1, 2, 2),))),
    row("linalg_tensorsolve", of(((2, 2, 4), (2, 2)), ((2, 1, 2), (2, 1)))),
    row("linalg_diagonal", of(((2, 3, 3),), ((3, 3),))),
    row("matrix_exp",
        lambda make: [] if make.dtype in ("float16", "bfloat16") else of(SQUARE, ((2, 2, 2),))(make), low=-1, high=1,
        apart=(VIEW,)),
    # products of reflections
    row("geqrf", of(((4, 2),), ((2, 3, 3),)), gradcheck=False, apart=(NO_FULL_RANK,)),
    row("linalg_householder_product", of(((4, 2), (2,)), ((2, 3, 3), (2, 2)), ((4, 3), (1,))), low=-1, high=1,
        apart=(NO_REFLECTIONS,)),
    row("orgqr", of(((4, 2), (2,))), low=-1, high=1, apart=(NO_REFLECTIONS,)),
    row("ormqr", calls(of(((4, 2), (2,), (4, 3))), call_with((4, 2), (2,), (3, 4), left=False),
                       call_with((4, 2), (2,), (4, 3), transpose=True)), low=-1, high=1),
    # no dtype of ours holds complex numbers: what is compared is the error for a matrix that is not square
    OpInfo("linalg_eig linalg_eigvals", of(((2, 3),)), dtypes=("complex64",),
           call=lambda lib, a: linalg(lib).linalg_eig(a),
           apart=(Apart("no dtype of ours holds complex numbers", says="reftorch has no complex dtypes"),)),
]  # fmt: skip
