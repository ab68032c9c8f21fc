"""The docs of the losses of numbers and of vectors.

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

add_docstr(
    "l1_loss",
    r"""
Return the absolute error, :math:`|x - y|`. Its public name is ``torch.nn.functional.l1_loss``.

Args:
    reduction: 0 for the loss of each element, 1 for the mean, 2 for the sum.

Shape: no dimensions; with reduction 0, the broadcast shape.

Example:
    >>> torch._C._nn.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]), 1)
    tensor(1.)
""",
)

add_docstr(
    "soft_margin_loss",
    r"""
Return :math:`\log(1 + e^{-y x})`, the loss of a choice between two classes. Its public name is
``torch.nn.functional.soft_margin_loss``.

Args:
    target: :math:`y`, 1 or -1.
    reduction: 0 for the loss of each element, 1 for the mean, 2 for the sum.

Shape: no dimensions; with reduction 0, the shape of ``input``.

Raises:
    RuntimeError: ``target`` does not broadcast to the shape of ``input``.

Example:
    >>> torch._C._nn.soft_margin_loss(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor([0.6931])
""",
)

add_docstr(
    "soft_margin_loss_backward",
    """
Return the gradient of :func:`soft_margin_loss` for ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.ops.aten.soft_margin_loss_backward(torch.tensor(1.0), torch.tensor([0.0]), torch.tensor([1.0]), 2)
    tensor([-0.5000])
""",
)

add_docstr(
    "kl_div",
    r"""
Return the divergence of a distribution from its target, :math:`y (\log y - x)`, where :math:`x` is a logarithm.

By default nothing is reduced, although the schema says the mean: PyTorch's functions read that word as 0, and only the
ops in ``torch.ops`` take the mean. ``torch.nn.functional.kl_div`` takes the name of a reduction.

Args:
    input: log-probabilities.
    target: probabilities; with ``log_target``, their logarithms.
    reduction: 0 for the loss of each element, 1 for the mean, 2 for the sum.
    log_target: whether ``target`` holds logarithms.

Shape: no dimensions; with reduction 0, the broadcast shape.

Raises:
    RuntimeError: a tensor holds integers.

Example:
    >>> torch.kl_div(torch.tensor([0.5, 0.5]).log(), torch.tensor([0.25, 0.75]), 2)
    tensor(0.1308)
""",
)

add_docstr(
    "poisson_nll_loss",
    r"""
Return the negative log likelihood of counts under Poisson distributions, :math:`\lambda - y \log \lambda`.

Args:
    input: :math:`\log \lambda`, or :math:`\lambda`.
    target: the counts :math:`y`.
    log_input: whether ``input`` is the logarithm.
    full: whether to add Stirling's approximation of :math:`\log y!` where :math:`y > 1`.
    eps: added to :math:`\lambda` before its logarithm is taken.
    reduction: 0 for the loss of each element, 1 for the mean, 2 for the sum.

Shape: no dimensions; with reduction 0, the broadcast shape.

Example:
    >>> torch.poisson_nll_loss(torch.tensor([0.0]), torch.tensor([2.0]), True, False, 1e-8, 1)
    tensor(1.)
""",
)

add_docstr(
    "hinge_embedding_loss",
    r"""
Return the distance :math:`x` where the target is 1, and :math:`\max(0, m - x)` where the target is -1.

Args:
    input: distances.
    target: 1 for similar pairs, -1 for dissimilar pairs.
    margin: :math:`m`.
    reduction: 0 for the loss of each element, 1 for the mean, 2 for the sum.

Shape: no dimensions; with reduction 0, the broadcast shape.

Example:
    >>> torch.hinge_embedding_loss(torch.tensor([0.5, 0.25]), torch.tensor([1, -1]))
    tensor([0.5000, 0.7500])
""",
)

add_docstr(
    "cosine_embedding_loss",
    r"""
Return :math:`1 - \cos(x_1, x_2)` where the target is 1, and :math:`\max(0, \cos(x_1, x_2) - m)` where it is -1.

Args:
    input1: :math:`(N, D)` or :math:`(D)`.
    input2: :math:`(N, D)` or :math:`(D)`.
    target: 1 for similar pairs, -1 for dissimilar pairs; :math:`(N)` or :math:`()`.
    margin: :math:`m`.
    reduction: 0 for the loss of each pair, 1 for the mean, 2 for the sum.

Shape: no dimensions; with reduction 0, the shape of ``target``.

Raises:
    RuntimeError: the numbers of dimensions do not fit.

Example:
    >>> torch.cosine_embedding_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]), torch.tensor([1]))
    tensor([0.2929])
""",
)

add_docstr(
    "margin_ranking_loss",
    r"""
Return the loss of a wrong order of two scores, :math:`\max(0, -y (x_1 - x_2) + m)`.

Args:
    input1: scores.
    input2: scores.
    target: :math:`y`, 1 if the first score should be larger, -1 if the second should be.
    margin: :math:`m`, the difference that the scores should have.
    reduction: 0 for the loss of each pair, 1 for the mean, 2 for the sum.

Shape: no dimensions; with reduction 0, the broadcast shape.

Example:
    >>> torch.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1]))
    tensor([2.])
""",
)

add_docstr(
    "triplet_margin_loss",
    r"""
Return the loss of vectors that should be nearer to one vector than to another,
:math:`\max(0, m + d(a, p) - d(a, n))`.

Args:
    anchor: :math:`a`, :math:`(N, D)` or :math:`(D)`.
    positive: :math:`p`, the vectors that should be near.
    negative: :math:`n`, the vectors that should be far.
    margin: :math:`m`.
    p: the order of the norm of the distances.
    eps: a number that is added to differences, so that no distance is 0.
    swap: whether to use :math:`d(p, n)` instead of :math:`d(a, n)` where it is smaller.
    reduction: 0 for the loss of each triple, 1 for the mean, 2 for the sum.

Shape: no dimensions; with reduction 0, the shape of the distances.

Raises:
    RuntimeError: the numbers of dimensions differ.

Example:
    >>> torch.triplet_margin_loss(torch.tensor([[0.0]]), torch.tensor([[1.0]]), torch.tensor([[1.5]]))
    tensor([0.5000])
""",
)
