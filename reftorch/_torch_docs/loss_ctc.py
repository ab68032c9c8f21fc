r"""The docs of connectionist temporal classification.

Mirrors: torch/nn/functional.py
Leaves out: cuDNN.
"""

from reftorch._torch_docs._entries import add_docstr

_ARGS = """\
    log_probs: log-probabilities of the labels, :math:`(T, N, C)`.
    targets: labels, :math:`(N, S)`, or all targets one after the other.
    input_lengths: the number of steps of each sequence: ints, or a tensor.
    target_lengths: the number of labels of each target: ints, or a tensor.
    blank: the label of the blank.
"""

add_docstr(
    "ctc_loss",
    f"""
Return minus the log-probability that the steps spell the target: the op of ``torch.nn.functional.ctc_loss``.

Args:
{_ARGS}    reduction: 0 does not reduce, 1 takes the mean of the losses divided by the target lengths, 2 the sum.
    zero_infinity: whether an infinite loss counts as zero.

Shape: :math:`()`, or :math:`(N)` without a reduction. A call without N is one sequence.

Raises:
    RuntimeError: the lengths or sizes do not fit.

Example:
    >>> log_probs = torch.zeros(3, 1, 2).log_softmax(-1)
    >>> torch.ctc_loss(log_probs, torch.tensor([[1]]), [3], [1], 0, 1).exp()
    tensor(1.3333)
""",
)

add_docstr(
    "_ctc_loss",
    f"""
Return the losses of :func:`ctc_loss`, and the logarithms of the probabilities of all beginnings of the targets.

Args:
{_ARGS}    zero_infinity: it has no effect here.

Shape: :math:`(N)`, and :math:`(N, T, 2 S + 1)` for the longest target of S labels.

Raises:
    RuntimeError: the lengths or sizes do not fit.

Example:
    >>> log_probs = torch.zeros(3, 1, 2).log_softmax(-1)
    >>> torch._ctc_loss(log_probs, torch.tensor([[1]]), [3], [1])[1].shape
    torch.Size([1, 3, 3])
""",
)

add_docstr(
    "_ctc_loss_backward",
    f"""
Return the gradient of :func:`ctc_loss` behind ``log_softmax``.

Args:
    grad: the gradient of the losses, :math:`(N)`.
{_ARGS}    neg_log_likelihood: the losses, :math:`(N)`.
    log_alpha: the second result of ``_ctc_loss``.
    zero_infinity: whether the gradient of an infinite loss is zero.

Shape: the shape of ``log_probs``.

Raises:
    RuntimeError: the lengths or sizes do not fit.

Example:
    >>> log_probs, target = torch.zeros(1, 1, 2).log_softmax(-1), torch.tensor([[1]])
    >>> loss, log_alpha = torch._ctc_loss(log_probs, target, [1], [1])
    >>> torch.ops.aten._ctc_loss_backward(loss / loss, log_probs, target, [1], [1], loss, log_alpha, 0)
    tensor([[[ 0.5000, -0.5000]]])
""",
)
