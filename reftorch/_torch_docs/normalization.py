"""What brings numbers to mean 0 and variance 1.

Mirrors: torch/_torch_docs.py
Leaves out: the notes on devices.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "layer_norm",
    r"""
Give the last dimensions mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`. Its public name
is ``torch.nn.functional.layer_norm``.

Args:
    normalized_shape: the sizes of these dimensions.
    weight: :math:`w`, of that shape; ones by default.
    bias: :math:`b`, of that shape; zeros by default.
    eps: :math:`\epsilon`.
    cudnn_enable: means nothing on a CPU.

Shape: that of ``input``.

Example:
    >>> torch.layer_norm(torch.tensor([[1.0, 2.0, 3.0]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
""",
)

add_docstr(
    "native_layer_norm",
    r"""
Return the result of :func:`layer_norm`, the means :math:`\mu`, and :math:`1 / \sqrt{\sigma^2 + \epsilon}`.

Args:
    normalized_shape: the sizes of the last dimensions, which are brought to mean 0 and variance 1.
    weight: what the result is multiplied with, of that shape.
    bias: what is added to it, of that shape.
    eps: :math:`\epsilon`.

Shape: that of ``input``; and twice that with 1 in the last dimensions.

Example:
    >>> torch.native_layer_norm(torch.tensor([[1.0, 2.0, 3.0]]), (3,), None, None, 1e-5)[1]
    tensor([[2.]])
""",
)

add_docstr(
    "native_layer_norm_backward",
    """
Return the gradients of :func:`layer_norm` for ``input``, ``weight`` and ``bias``.

Args:
    normalized_shape: as in the call.
    mean: its second result.
    rstd: its third result.
    output_mask: which of the three are wanted.

Shape: those of ``input``, ``weight`` and ``bias``.

Example:
    >>> x, one = torch.tensor([[1.0, 3.0]]), torch.ones(1, 1)
    >>> torch._C._nn.native_layer_norm_backward(x, x, (2,), 2 * one, one, None, None, [True, False, False])[0]
    tensor([[0., 0.]])
""",
)
