"""Batching rules of variances and standard deviations.

Mirrors: aten/src/ATen/functorch/BatchRulesReduceOps.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import over_dims

batch_rule("var.correction std.correction var_mean.correction std_mean.correction")(over_dims)
