"""Special values, and calls of functions of ``torch.special``.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from tests.op_db.core import INF, NAN

# From 88 to 91 torch's float Bessel functions are infinite already, where ours are not yet.
SPECIAL_POINTS = (0.0, -0.0, 1, -1, 0.5, 0.999, 1.5, 2.5, -0.5, -1.5, -2.7, INF, -INF, NAN, 1e-30, 12, 30, -40.5, 700)


def module(name: str) -> object:
    return lambda lib, *args, **kwargs: getattr(lib.special, name)(*args, **kwargs)
