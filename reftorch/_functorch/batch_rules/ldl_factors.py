"""Batching rules of LDL factors of symmetric matrices.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import matrices

batch_rule("linalg_ldl_factor_ex linalg_ldl_solve")(matrices)
