"""The functions of networks with the signatures of ``torch``: few defaults, and numbers for reductions.

Mirrors: aten/src/ATen/native/native_functions.yaml (kl_div, ...)
Leaves out: nothing.

Most programs call ``torch.nn.functional``; some libraries call the ops by these names. By default a loss is not
reduced: PyTorch's signatures name the mean as the default, but its binding takes that name for 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable_as_called
from reftorch.nn import _reduction
from reftorch.nn import functional as F
from reftorch.nn.functional.loss import _reduced

__all__ = [
    "binary_cross_entropy_with_logits", "cosine_embedding_loss", "ctc_loss",
    "hinge_embedding_loss", "kl_div", "margin_ranking_loss", "poisson_nll_loss",
    "triplet_margin_loss",
]  # fmt: skip


def _name(reduction: int) -> str:
    """Return the name of the reduction with this number (at::Reduction)."""
    for name in ("none", "mean", "sum"):
        if _reduction.get_enum(name) == reduction:
            return name
    raise ValueError(f"{reduction} is not a valid value for reduction: it is 0 (none), 1 (mean) or 2 (sum)")


@overridable_as_called
def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """The divergence from a target: ``torch.nn.functional.kl_div`` with a number for the reduction.

    Example:
        >>> import reftorch as torch
        >>> torch.kl_div(torch.tensor([0.5, 0.5]).log(), torch.tensor([0.25, 0.75]), 2)
        tensor(0.1308)
    """
    # PyTorch's warning about the mean comes from nn.functional only, so the reduction is done here.
    return _reduced(F.kl_div(input, target, reduction="none", log_target=log_target), _name(reduction))


@overridable_as_called
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 0,
) -> Tensor:
    """Cross entropy of scores: ``torch.nn.functional.binary_cross_entropy_with_logits``.

    Example:
        >>> import reftorch as torch
        >>> torch.binary_cross_entropy_with_logits(torch.tensor([0.0]), torch.tensor([1.0]))
        tensor([0.6931])
    """
    # PyTorch's check that both have one shape is in nn.functional only: here a target may broadcast the input.
    return _C._nn.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


@overridable_as_called
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """Loss of the angle between two vectors: ``torch.nn.functional.cosine_embedding_loss``.

    Example:
        >>> import reftorch as torch
        >>> torch.cosine_embedding_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]), torch.tensor([1]))
        tensor([0.2929])
    """
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_name(reduction))


@overridable_as_called
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """Loss of sequences that are not aligned with their targets: ``torch.nn.functional.ctc_loss``.

    ``torch.ops.aten.ctc_loss`` takes the mean by default, as its schema says.

    Example:
        >>> import reftorch as torch
        >>> log_probs = torch.zeros(3, 1, 2).log_softmax(-1)
        >>> torch.ctc_loss(log_probs, torch.tensor([[1]]), [3], [1]).exp()
        tensor([1.3333])
    """
    return _VF.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


@overridable_as_called
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """Loss of distances between pairs: ``torch.nn.functional.hinge_embedding_loss``.

    Example:
        >>> import reftorch as torch
        >>> torch.hinge_embedding_loss(torch.tensor([0.5, 0.25]), torch.tensor([1, -1]), reduction=0)
        tensor([0.5000, 0.7500])
    """
    return F.hinge_embedding_loss(input, target, margin, reduction=_name(reduction))


@overridable_as_called
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """Loss of a wrong order of two scores: ``torch.nn.functional.margin_ranking_loss``.

    Example:
        >>> import reftorch as torch
        >>> torch.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1]))
        tensor([2.])
    """
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_name(reduction))


@overridable_as_called
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """Negative log likelihood of counts: ``torch.nn.functional.poisson_nll_loss``.

    Example:
        >>> import reftorch as torch
        >>> torch.poisson_nll_loss(torch.tensor([0.0]), torch.tensor([2.0]), True, False, 1e-8, 1)
        tensor(1.)
    """
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_name(reduction))


@overridable_as_called
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """Loss of vectors that should be nearer to one vector than to another: ``torch.nn.functional.triplet_margin_loss``.

    Example:
        >>> import reftorch as torch
        >>> torch.triplet_margin_loss(torch.tensor([[0.0]]), torch.tensor([[1.0]]), torch.tensor([[1.5]]))
        tensor([0.5000])
    """
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_name(reduction))
