"""Batching rules of Cholesky, QR, singular value and eigenvalue factors of matrices.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import matrices

batch_rule("""
    linalg_cholesky_ex cholesky_solve cholesky_inverse linalg_solve_triangular triangular_solve linalg_qr
    _linalg_svd _linalg_eigh linalg_lstsq
""")(matrices)
