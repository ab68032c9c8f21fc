"""Batching rules of answers: real, in a set, close, equal.

Mirrors: aten/src/ATen/functorch/BatchRulesUnaryOps.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import one_answer, pointwise

batch_rule("isreal isin.Tensor_Scalar")(pointwise)
batch_rule("equal allclose is_nonzero")(one_answer)
