"""Batching rules of reductions: sums, means, products, norms, variances, all and any.

Mirrors: aten/src/ATen/functorch/BatchRulesReduceOps.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import over_all, over_dim, over_dims

batch_rule("""
    sum.dim_IntList mean.dim nansum logsumexp norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype all.dims any.dims
    var.correction std.correction var_mean.correction std_mean.correction
""")(over_dims)
batch_rule("prod.dim_int all.dim any.dim")(over_dim)
batch_rule("sum")(over_all("sum.dim_IntList", lambda args: ([1], False, args[1])))
batch_rule("mean")(over_all("mean.dim", lambda args: ([1], False, args[1])))
batch_rule("prod")(over_all("prod.dim_int", lambda args: (1, False, args[1])))
batch_rule("all")(over_all("all.dim", lambda args: (1, False)))
batch_rule("any")(over_all("any.dim", lambda args: (1, False)))
batch_rule("norm.Scalar")(over_all("norm.ScalarOpt_dim", lambda args: (args[1], [1], False)))
batch_rule("norm.ScalarOpt_dtype")(over_all("norm.ScalarOpt_dim_dtype", lambda args: (args[1], [1], False, args[2])))
