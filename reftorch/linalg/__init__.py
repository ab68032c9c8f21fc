"""Linear algebra on matrices and batches of matrices: the last two dimensions are the matrix, the others the batch.

Mirrors: torch/linalg/__init__.py
Leaves out: ``eig`` and ``eigvals`` raise an error, because there are no complex dtypes.

The ops are written in C++ and reach Python as ``_C._linalg.linalg_*``; this package gives them PyTorch's names and
their docstrings. LAPACK does the work, in float32 and float64, and on the host: the matrices of a CUDA device are
copied there, and the results are copied back.
"""

from reftorch import _places as _places
from reftorch._C import _linalg
from reftorch._C import _LinAlgError as LinAlgError
from reftorch._torch_function import overridable_as_op as _overridable_as_op
from reftorch.linalg._factors import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    ldl_factor,
    ldl_factor_ex,
    lu,
    lu_factor,
    lu_factor_ex,
    qr,
    svd,
    svdvals,
)
from reftorch.linalg._norms import cond, det, matrix_norm, matrix_rank, norm, slogdet, vector_norm
from reftorch.linalg._products import cross, diagonal, matmul, matrix_exp, matrix_power, multi_dot, vander, vecdot
from reftorch.linalg._solvers import (
    inv,
    inv_ex,
    ldl_solve,
    lstsq,
    lu_solve,
    pinv,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

# In PyTorch these names are the ops themselves. Here a call with an argument that overrides ops goes on to the op.
for _name in __all__:
    if _op := getattr(_linalg, f"linalg_{_name}", None):
        globals()[_name] = _overridable_as_op(globals()[_name], _op)

_places.adopt(__name__, [name for name in __all__ if name != "LinAlgError"], globals())
