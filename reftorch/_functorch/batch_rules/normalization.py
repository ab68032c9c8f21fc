"""Batching rules of the normalization of channels over a batch.

Mirrors: aten/src/ATen/functorch/BatchRulesNorm.cpp
Leaves out: the statistics of all examples in one call; the examples run one by one.
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import one_by_one

batch_rule("native_batch_norm_backward")(one_by_one)
