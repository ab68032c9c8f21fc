"""Batching rules of copies into an existing tensor.

Mirrors: aten/src/ATen/functorch/BatchRulesBinaryOps.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import copied

batch_rule("copy_")(copied)
