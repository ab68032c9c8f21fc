"""The ops that torch.nn.functional calls, and the derivatives that have their own kernel.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "linear",
    """
Apply a linear map: :math:`x W^T + b`. Its public name is ``torch.nn.functional.linear``.

Args:
    weight: a row for each output.
    bias: the number that is added to each output.

Shape: (*, in), (out, in), (out,) -> (*, out).

Example:
    >>> torch._C._nn.linear(torch.tensor([1.0, 2.0]), torch.tensor([[3.0, 4.0]]))
    tensor([11.])
""",
)

add_docstr(
    "one_hot",
    """
Return a vector with a single 1 for each class index. Its public name is ``torch.nn.functional.one_hot``.

Args:
    num_classes: the number of classes; -1 means one more than the largest index.

Shape: (*) -> (*, ``num_classes``), of int64.

Example:
    >>> torch._C._nn.one_hot(torch.tensor([1, 0]), 3)
    tensor([[0, 1, 0],
            [1, 0, 0]])
""",
)

add_docstr(
    "mse_loss",
    """
Return the squared error, :math:`(x - y)^2`. Its public name is ``torch.nn.functional.mse_loss``.

Args:
    reduction: 0 does not reduce, 1 takes the mean, 2 takes the sum.

Shape: (*), (*) -> (), or (*) without a reduction.

Example:
    >>> torch._C._nn.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]), 1)
    tensor(2.)
""",
)

add_docstr(
    "mse_loss_backward",
    """
Return the gradient of :func:`mse_loss` for ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch._C._nn.mse_loss_backward(torch.tensor(1.0), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]), 1)
    tensor([ 0., -2.])
""",
)

add_docstr(
    "smooth_l1_loss",
    r"""
Return an error that is quadratic for small differences and linear for large ones. With :math:`d = |x - y|`, it is
:math:`d^2 / 2 \beta` where :math:`d < \beta`, and elsewhere :math:`d - \beta / 2`. Its public name is
``torch.nn.functional.smooth_l1_loss``.

Args:
    reduction: 0 does not reduce, 1 takes the mean, 2 takes the sum.
    beta: :math:`\beta`, not negative.

Shape: (*), (*) -> (), or (*) without a reduction.

Example:
    >>> torch._C._nn.smooth_l1_loss(torch.tensor([0.5, 3.0]), torch.tensor([0.0, 0.0]), 0)
    tensor([0.1250, 2.5000])
""",
)

add_docstr(
    "smooth_l1_loss_backward",
    """
Return the gradient of :func:`smooth_l1_loss` for ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch._C._nn.smooth_l1_loss_backward(torch.tensor(1.0), torch.tensor([0.5, 3.0]), torch.zeros(2), 2, 1.0)
    tensor([0.5000, 1.0000])
""",
)

add_docstr(
    "huber_loss",
    r"""
Return an error that is quadratic for small differences and linear for large ones. With :math:`d = |x - y|`, it is
:math:`d^2 / 2` where :math:`d \le \delta`, and elsewhere :math:`\delta (d - \delta / 2)`. Its public name is
``torch.nn.functional.huber_loss``.

Args:
    reduction: 0 does not reduce, 1 takes the mean, 2 takes the sum.
    delta: :math:`\delta`, above 0.

Shape: (*), (*) -> (), or (*) without a reduction.

Example:
    >>> torch._C._nn.huber_loss(torch.tensor([0.5, 3.0]), torch.tensor([0.0, 0.0]), 0, 2.0)
    tensor([0.1250, 4.0000])
""",
)

add_docstr(
    "huber_loss_backward",
    """
Return the gradient of :func:`huber_loss` for ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch._C._nn.huber_loss_backward(torch.tensor(1.0), torch.tensor([0.5, 3.0]), torch.zeros(2), 2, 2.0)
    tensor([0.5000, 2.0000])
""",
)

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

add_docstr(
    "sigmoid_backward",
    r"""
Return the gradient of :func:`sigmoid` from its result: :math:`grad \cdot y (1 - y)`.

Shape: broadcast(``grad_output``, ``output``).

Example:
    >>> torch._C._nn.sigmoid_backward(torch.tensor([1.0]), torch.tensor([0.5]))
    tensor([0.2500])
""",
)

add_docstr(
    "tanh_backward",
    r"""
Return the gradient of :func:`tanh` from its result: :math:`grad \cdot (1 - y^2)`.

Shape: broadcast(``grad_output``, ``output``).

Example:
    >>> torch._C._nn.tanh_backward(torch.tensor([1.0]), torch.tensor([0.5]))
    tensor([0.7500])
""",
)
