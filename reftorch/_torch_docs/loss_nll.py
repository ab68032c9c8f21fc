"""The docs of the negative log likelihood and of cross entropy.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "nll_loss",
    """
Return the negative log-probability of the right class. Its public name is ``torch.nn.functional.nll_loss``.

Args:
    target: class indices.
    weight: the weight of each class.
    reduction: 0 does not reduce, 1 takes the mean, 2 takes the sum.
    ignore_index: targets of this value are ignored.

Shape: (N, C), (N,) -> (), or (N,) without a reduction.

Example:
    >>> torch._C._nn.nll_loss(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]), None, 1)
    tensor(1.)
""",
)

add_docstr(
    "nll_loss_forward",
    """
Return the loss of :func:`nll_loss`, and the sum of the weights of the targets, which the gradient needs.

Shape: (N, C), (N,) -> (), or (N,) without a reduction; and ().

Example:
    >>> torch._C._nn.nll_loss_forward(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]), None, 1, -100)[1]
    tensor(1.)
""",
)

add_docstr(
    "nll_loss_backward",
    """
Return the gradient of :func:`nll_loss` for ``input``.

Shape: (N, C).

Example:
    >>> one = torch.tensor(1.0)
    >>> torch._C._nn.nll_loss_backward(one, torch.tensor([[-0.5, -1.0]]), torch.tensor([1]), None, 1, -100, one)
    tensor([[ 0., -1.]])
""",
)

add_docstr(
    "cross_entropy_loss",
    """
Return the cross entropy of class scores. Its public name is ``torch.nn.functional.cross_entropy``.

Args:
    target: class indices, or probabilities of the shape of ``input``.
    weight: the weight of each class.
    reduction: 0 does not reduce, 1 takes the mean, 2 takes the sum.
    ignore_index: targets of this value are ignored.
    label_smoothing: the fraction of the target that is spread over all classes.

Shape: (N, C), (N,) -> (), or (N,) without a reduction.

Example:
    >>> torch._C._nn.cross_entropy_loss(torch.tensor([[0.0, 0.0]]), torch.tensor([1]), None, 1)
    tensor(0.6931)
""",
)
