"""Rows of window functions: weights for the samples of a signal.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import FLOATS
from tests.op_db.samples.factories import calls, row

# The results have no gradient: values only.
VALUES = [
    *(
        row(name, calls(*arguments), dtypes=FLOATS[:2])
        for name, arguments in {
            "bartlett_window": ((5,), (6, False), (1,), (0,)),
            "blackman_window": ((5,), (6, False), (1,), (0,)),
            "hann_window": ((5,), (6, False), (1,), (0,), (-1,)),
            "hamming_window": ((5,), (6, False), (6, True, 0.5), (6, True, 0.5, 0.4), (1,)),
            "kaiser_window": ((5,), (6, False), (6, True, 3.0), (1,)),
        }.items()
    ),
]
