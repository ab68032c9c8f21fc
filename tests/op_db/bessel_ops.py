"""Rows of Bessel functions and Airy's function.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import DTYPES, OpInfo, Sample
from tests.op_db.samples.special import SPECIAL_POINTS, module
from tests.op_db.samples.unary import elementwise

BESSEL = (
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "spherical_bessel_j0",
)

ROWS = [
    *(
        # Beside a zero of the function few digits agree.
        OpInfo(f"special_{name}", elementwise, dtypes=DTYPES, low=0.1, high=20, call=module(name), rtol=1e-4)
        for name in BESSEL
    ),
]

# Values only.
SPECIAL = [
    *(
        OpInfo(row.ops, lambda make: [Sample((make.of(*SPECIAL_POINTS),))], dtypes=DTYPES, call=row.call, rtol=row.rtol)
        for row in ROWS
    ),
]
