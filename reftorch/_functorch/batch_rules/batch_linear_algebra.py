"""Batching rules of LU factors, solutions, inverses and determinants of matrices.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import matrices

batch_rule("""
    linalg_lu_factor_ex linalg_lu lu_unpack linalg_lu_solve _linalg_solve_ex linalg_inv_ex _linalg_det
    _linalg_slogdet
""")(matrices)
