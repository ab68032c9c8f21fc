"""Batching rules of the fused cell of an LSTM.

Mirrors: nothing in PyTorch: its fused cell is an op of GPUs and has no rule there.
Leaves out: a rule of its own, because a network under vmap takes the small operations (Note [Fused LSTM cell]).
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import one_by_one

batch_rule("_thnn_fused_lstm_cell")(one_by_one)
batch_rule("_thnn_fused_lstm_cell_backward")(one_by_one)
