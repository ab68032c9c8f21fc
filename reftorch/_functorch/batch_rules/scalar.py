"""Batching rules of reading the value of a tensor as a number.

Mirrors: aten/src/ATen/functorch/BatchRulesDynamic.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import one_answer

batch_rule("_local_scalar_dense")(one_answer)
