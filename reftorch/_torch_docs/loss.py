"""The docs of the losses that measure a distance: mse, smooth_l1, huber.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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

_PAIR = """Args:
    weight: weight of each element, of a shape that broadcasts; None means ones.
    reduction: 0 for the loss of each element, 1 for the mean, 2 for the sum."""

add_docstr(
    "binary_cross_entropy",
    rf"""
Return :math:`-w (y \log x + (1 - y) \log(1 - x))`. The public name is ``torch.nn.functional.binary_cross_entropy``.

{_PAIR}

Shape: no dimensions; with reduction 0, the shape of ``input``.

Raises:
    RuntimeError: a number is not between 0 and 1.

Example:
    >>> torch._C._nn.binary_cross_entropy(torch.tensor([0.5, 0.0]), torch.tensor([1.0, 0.0]), None, 1)
    tensor(0.3466)
""",
)
add_docstr(
    "binary_cross_entropy_backward",
    f"""
Return the gradient of :func:`binary_cross_entropy` with respect to its input.

{_PAIR}

Shape: the shape of ``input``.

Example:
    >>> torch.ops.aten.binary_cross_entropy_backward(torch.ones(1), torch.tensor([0.5]), torch.tensor([1.0]))
    tensor([-2.])
""",
)
add_docstr(
    "binary_cross_entropy_with_logits",
    f"""
Return the cross entropy of scores: :func:`binary_cross_entropy` of their sigmoid, computed without overflow.

{_PAIR}
    pos_weight: weight of the positive examples, of a shape that broadcasts; None means ones.

Shape: no dimensions; with reduction 0, the shape of ``input``.

Example:
    >>> torch.ops.aten.binary_cross_entropy_with_logits(torch.tensor([0.0, 2.0]), torch.tensor([1.0, 1.0]))
    tensor(0.4100)
""",
)
