"""Losses of a classifier: the target is a class, a probability of each class, or a sequence of classes.

Mirrors: torch/nn/functional.py (nll_loss, cross_entropy, ctc_loss, linear_cross_entropy)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._warnings import warn
from reftorch.nn import _reduction
from reftorch.nn.functional.chunked_cross_entropy import _Chunked, _ChunkedNoReduction
from reftorch.nn.functional.loss import _legacy

if TYPE_CHECKING:
    from reftorch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions

__all__ = ["cross_entropy", "ctc_loss", "linear_cross_entropy", "nll_loss"]


@overridable
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Negative log likelihood :math:`\ell_n = -w_{y_n} x_{n, y_n}`.

    The mean is :math:`\sum_n \ell_n / \sum_n w_{y_n}`.

    Args:
        input: log-probabilities, :math:`(C)`, :math:`(N, C)` or :math:`(N, C, d_1, ...)`.
        target: classes from 0 to C - 1, int64, :math:`()`, :math:`(N)` or :math:`(N, d_1, ...)`.
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        ignore_index: a target that adds neither to the sum nor to the weights.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``target``.

    Raises:
        IndexError: a target is outside 0 to C - 1.
        RuntimeError, ValueError: shapes or dtypes do not match.

    Example:
        >>> log_probabilities = torch.tensor([[-0.5, -1.0], [-2.0, -0.1]])
        >>> torch.nn.functional.nll_loss(log_probabilities, torch.tensor([0, 0]))
        tensor(1.2500)

    Mirrors torch/nn/functional.py, ``nll_loss``.
    """
    reduction = _legacy(size_average, reduce, reduction)
    return _C._nn.nll_loss_nd(input, target, weight, _reduction.get_enum(reduction), ignore_index)


@overridable
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    r"""Cross entropy between scores and classes.

    If the target is a class :math:`y_n`, this is the :func:`nll_loss` of :func:`log_softmax`:
    :math:`\ell_n = -w_{y_n} \log \big(e^{x_{n, y_n}} / \sum_c e^{x_{n, c}}\big)`.
    If it is probabilities :math:`p_{n, c}`, :math:`\ell_n = -\sum_c w_c\, p_{n, c} \log \mathrm{softmax}(x_n)_c`,
    and the mean divides by :math:`N`.

    Args:
        input: unnormalized scores, :math:`(C)`, :math:`(N, C)` or :math:`(N, C, d_1, ...)`.
        target: classes from 0 to C - 1, int64, :math:`()`, :math:`(N)` or :math:`(N, d_1, ...)`; or probabilities
            with the shape of ``input`` and a floating dtype.
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        ignore_index: a class that adds neither to the sum nor to the weights.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        label_smoothing: the part of the target, from 0.0 to 1.0, that is spread evenly over the classes.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of the classes.

    Raises:
        IndexError: a target is outside 0 to C - 1.
        RuntimeError, ValueError: shapes, dtypes or options do not match.

    Example:
        >>> scores = torch.tensor([[2.0, 0.0], [0.0, 0.0]])
        >>> torch.nn.functional.cross_entropy(scores, torch.tensor([0, 1]))
        tensor(0.4100)
        >>> torch.nn.functional.cross_entropy(scores, torch.tensor([[0.5, 0.5], [0.0, 1.0]]))
        tensor(0.9100)

    Mirrors torch/nn/functional.py, ``cross_entropy``.
    """
    reduction = _legacy(size_average, reduce, reduction)
    code = _reduction.get_enum(reduction)
    return _C._nn.cross_entropy_loss(input, target, weight, code, ignore_index, label_smoothing)


@overridable
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    r"""Connectionist temporal classification: minus the log-probability that the steps spell the target.

    A path has a label for each step, and spells a target if the target remains after repeated labels are joined and
    blanks are removed. The probability of a target is the sum over its paths.

    Args:
        log_probs: log-probabilities of the labels, :math:`(T, N, C)` or :math:`(T, C)`, from ``log_softmax``;
            the gradient is only right for these.
        targets: labels other than ``blank``, :math:`(N, S)`, or all targets one after the other, :math:`(\sum S_n)`.
        input_lengths: the number of steps of each sequence, a tensor or a tuple of ints.
        target_lengths: the number of labels of each target, a tensor or a tuple of ints.
        blank: the label of the blank.
        reduction: ``"none"``, ``"mean"`` (each loss is divided by the length of its target first) or ``"sum"``.
        zero_infinity: whether an infinite loss, of a target that is too long for its steps, counts as zero.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, :math:`(N)`, or :math:`()` for one sequence.

    Raises:
        RuntimeError: the lengths or sizes do not fit.

    Example:
        >>> log_probs = torch.zeros(3, 1, 2).log_softmax(-1)
        >>> torch.nn.functional.ctc_loss(log_probs, torch.tensor([[1]]), (3,), (1,)).exp()  # 6 of 8 paths spell it
        tensor(1.3333)

    Mirrors torch/nn/functional.py, ``ctc_loss``.
    """
    code = _reduction.get_enum(reduction)
    return _VF.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, code, zero_infinity)


def _check_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Check the arguments of the linear map. weight: (C, *, I)"""
    if not 1 <= input.dim() <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.dim()}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    outputs = tuple(weight.shape[:-1])
    if bias is not None and tuple(bias.shape) != outputs:
        raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(bias.shape)}")
    if len(outputs) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, (N, "
            f"{input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )


@overridable
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """The cross entropy of the scores that a linear map computes: :func:`cross_entropy` of :func:`linear`.

    Args:
        input: :math:`(N, I)` or :math:`(I)`.
        linear_weight: :math:`(C, I)`, or :math:`(C, d_1, ..., I)` for a loss with further dimensions.
        target: classes, :math:`(N, d_1, ...)`, or probabilities, :math:`(N, C, d_1, ...)`.
        linear_bias: the shape of ``linear_weight`` without its last dimension; None means zeros.
        weight: weight of each class, :math:`(C)`; None means ones.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        ignore_index: a target that adds nothing; None means -100.
        label_smoothing: how much of the target is spread over all classes, from 0 to 1.
        options: a :class:`torch.nn.LinearCrossEntropyOptions` divides the batch into chunks, which saves memory. With
            further dimensions, label smoothing or probabilities they are ignored, with a warning.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``target``.

    Raises:
        RuntimeError: the sizes do not fit.

    Example:
        >>> x, weight = torch.tensor([[1.0, 2.0]]), torch.eye(2)
        >>> torch.nn.functional.linear_cross_entropy(x, weight, torch.tensor([1]))
        tensor(0.3133)

    Mirrors torch/nn/functional.py, ``linear_cross_entropy``.
    """
    _check_linear(input, linear_weight, linear_bias)
    shape = (*input.shape[:-1], *linear_weight.shape[:-1])
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    if options is not None:
        if (
            linear_weight.dim() == 2
            and reduction in ("none", "mean", "sum")
            and label_smoothing == 0.0
            and target.dtype == _C.int64
        ):
            return _in_chunks(input, linear_weight, target, linear_bias, weight, reduction, ignored, options)
        warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
            "label_smoothing == 0, target.dtype == int64, out_features == (). Got "
            f"reduction={reduction!r}, label_smoothing={label_smoothing}, target.dtype={target.dtype}, "
            f"out_features={tuple(linear_weight.shape[1:-1])}."
        )
    rows = linear_weight.reshape(-1, input.shape[-1])
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    return cross_entropy(
        _C._nn.linear(input, rows, bias).reshape(shape),
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignored,
        label_smoothing=label_smoothing,
    )


def _in_chunks(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int,
    options: LinearCrossEntropyOptions,
) -> Tensor:
    rows, classes = (input, target) if input.dim() == 2 else (input.unsqueeze(0), target.unsqueeze(0))
    exact = options._adjust(rows.shape[0], rows.shape[1], linear_weight.shape[0], input.dtype, input.device)
    if exact.acc_dtype not in (input.dtype, _C.float32) or (exact.acc_dtype != input.dtype and input.itemsize != 2):
        raise RuntimeError(
            "linear_cross_entropy supports float32 acc_dtype with float16/bfloat16 inputs, but got "
            f"{exact.acc_dtype} acc_dtype and {input.dtype} inputs."
        )
    if reduction == "none":
        losses = _ChunkedNoReduction.apply(rows, linear_weight, linear_bias, classes, weight, ignore_index, exact)
        return losses if input.dim() == 2 else losses.squeeze(0)
    return _Chunked.apply(rows, linear_weight, linear_bias, classes, weight, reduction, ignore_index, exact)
