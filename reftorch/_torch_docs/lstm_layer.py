r"""The docs of a layer of an LSTM.

Mirrors: aten/src/ATen/native/mkldnn/RNN.cpp
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "mkldnn_rnn_layer",
    r"""
Run one layer of long short-term memory over all steps of padded sequences, in one direction.

The docs of ``torch.nn.LSTM`` have the formulas. ``torch.nn.LSTM`` calls the op for float32 on the CPU. In PyTorch, the
op calls the library oneDNN, which gave it its name; here, it calls a BLAS and a kernel of its own.

Args:
    input: the steps, :math:`(T, B, I)`, not empty.
    weight0: the weight of the input, :math:`(4 H, I)`.
    weight1: the weight of the state, :math:`(4 H, H)`.
    weight2: a bias, :math:`(4 H)`.
    weight3: another bias, :math:`(4 H)`.
    hx_: the first state h, :math:`(B, H)`.
    cx_: the first state c, :math:`(B, H)`.
    reverse: whether to run from the last step to the first.
    batch_sizes: an empty list: packed sequences are not supported.
    mode: 2, which stands for an LSTM.
    hidden_size: the number :math:`H`.
    num_layers: how many layers the network has; not read.
    has_biases: whether to add the biases. If not, they are given all the same.
    bidirectional: whether the network has a second direction; not read.
    batch_first: not read: the first dimension of input has the steps.
    train: whether to return the workspace.

Shape: the states h of all steps, :math:`(T, B, H)`, the last states h and c, :math:`(B, H)`, and the workspace for
    backward, :math:`(5 T B H)`, which is empty if ``train`` is False; backward then computes it.

Raises:
    RuntimeError: the sizes, dtypes or devices do not fit, or the mode is not 2.

Example:
    >>> weights = torch.zeros(4, 1), torch.zeros(4, 1), torch.zeros(4), torch.zeros(4)
    >>> state = torch.zeros(1, 1), torch.ones(1, 1)
    >>> h, last_h, last_c, _ = torch.mkldnn_rnn_layer(
    ...     torch.zeros(2, 1, 1), *weights, *state, False, [], 2, 1, 1, True, False, False, False
    ... )
    >>> h.flatten(), last_c
    (tensor([0.2311, 0.1225]), tensor([[0.2500]]))
""",
)

add_docstr(
    "mkldnn_rnn_layer_backward",
    r"""
Return the gradients of :func:`mkldnn_rnn_layer`.

Args:
    input: as in the forward call.
    weight1: the argument ``weight0`` of the forward call: the weights have other numbers here.
    weight2: the argument ``weight1`` of the forward call.
    weight3: the argument ``weight2`` of the forward call.
    weight4: the argument ``weight3`` of the forward call.
    hx_: as in the forward call.
    cx_tmp: the argument ``cx_`` of the forward call.
    output: the first result of the forward call.
    hy_: the second result of the forward call; not read.
    cy_: the third result of the forward call; not read.
    grad_output: the gradient of the first result; None means zeros.
    grad_hy: the gradient of the second result; None means zeros.
    grad_cy: the gradient of the third result; None means zeros.
    reverse: as in the forward call.
    mode: as in the forward call.
    hidden_size: as in the forward call.
    num_layers: as in the forward call.
    has_biases: as in the forward call. If it is False, the gradients of the biases are zeros.
    train: as in the forward call.
    bidirectional: as in the forward call.
    batch_sizes: as in the forward call.
    batch_first: as in the forward call.
    workspace: the fourth result of the forward call.

Shape: the gradients of input, of the four weights, of hx_ and of cx_; None for all without any gradient.

Raises:
    RuntimeError: the sizes, dtypes or devices do not fit, or the mode is not 2.

Example:
    >>> weights = torch.zeros(4, 1), torch.zeros(4, 1), torch.zeros(4), torch.zeros(4)
    >>> args = (torch.zeros(2, 1, 1), *weights, torch.zeros(1, 1), torch.ones(1, 1))
    >>> results = torch.mkldnn_rnn_layer(*args, False, [], 2, 1, 1, True, False, False, True)
    >>> torch.ops.aten.mkldnn_rnn_layer_backward(
    ...     *args, *results[:3], None, None, torch.ones(1, 1), False, 2, 1, 1, True, True, False, [], False, results[3]
    ... )[6]
    tensor([[0.2500]])
""",
)
