"""The derivative of a layer of an LSTM.

Mirrors: tools/autograd/derivatives.yaml (mkldnn_rnn_layer), aten/src/ATen/native/RNN.cpp
(mkldnn_rnn_layer_differentiable_backward)
Leaves out: layers of a GRU.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives.lstm_cell import cell_backward_by_ops

_fn, _nn = _C._VariableFunctions, _C._nn


def _by_ops(grads: Any, input: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, hx: Any, cx: Any, reverse: bool) -> Any:
    """The gradients of the layer, made of ops that have derivatives themselves.

    The states are computed again, so that a second derivative finds how they depend on the arguments. Then the steps
    are walked from the last one to the first.
    """
    steps = range(len(input))[:: -1 if reverse else 1]
    of_input = _nn.linear(input, w_ih, b_ih)
    h, c = hx, cx
    read = {}  # what each step read: the last states, and the gates before sigmoid and tanh
    for t in steps:
        gates = of_input[t] + _nn.linear(h, w_hh, b_hh)
        read[t] = h, c, gates
        i, f, g, o = gates.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()

    grad_output, grad_h, grad_c = grads
    grad_h, grad_c = (_fn.zeros_like(hx) if grad is None else grad for grad in (grad_h, grad_c))
    grad_gates, grad_w_hh = {}, _fn.zeros_like(w_hh)
    for t in reversed(steps):
        h, c, gates = read[t]
        if grad_output is not None:
            grad_h = grad_h + grad_output[t]
        grad_gates[t], grad_c = cell_backward_by_ops(grad_h, grad_c, gates, c)
        grad_h = grad_gates[t] @ w_hh
        grad_w_hh = grad_w_hh + grad_gates[t].t() @ h
    of_all = _fn.stack([grad_gates[t] for t in range(len(input))])
    grad_w_ih = of_all.flatten(0, 1).t() @ input.flatten(0, 1)
    grad_bias = of_all.sum((0, 1))
    return of_all @ w_ih, grad_w_ih, grad_w_hh, grad_bias, grad_bias, grad_h, grad_c


# The workspace exists for backward only: it has no gradient itself.
@derivative(
    "mkldnn_rnn_layer",
    inputs=["input", "weight0", "weight1", "weight2", "weight3", "hx_", "cx_"],
    output_differentiability=[True, True, True, False],
)
def mkldnn_rnn_layer(
    grads: Any, input: Any, weight0: Any, weight1: Any, weight2: Any, weight3: Any, hx_: Any, cx_: Any, reverse: Any,
    batch_sizes: Any, mode: Any, hidden_size: Any, num_layers: Any, has_biases: Any, bidirectional: Any,
    batch_first: Any, train: Any, result0: Any, result1: Any, result2: Any, result3: Any,
) -> Any:  # fmt: skip
    arguments = (input, weight0, weight1, weight2, weight3, hx_, cx_)
    if not _C.is_grad_enabled():
        grad_output, grad_hy, grad_cy = grads
        return _nn.mkldnn_rnn_layer_backward(
            *arguments, result0, result1, result2, grad_output, grad_hy, grad_cy, reverse, mode, hidden_size,
            num_layers, has_biases, train, bidirectional, batch_sizes, batch_first, result3,
        )  # fmt: skip
    if not has_biases:
        arguments = (input, weight0, weight1, None, None, hx_, cx_)
    return _by_ops(grads, *arguments, reverse)
