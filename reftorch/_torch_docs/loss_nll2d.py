"""The negative log likelihood of images.

Mirrors: torch/nn/functional.py (nll_loss)
"""

from reftorch._torch_docs._entries import add_docstr

_ARGS = """Args:
    input: log-probabilities, :math:`(N, C, H, W)`.
    target: the class of each pixel, int64, :math:`(N, H, W)`.
    weight: weight of each class, :math:`(C)`; None means ones.
    reduction: 0 for the loss of each pixel, 1 for the mean, 2 for the sum.
    ignore_index: a class whose pixels do not count."""

add_docstr(
    "nll_loss2d",
    f"""
Return minus the log-probability of the class of each pixel. The public name is ``torch.nn.functional.nll_loss``.

{_ARGS}

Shape: no dimensions; with reduction 0, the shape of ``target``.

Raises:
    IndexError: a target is outside 0 to C - 1.

Example:
    >>> torch._C._nn.nll_loss2d(torch.full((1, 2, 1, 3), -0.5), torch.tensor([[[0, 1, 1]]]), None, 1, -100)
    tensor(0.5000)
""",
)
add_docstr(
    "nll_loss2d_forward",
    f"""
Return the loss of :func:`nll_loss2d` and the sum of the weights by which a mean is divided.

{_ARGS}

Shape: the loss as in :func:`nll_loss2d`; the sum has no dimensions.

Example:
    >>> x, classes = torch.full((1, 2, 1, 3), -0.5), torch.tensor([[[0, 1, 1]]])
    >>> torch.ops.aten.nll_loss2d_forward(x, classes, None, 1, -100)[1]
    tensor(3.)
""",
)
add_docstr(
    "nll_loss2d_backward",
    """
Return the gradient of :func:`nll_loss2d`, from the gradient of the loss and the sum of the weights.

Shape: the shape of ``input``, :math:`(N, C, H, W)`.

Example:
    >>> x, classes = torch.full((1, 2, 1, 2), -0.5), torch.tensor([[[0, 1]]])
    >>> torch.ops.aten.nll_loss2d_backward(torch.tensor(1.0), x, classes, None, 1, -100, torch.tensor(2.0))
    tensor([[[[-0.5000,  0.0000]],
    <BLANKLINE>
             [[ 0.0000, -0.5000]]]])
""",
)
add_docstr(
    "nll_loss_nd",
    """
Return minus the log-probability of each class. The public name is ``torch.nn.functional.nll_loss``.

Args:
    input: log-probabilities, :math:`(C)`, :math:`(N, C)` or :math:`(N, C, d_1, ...)`.
    target: classes, :math:`()`, :math:`(N)` or :math:`(N, d_1, ...)`.
    weight: weight of each class, :math:`(C)`; None means ones.
    reduction: 0 for each loss, 1 for the mean, 2 for the sum.
    ignore_index: a class that does not count.

Shape: no dimensions; with reduction 0, the shape of ``target``.

Raises:
    ValueError, RuntimeError: the shapes do not fit.

Example:
    >>> torch._C._nn.nll_loss_nd(torch.full((1, 2, 3), -0.5), torch.tensor([[0, 1, 1]]), None, 1, -100)
    tensor(0.5000)
""",
)
