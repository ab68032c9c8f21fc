"""The docs of the margin losses of classes.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "multi_margin_loss",
    r"""
Return :math:`\sum_{i \ne y} w_y \max(0, m - x_y + x_i)^p / C`, the loss of scores that are too close to the score of
the right class. Its public name is ``torch.nn.functional.multi_margin_loss``.

Args:
    input: scores, :math:`(N, C)` or :math:`(C)`.
    target: :math:`y`, classes from 0 to C - 1, int64, :math:`(N)`.
    p: 1 or 2.
    margin: :math:`m`.
    weight: :math:`w`, the weight of each class, :math:`(C)`; None means ones.
    reduction: 0 for the loss of each example, 1 for the mean, 2 for the sum.

Shape: no dimensions; with reduction 0, the shape of ``target``.

Raises:
    RuntimeError: a target is not a class, ``p`` is neither 1 nor 2, or shapes do not fit.

Example:
    >>> torch._C._nn.multi_margin_loss(torch.tensor([[0.1, 0.9]]), torch.tensor([1]), 1, 1, None, 1)
    tensor(0.1000)
""",
)

add_docstr(
    "multi_margin_loss_backward",
    """
Return the gradient of :func:`multi_margin_loss` for ``input``.

Shape: the shape of ``input``.

Example:
    >>> scores, classes = torch.tensor([[0.1, 0.9]]), torch.tensor([1])
    >>> torch.ops.aten.multi_margin_loss_backward(torch.tensor(1.0), scores, classes, 1, 1, None, 1)
    tensor([[ 0.5000, -0.5000]])
""",
)

add_docstr(
    "multilabel_margin_loss",
    r"""
Return :math:`\sum_{j \in Y} \sum_{i \notin Y} \max(0, 1 - x_j + x_i) / C`; :math:`Y` are the right classes. Its public
name is ``torch.nn.functional.multilabel_margin_loss``.

Args:
    input: scores, :math:`(N, C)` or :math:`(C)`.
    target: the right classes of each example, int64, of the same shape; -1 ends the list.
    reduction: 0 for the loss of each example, 1 for the mean, 2 for the sum.

Shape: no dimensions; with reduction 0, :math:`(N)`.

Raises:
    RuntimeError: a target is not a class, or shapes do not fit.

Example:
    >>> scores, right = torch.tensor([0.1, 0.2, 0.4, 0.8]), torch.tensor([3, 0, -1, 1])
    >>> torch._C._nn.multilabel_margin_loss(scores, right, 1)
    tensor(0.8500)
""",
)

add_docstr(
    "multilabel_margin_loss_forward",
    """
Return the loss of :func:`multilabel_margin_loss`, and for backward a tensor that is 1 for each right class and 0
elsewhere.

Args:
    reduction: 0 for the loss of each example, 1 for the mean, 2 for the sum.

Shape: the shape of the loss, and the shape of ``target``.

Example:
    >>> scores, right = torch.tensor([0.1, 0.2, 0.4, 0.8]), torch.tensor([3, 0, -1, 1])
    >>> torch.ops.aten.multilabel_margin_loss_forward(scores, right, 1)
    (tensor(0.8500), tensor([1., 0., 0., 1.]))
""",
)

add_docstr(
    "multilabel_margin_loss_backward",
    """
Return the gradient of :func:`multilabel_margin_loss` for ``input``.

Shape: the shape of ``input``.

Example:
    >>> scores, right = torch.tensor([0.1, 0.2]), torch.tensor([1, -1])
    >>> loss, is_target = torch.ops.aten.multilabel_margin_loss_forward(scores, right, 1)
    >>> torch.ops.aten.multilabel_margin_loss_backward(torch.tensor(1.0), scores, right, 1, is_target)
    tensor([ 0.5000, -0.5000])
""",
)
