"""Batching rules of the negative log likelihood.

Mirrors: aten/src/ATen/functorch/BatchRulesLoss.cpp
"""

from reftorch._functorch.batch_rules import _nll
from reftorch._functorch.batch_rules._common import batch_rule

batch_rule("nll_loss_forward")(_nll.nll_loss_forward)
batch_rule("nll_loss_backward")(_nll.nll_loss_backward)
