"""Batching rules of splitting a tensor.

Mirrors: aten/src/ATen/functorch/BatchRulesViews.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import part

batch_rule("unsafe_split.Tensor unsafe_split_with_sizes")(part)
