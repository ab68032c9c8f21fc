"""Batching rules of the negative log likelihood of images.

Mirrors: aten/src/ATen/functorch/BatchRulesLoss.cpp
"""

from reftorch._functorch.batch_rules import _nll
from reftorch._functorch.batch_rules._common import batch_rule

batch_rule("nll_loss2d_forward")(_nll.nll_loss_forward)
batch_rule("nll_loss2d_backward")(_nll.nll_loss_backward)
