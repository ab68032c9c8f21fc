"""Batching rules of scans: each result depends on its element and on all elements before it.

Mirrors: aten/src/ATen/functorch/BatchRulesReduceOps.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import over_dim

batch_rule("cumsum cumprod logcumsumexp cummax cummin")(over_dim)
