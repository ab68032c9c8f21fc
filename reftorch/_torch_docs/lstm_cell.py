r"""The docs of the fused cell of an LSTM.

Mirrors: aten/src/ATen/native/cuda/RNN.cu
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "_thnn_fused_lstm_cell",
    r"""
Compute what a step of long short-term memory does after its products, in one loop.

The docs of ``torch.nn.LSTMCell`` have the formulas. In PyTorch, the op exists for GPUs only.

Args:
    input_gates: the products of the input, :math:`(B, 4 H)`: the gates i, f, g and o, one after the other.
    hidden_gates: the products of the last state, :math:`(B, 4 H)`.
    cx: the last state of the cell, :math:`(B, H)`.
    input_bias: a summand for each gate, :math:`(4 H)`, or None.
    hidden_bias: another one, or None. Both or none are given.

Shape: the next states h and c, :math:`(B, H)`, and the gates after sigmoid and tanh, :math:`(B, 4 H)`, for backward.

Raises:
    RuntimeError: the sizes, dtypes or devices do not fit.
    NotImplementedError: the dtype is a floating type of 16 bits.

Example:
    >>> h, c, gates = torch.ops.aten._thnn_fused_lstm_cell(torch.zeros(1, 4), torch.zeros(1, 4), torch.ones(1, 1))
    >>> c, gates
    (tensor([[0.5000]]), tensor([[0.5000, 0.5000, 0.0000, 0.5000]]))
""",
)

add_docstr(
    "_thnn_fused_lstm_cell_backward",
    r"""
Return the gradients of :func:`_thnn_fused_lstm_cell`, in one loop.

Args:
    grad_hy: the gradient of the next state h, :math:`(B, H)`; None means zeros.
    grad_cy: the gradient of the next state of the cell, :math:`(B, H)`; None means zeros.
    cx: the last state of the cell, as in the forward call.
    cy: the second result of the forward call.
    workspace: the third result of the forward call.
    has_bias: whether the gradient of the biases is wanted.

Shape: the gradients of the five arguments of the forward call; None for the biases without ``has_bias``, and for all
    without any gradient.

Raises:
    RuntimeError: the sizes, dtypes or devices do not fit.
    NotImplementedError: the dtype is a floating type of 16 bits.

Example:
    >>> h, c, gates = torch.ops.aten._thnn_fused_lstm_cell(torch.zeros(1, 4), torch.zeros(1, 4), torch.ones(1, 1))
    >>> torch.ops.aten._thnn_fused_lstm_cell_backward(None, torch.ones(1, 1), torch.ones(1, 1), c, gates, False)[2]
    tensor([[0.5000]])
""",
)
