"""Batching rules of a layer of an LSTM.

Mirrors: nothing in PyTorch: its op of a layer has no rule there.
Leaves out: a rule of its own, because a network under vmap takes the small operations (Note [LSTM layer]).
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import one_by_one

batch_rule("mkldnn_rnn_layer")(one_by_one)
batch_rule("mkldnn_rnn_layer_backward")(one_by_one)
