"""Batching rules of sorting and order statistics.

Mirrors: aten/src/ATen/functorch/BatchRulesReduceOps.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import over_all, over_dim

batch_rule("median.dim nanmedian.dim mode kthvalue sort sort.stable topk")(over_dim)
batch_rule("median")(over_all("median.dim", lambda args: (1, False)))
batch_rule("nanmedian")(over_all("nanmedian.dim", lambda args: (1, False)))
