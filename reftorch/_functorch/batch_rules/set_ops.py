"""Batching rules of membership, and classes as unit vectors.

Mirrors: aten/src/ATen/functorch/BatchRulesUnaryOps.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import pointwise

batch_rule("isin.Tensor_Scalar")(pointwise)
