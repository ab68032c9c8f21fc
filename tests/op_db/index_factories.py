"""Rows of the indices of triangles.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.samples.factories import calls, row

# The results have no gradient: values only.
VALUES = [
    row("tril_indices", calls((3, 4), (4, 2, 1), (3, 3, -5), (0, 2)), dtypes=("int64", "int32")),
    row("triu_indices", calls((3, 4), (4, 2, 1), (3, 3, -5), (0, 2)), dtypes=("int64", "int32")),
]
