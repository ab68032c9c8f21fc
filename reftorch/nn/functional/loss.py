r"""Losses of elements.

Mirrors: torch/nn/functional.py (its losses)
Leaves out: ``ctc_loss``; losses of pairs and margin losses, which have files of their own.

These are ops. Only losses with weights are formulas here, because PyTorch reduces them in Python, too.
"""

from __future__ import annotations

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._utils import scalar_type_name
from reftorch._warnings import warn
from reftorch.functional.shapes import broadcast_tensors
from reftorch.nn import _reduction

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "smooth_l1_loss",
]


def _reduced(loss: Tensor, reduction: str, weight: Tensor | None = None) -> Tensor:
    """Reduce the losses of all elements; a mean divides by the sum of the weights if there are any."""
    _reduction.get_enum(reduction)
    loss = loss if weight is None else loss * weight
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    return loss.mean() if weight is None else loss.sum() / weight.sum()


def _legacy(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    if size_average is None and reduce is None:
        return reduction
    return _reduction.legacy_get_string(size_average, reduce)


def _warn_of_broadcast(input: Tensor, target: Tensor) -> None:
    if target.shape != input.shape:
        warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        )


def _same_size(input: Tensor, target: Tensor) -> list[Tensor]:
    """Broadcast the two, and warn if their shapes differ."""
    _warn_of_broadcast(input, target)
    return list(broadcast_tensors(input, target))


def _written_into(loss: Tensor, like: Tensor) -> Tensor:
    """Cast the loss to the dtype of the tensor into which PyTorch writes it; raise where that is not allowed."""
    if not _C.can_cast(loss.dtype, like.dtype):
        have, want = scalar_type_name(loss.dtype), scalar_type_name(like.dtype)
        raise RuntimeError(f"result type {have} can't be cast to the desired output type {want}")
    return loss.to(like.dtype)


def _check_weight(weight: Tensor | None, input: Tensor) -> None:
    if weight is not None and weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")


@overridable
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    r"""Absolute error :math:`\ell = w |x - y|` of every element; the mean is :math:`\sum \ell / \sum w`.

    Args:
        input: tensor of any shape.
        target: tensor of the same shape; another shape is broadcast, with a warning.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        weight: weight of each element, of the shape of ``input``; None means ones.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is unknown, or ``weight`` has another shape.

    Example:
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)

    Mirrors torch/nn/functional.py, ``l1_loss``.
    """
    x, y = _same_size(input, target)
    reduction = _legacy(size_average, reduce, reduction)
    if weight is None:
        return _C._nn.l1_loss(x, y, _reduction.get_enum(reduction))
    _check_weight(weight, input)
    return _reduced((x - y).abs(), reduction, weight)


@overridable
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    r"""Squared error :math:`d^2 / 2 \beta` where :math:`d = |x - y| < \beta`, else :math:`d - \beta / 2`.

    Args:
        input: tensor of any shape.
        target: tensor of the same shape; another shape is broadcast, with a warning.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        beta: :math:`\beta`, not negative; with 0, the loss is :func:`l1_loss`.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: ``beta`` is negative.
        NotImplementedError: both tensors hold integers.

    Example:
        >>> torch.nn.functional.smooth_l1_loss(torch.tensor([0.5, 3.0]), torch.tensor([0.0, 0.0]), reduction="none")
        tensor([0.1250, 2.5000])

    Mirrors torch/nn/functional.py, ``smooth_l1_loss``.
    """
    x, y = _same_size(input, target)
    reduction = _legacy(size_average, reduce, reduction)
    if beta == 0:
        return _C._nn.l1_loss(x, y, _reduction.get_enum(reduction))
    return _C._nn.smooth_l1_loss(x, y, _reduction.get_enum(reduction), beta)


@overridable
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    r"""Squared error :math:`d^2 / 2` where :math:`d = |x - y| \le \delta`, else :math:`\delta (d - \delta / 2)`.

    Args:
        input: tensor of any shape.
        target: tensor of the same shape; another shape is broadcast, with a warning.
        reduction: ``"none"``, ``"mean"`` (over all elements, without regard to weights) or ``"sum"``.
        delta: :math:`\delta`, above 0.
        weight: weight of each element, of the shape of ``input``; None means ones.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is unknown, or ``weight`` has another shape.
        RuntimeError: ``delta`` is not positive, or ``input`` holds integers and ``target`` does not.
        NotImplementedError: both tensors hold integers.

    Example:
        >>> torch.nn.functional.huber_loss(torch.tensor([0.5, 3.0]), torch.tensor([0.0, 0.0]), "none", delta=2.0)
        tensor([0.1250, 4.0000])

    Mirrors torch/nn/functional.py, ``huber_loss``.
    """
    x, y = _same_size(input, target)
    _check_weight(weight, input)
    code = _reduction.get_enum(reduction)
    if weight is None:
        return _C._nn.huber_loss(x, y, code, delta)
    return _reduced(_C._nn.huber_loss(x, y, _reduction.get_enum("none"), delta) * weight, reduction)


@overridable
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Cross entropy of probabilities, :math:`-w (y \log x + (1 - y) \log(1 - x))`; logarithms are at least -100.

    Args:
        input: probabilities, of any shape.
        target: probabilities, of the same shape.
        weight: weight of each element, of a shape that broadcasts to the shape of ``input``; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (over all elements, without regard to weights) or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: the shapes differ, or ``reduction`` is unknown.
        RuntimeError: an element of ``input`` or ``target`` is not between 0 and 1, or their dtypes differ.
        NotImplementedError: the tensors hold integers.

    Example:
        >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5, 0.0]), torch.tensor([1.0, 0.0]))
        tensor(0.3466)

    Mirrors torch/nn/functional.py, ``binary_cross_entropy``.
    """
    reduction = _legacy(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = broadcast_tensors(weight, target)[0]
    return _C._nn.binary_cross_entropy(input, target, weight, _reduction.get_enum(reduction))


@overridable
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    r"""Cross entropy of scores: :func:`binary_cross_entropy` of their sigmoid, computed without overflow.

    Args:
        input: scores, of any shape.
        target: probabilities, of the same shape.
        weight: weight of each element, of a shape that broadcasts to the shape of ``input``; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (over all elements, without regard to weights) or ``"sum"``.
        pos_weight: weight of the positive examples, of a shape that broadcasts; None means ones.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: the shapes differ, or ``reduction`` is unknown.

    Example:
        >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0.0, 2.0]), torch.tensor([1.0, 1.0]))
        tensor(0.4100)

    Mirrors torch/nn/functional.py, ``binary_cross_entropy_with_logits``.
    """
    reduction = _legacy(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    code = _reduction.get_enum(reduction)
    return _VF.binary_cross_entropy_with_logits(input, target, weight, pos_weight, code)


@overridable
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    r"""The divergence of a distribution from its target: :math:`y (\log y - x)`, where :math:`x` is a logarithm.

    Args:
        input: log-probabilities, of any shape.
        target: probabilities, of the same shape; with ``log_target``, their logarithms.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"sum"``, ``"batchmean"`` (the sum divided by the first size) or ``"mean"`` (the sum
            divided by all sizes, with a warning).
        log_target: whether ``target`` holds logarithms.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: a tensor holds integers.

    Example:
        >>> uniform = torch.tensor([[0.5, 0.5]])
        >>> torch.nn.functional.kl_div(uniform.log(), torch.tensor([[0.25, 0.75]]), reduction="batchmean")
        tensor(0.1308)

    Mirrors torch/nn/functional.py, ``kl_div``.
    """
    if size_average is not None or reduce is not None:
        reduction = _reduction.legacy_get_string(size_average, reduce)
    elif reduction == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release.",
        )
    code = _reduction.get_enum("sum" if reduction == "batchmean" else reduction)
    loss = _VF.kl_div(input, target, code, log_target=log_target)
    return loss / input.size(0) if reduction == "batchmean" and input.dim() else loss


@overridable
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    r"""Squared error :math:`\ell = w (x - y)^2` of every element; the mean is :math:`\sum \ell / \sum w`.

    Args:
        input: tensor of any shape.
        target: tensor of the same shape; another shape is broadcast, with a warning.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        weight: weight of each element, of the shape of ``input``; None means ones.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is unknown, or ``weight`` has another shape.

    Example:
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)

    Mirrors torch/nn/functional.py, ``mse_loss``.
    """
    _warn_of_broadcast(input, target)
    reduction = _legacy(size_average, reduce, reduction)
    if weight is None:
        return _C._nn.mse_loss(input, target, _reduction.get_enum(reduction))
    _check_weight(weight, input)
    return _reduced((input - target) ** 2, reduction, weight)
