"""Rows of Cholesky, QR, singular value and eigenvalue factors of matrices.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Library, OpInfo, Sample
from tests.op_db.samples.decompositions import (
    NO_FULL_RANK,
    NOT_UNIQUE,
    SQUARE,
    apart,
    call_with,
    calls,
    dominant,
    linalg,
    on_positive,
    positive,
    row,
)
from tests.op_db.samples.linalg import of


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
    values = S.detach().cpu().numpy()
    return apart(np.concatenate([values, np.zeros_like(values[..., :1])], axis=-1))


def old_svd_without_signs(lib: Library, a: Any, *args: Any) -> Any:
    U, S, V = lib.svd(a, *args)
    if not unique(S) or U.shape[-1] != V.shape[-1]:
        k = S.shape[-1]
        return S, (U[..., :k] * S.unsqueeze(-2)) @ V[..., :k].mT
    return U.abs(), S, V.abs(), U @ V.mT


def without_signs(values: Any, vectors: Any) -> Any:
    made = (vectors * values.unsqueeze(-2)) @ vectors.mT
    return (values, vectors.abs(), made) if apart(values.detach().cpu().numpy()) else (values, made)


def eigh_without_signs(lib: Library, a: Any, *args: Any) -> Any:
    values, vectors = linalg(lib).linalg_eigh(a + a.mT, *args)
    return without_signs(values, vectors)


def hidden_eigh(lib: Library, a: Any) -> Any:
    values, vectors = lib._linalg_eigh(a + a.mT)
    return without_signs(values, vectors)


def lower_factor_first(name: str) -> Callable[..., Any]:
    """The op on the Cholesky factor of the second matrix."""

    def call(lib: Library, b: Any, a: Any, upper: bool = False) -> Any:
        return getattr(lib, name)(b, linalg(lib).linalg_cholesky(positive(lib, a), upper=upper), upper)

    return call


def inverse_of_factor(lib: Library, a: Any, upper: bool = False) -> Any:
    return lib.cholesky_inverse(linalg(lib).linalg_cholesky(positive(lib, a), upper=upper), upper)


ROWS = [
    # Cholesky, triangles
    row("linalg_cholesky_ex", of(SQUARE, ((2, 3, 3),)), call=on_positive("linalg_cholesky_ex")),
    row("linalg_cholesky", calls(of(SQUARE), call_with((2, 3, 3), upper=True)), call=on_positive("linalg_cholesky")),
    row("cholesky", of(SQUARE), call=lambda lib, a: on_positive("cholesky")(lib, a), out=False),
    row(
        "cholesky_solve",
        calls(of(((3, 2), (3, 3)), ((3, 2), (2, 3, 3))), call_with((3, 2), (3, 3), upper=True)),
        call=lower_factor_first("cholesky_solve"),
        out=False,
    ),
    row("cholesky_inverse", calls(of(SQUARE), call_with((3, 3), upper=True)), call=inverse_of_factor, out=False),
    row(
        "linalg_solve_triangular",
        calls(
            call_with((3, 3), (3, 2), upper=True),
            call_with((3, 3), (3, 2), upper=False),
            call_with((2, 3, 3), (3, 2), upper=False, unitriangular=True),
            call_with((3, 3), (2, 3), upper=True, left=False),
        ),
        call=dominant("linalg_solve_triangular"),
    ),
    row(
        "triangular_solve",
        calls(
            of(((3, 2), (3, 3))),
            call_with((3, 2), (3, 3), upper=False, transpose=True),
            call_with((3, 2), (3, 3), unitriangular=True),
        ),
        call=lambda lib, b, a, **kwargs: lib.triangular_solve(b, a + 7 * lib.eye(3, dtype=a.dtype), **kwargs),
    ),
    # orthogonal factors
    row(
        "linalg_qr",
        calls(of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), call_with((2, 4), mode="complete")),
        apart=(NO_FULL_RANK,),
    ),
    row("qr", of(SQUARE, ((4, 2),)), apart=(NO_FULL_RANK,)),
    row(
        "_linalg_svd linalg_svd",
        calls(of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), lambda make: [Sample((make(4, 2), False))]),
        call=svd_without_signs,
        out=False,
        apart=(NOT_UNIQUE,),
    ),
    row("svd", of(SQUARE, ((4, 2),), ((2, 4),)), call=old_svd_without_signs, out=False, apart=(NOT_UNIQUE,)),
    row("linalg_svdvals", of(SQUARE, ((4, 2),), ((2, 3, 3),)), apart=(NOT_UNIQUE,)),
    row(
        "linalg_eigh",
        calls(of(SQUARE, ((2, 3, 3),)), lambda make: [Sample((make(3, 3), "U"))]),
        call=eigh_without_signs,
        apart=(NOT_UNIQUE,),
    ),
    row("_linalg_eigh", of(SQUARE), call=hidden_eigh, out=False, apart=(NOT_UNIQUE,)),
    row(
        "linalg_eigvalsh",
        of(SQUARE, ((2, 3, 3),)),
        call=lambda lib, a: linalg(lib).linalg_eigvalsh(a + a.mT),
        apart=(NOT_UNIQUE,),
    ),
    # least squares
    row(
        "linalg_lstsq",
        calls(
            of(((4, 2), (4, 2)), ((2, 4), (2, 2)), ((4, 2), (4,)), ((2, 4, 2), (2, 4, 2))),
            call_with((4, 2), (4, 2), driver="gels"),
            call_with((4, 2), (4, 2), driver="gelsd"),
            call_with((2, 4, 2), (2, 4, 2), driver="gelss"),
        ),
        apart=(
            Apart("torch takes the rows of a single right-hand side for a batch", when=has_one_right_hand_side),
            Apart(
                "torch has room for the ranks of one batch only where the other is the larger one",
                when=has_larger_right_hand_side,
            ),
            NO_FULL_RANK,
        ),
    ),
    # no dtype of ours holds complex numbers: what is compared is the error for a matrix that is not square
    OpInfo(
        "linalg_eig linalg_eigvals",
        of(((2, 3),)),
        dtypes=("complex64",),
        call=lambda lib, a: linalg(lib).linalg_eig(a),
        apart=(Apart("no dtype of ours holds complex numbers", says="reftorch has no complex dtypes"),),
    ),
]
