"""Rows of LDL factors of symmetric matrices.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from typing import Any

from tests.op_db.core import Library
from tests.op_db.samples.decompositions import SQUARE, call_with, calls, linalg, row
from tests.op_db.samples.linalg import of


def ldl_factor_and_solve(lib: Library, a: Any, b: Any, **kwargs: Any) -> Any:
    return linalg(lib).linalg_ldl_solve(*linalg(lib).linalg_ldl_factor(a), b, **kwargs)


ROWS = [
    row("linalg_ldl_factor_ex", of(SQUARE, ((2, 3, 3),), ((0, 0),)), gradcheck=False),
    row("linalg_ldl_factor", of(SQUARE, ((2, 3, 3),)), gradcheck=False),
    row(
        "linalg_ldl_solve",
        calls(call_with((3, 3), (3, 2)), call_with((2, 3, 3), (3, 2))),
        call=ldl_factor_and_solve,
        gradcheck=False,
    ),
]
