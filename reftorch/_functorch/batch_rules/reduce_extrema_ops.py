"""Batching rules of reductions to the largest and the smallest element.

Mirrors: aten/src/ATen/functorch/BatchRulesReduceOps.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import over_all, over_dim, over_dim_or_all, over_dims

batch_rule("amax amin")(over_dims)
batch_rule("max.dim min.dim")(over_dim)
batch_rule("argmax argmin aminmax")(over_dim_or_all)
batch_rule("max")(over_all("amax", lambda args: ([1], False)))
batch_rule("min")(over_all("amin", lambda args: ([1], False)))
