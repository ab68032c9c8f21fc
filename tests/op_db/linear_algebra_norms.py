"""Rows of norms, ranks, powers and pseudo-inverses of matrices.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import Apart, Sample
from tests.op_db.distance import NORM_OF_NOTHING
from tests.op_db.samples.decompositions import NOT_UNIQUE, SINGULAR, SQUARE, call_with, calls, linalg, row
from tests.op_db.samples.linalg import of

VIEW = Apart("torch asks for a view where only a copy can be", says="view size is not compatible")

ROWS = [
    row(
        "linalg_pinv.atol_rtol_float linalg_pinv.atol_rtol_tensor",
        calls(of(SQUARE, ((4, 2),), ((2, 4),), ((2, 3, 3),)), call_with((4, 2), atol=0.1, rtol=0.1)),
        call=lambda lib, a, **kwargs: linalg(lib).linalg_pinv(a, **kwargs),
    ),
    row("linalg_pinv linalg_pinv.rcond_tensor", lambda make: [Sample((make(4, 2), 0.1))]),
    row("pinverse", of(((4, 2),)), apart=(SINGULAR,)),
    row(
        "linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor",
        calls(of(SQUARE, ((2, 4, 2),)), call_with((4, 2), atol=1.0, rtol=0.1)),
        call=lambda lib, a, **kwargs: linalg(lib).linalg_matrix_rank(a, **kwargs),
    ),
    row("linalg_matrix_rank linalg_matrix_rank.tol_tensor", lambda make: [Sample((make(4, 2), 1.0))]),
    # powers
    row("linalg_matrix_power", lambda make: [Sample((make(3, 3), n)) for n in (0, 1, 2, 3, 6, -1, -2)]),
    row("matrix_power", lambda make: [Sample((make(2, 3, 3), 3)), Sample((make(2, 2), 3))], low=-1, high=1),
    # torch's has no correct digit in 16 bits
    row(
        "linalg_matrix_exp",
        lambda make: [] if make.dtype in ("float16", "bfloat16") else of(SQUARE, ((2, 2, 2),))(make),
        low=-1,
        high=1,
        apart=(VIEW,),
    ),
    # norms
    row(
        "linalg_vector_norm",
        calls(
            of(((2, 3),), ((),)),
            *(
                call_with((2, 3), ord=ord, dim=dim, keepdim=True)
                for ord in (2, 1, 3.5, 0, float("inf"), -float("inf"), -2)
                for dim in (1, (0, 1))
            ),
        ),
        apart=(NORM_OF_NOTHING,),
    ),
    row(
        "linalg_matrix_norm",
        lambda make: [Sample((make(2, 3, 2), ord)) for ord in (1, 2, -1, -2, float("inf"), -float("inf"))],
        apart=(NOT_UNIQUE,),
    ),
    row(
        "linalg_matrix_norm.str_ord",
        lambda make: [Sample((make(2, 3, 2), ord), {"keepdim": True, "dim": (0, 2)}) for ord in ("fro", "nuc")],
        call=lambda lib, *args, **kwargs: linalg(lib).linalg_matrix_norm(*args, **kwargs),  # torch lays out= out anew
        apart=(NOT_UNIQUE,),
    ),
    row(
        "linalg_norm",
        calls(
            of(((2, 3),), ((3,),)),
            lambda make: [Sample((make(2, 3), 1)), Sample((make(2, 3), 1, 1)), Sample((make(2, 3), None, (0, 1)))],
        ),
    ),
    row(
        "linalg_norm.ord_str",
        lambda make: [Sample((make(2, 3), "fro")), Sample((make(2, 3), "nuc"))],
        apart=(NOT_UNIQUE,),
    ),
    row(
        "linalg_cond",
        lambda make: [Sample((make(3, 3),)), Sample((make(3, 3), 1)), Sample((make(4, 2), -2))],
        torch_gradient=False,
        apart=(SINGULAR,),
    ),
    row(
        "linalg_cond.p_str",
        lambda make: [Sample((make(3, 3), "fro")), Sample((make(3, 3), "nuc"))],
        torch_gradient=False,
        apart=(SINGULAR,),
    ),
    row("linalg_tensorinv", of(((2, 2, 4),), ((1, 2, 2),))),
    row("linalg_tensorsolve", of(((2, 2, 4), (2, 2)), ((2, 1, 2), (2, 1)))),
    row(
        "matrix_exp",
        lambda make: [] if make.dtype in ("float16", "bfloat16") else of(SQUARE, ((2, 2, 2),))(make),
        low=-1,
        high=1,
        apart=(VIEW,),
    ),
]
