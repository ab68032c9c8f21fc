"""The derivative of the fused cell of an LSTM.

Mirrors: tools/autograd/derivatives.yaml (_thnn_fused_lstm_cell), aten/src/ATen/native/cuda/RNN.cu
(_thnn_differentiable_lstm_cell_backward)
Leaves out: networks and cells, which are made of other ops; layers, see lstm_layer.py.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_fn, _nn = _C._VariableFunctions, _C._nn


def cell_backward_by_ops(grad_h: Any, grad_c: Any, sum: Any, cx: Any) -> tuple[Any, Any]:
    """The gradients of the sum of the gates and of cx, made of ops that have derivatives themselves. The state cy is
    computed again, so that a third derivative finds how cy depends on the gates."""
    i, f, g, o = sum.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    t = (f * cx + i * g).tanh()
    grad_c = grad_c + grad_h * o * (1 - t * t)
    parts = [
        grad_c * g * i * (1 - i),
        grad_c * cx * f * (1 - f),
        grad_c * i * (1 - g * g),
        grad_h * t * o * (1 - o),
    ]
    return _fn.cat(parts, 1), grad_c * f


# The workspace exists for backward only: it has no gradient itself.
@derivative(
    "_thnn_fused_lstm_cell",
    inputs=["input_gates", "hidden_gates", "cx", "input_bias", "hidden_bias"],
    output_differentiability=[True, True, False],
)
def thnn_fused_lstm_cell(
    grads: Any, input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any, hidden_bias: Any, result1: Any,
    result2: Any,
) -> Any:  # fmt: skip
    has_bias = input_bias is not None
    if not _C.is_grad_enabled():
        return _nn._thnn_fused_lstm_cell_backward(grads[0], grads[1], cx, result1, result2, has_bias)
    gates = input_gates + hidden_gates
    if has_bias:
        gates = gates + input_bias + hidden_bias
    grad_gates, grad_cx = cell_backward_by_ops(grads[0], grads[1], gates, cx)
    grad_bias = grad_gates.sum(0) if has_bias else None
    return grad_gates, grad_gates, grad_cx, grad_bias, grad_bias
