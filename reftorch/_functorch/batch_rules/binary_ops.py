"""Batching rules of arithmetic of two tensors, or of a tensor and a number.

Mirrors: aten/src/ATen/functorch/BatchRulesBinaryOps.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import broadcasting

batch_rule("rsub.Tensor floor_divide")(broadcasting)
