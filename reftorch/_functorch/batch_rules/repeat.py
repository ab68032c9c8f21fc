"""Batching rules of repetitions of elements.

Mirrors: aten/src/ATen/functorch/BatchRulesDynamic.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import dynamic_shape

batch_rule("repeat_interleave.Tensor")(dynamic_shape)
