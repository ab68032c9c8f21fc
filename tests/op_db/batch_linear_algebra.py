"""Rows of LU factors, solutions, inverses and determinants of matrices.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from typing import Any

from tests.op_db.core import Apart, Library
from tests.op_db.samples.decompositions import (
    NOT_UNIQUE,
    SINGULAR,
    SQUARE,
    call_with,
    calls,
    dominant,
    linalg,
    on_positive,
    repeated_values,
    row,
)
from tests.op_db.samples.linalg import of

SINGULAR_SLOPE = Apart(
    "the slope of a determinant needs the inverse, which is rounding where the matrix is nearly singular",
    says="gradient of",
    when=repeated_values,
)


def lu_factor_and_solve(lib: Library, a: Any, b: Any, **kwargs: Any) -> Any:
    return linalg(lib).linalg_lu_solve(*dominant("linalg_lu_factor")(lib, a), b, **kwargs)


def old_lu_solve(lib: Library, a: Any, b: Any) -> Any:
    return lib.lu_solve(b, *dominant("linalg_lu_factor")(lib, a))


def unpacked(lib: Library, a: Any) -> Any:
    LU, pivots = linalg(lib).linalg_lu_factor(a)
    return lib.lu_unpack(LU, pivots)


ROWS = [
    # LU and what rests on it
    row("linalg_lu_factor_ex", of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), apart=(NOT_UNIQUE,)),
    row("linalg_lu_factor", of(SQUARE, ((4, 2),), ((2, 3, 3),)), apart=(NOT_UNIQUE,)),
    row("linalg_lu", of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), apart=(NOT_UNIQUE,)),
    row("lu_unpack", of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), call=unpacked, out=False, apart=(NOT_UNIQUE,)),
    row(
        "linalg_lu_solve",
        calls(
            call_with((3, 3), (3, 2)),
            call_with((3, 3), (3, 2), adjoint=True),
            call_with((3, 3), (2, 3), left=False),
            call_with((3, 3), (2, 3), left=False, adjoint=True),
            call_with((2, 3, 3), (3, 2)),
        ),
        call=lu_factor_and_solve,
    ),
    row("lu_solve", of(((3, 3), (3, 2))), call=old_lu_solve, out=False),
    row(
        "_linalg_solve_ex linalg_solve linalg_solve_ex",
        calls(
            of(((3, 3), (3, 2)), ((3, 3), (3,)), ((2, 3, 3), (3, 2)), ((2, 3, 3), (2, 3))),
            call_with((3, 3), (2, 3), left=False),
        ),
        call=dominant("linalg_solve"),
    ),
    row("linalg_inv_ex", of(SQUARE, ((2, 3, 3),)), apart=(SINGULAR,)),
    row("linalg_inv", of(SQUARE, ((2, 3, 3),), ((0, 0),)), apart=(SINGULAR,)),
    row("inverse", of(SQUARE, ((2, 3, 3),)), apart=(SINGULAR,)),
    row(
        "_linalg_det linalg_det",
        of(SQUARE, ((2, 3, 3),), ((0, 0),)),
        call=lambda lib, a: linalg(lib).linalg_det(a),
        out=False,
        apart=(SINGULAR_SLOPE,),
    ),
    row("det", of(SQUARE, ((2, 3, 3),)), apart=(SINGULAR_SLOPE,)),
    row(
        "_linalg_slogdet linalg_slogdet",
        of(SQUARE, ((2, 3, 3),)),
        call=lambda lib, a: linalg(lib).linalg_slogdet(a),
        out=False,
        apart=(SINGULAR_SLOPE,),
    ),
    row("slogdet", of(SQUARE, ((2, 3, 3),)), apart=(SINGULAR_SLOPE,)),
    row("logdet", of(SQUARE, ((2, 3, 3),)), call=on_positive("logdet")),
]
