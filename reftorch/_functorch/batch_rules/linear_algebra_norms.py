"""Batching rules of norms, ranks, powers and pseudo-inverses of matrices.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import matrices, over_dim_or_all

batch_rule("linalg_vector_norm")(over_dim_or_all)
batch_rule("linalg_pinv.atol_rtol_tensor linalg_matrix_exp")(matrices)
