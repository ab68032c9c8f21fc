"""Batching rules of products of Householder reflections.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import matrices

batch_rule("geqrf")(matrices)
