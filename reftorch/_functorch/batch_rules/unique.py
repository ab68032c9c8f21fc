"""Batching rules of distinct elements.

Mirrors: aten/src/ATen/functorch/BatchRulesDynamic.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import dynamic_shape

batch_rule("_unique _unique2 unique_dim unique_consecutive unique_dim_consecutive")(dynamic_shape)
