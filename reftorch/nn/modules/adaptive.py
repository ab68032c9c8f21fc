r"""A softmax over many classes in two steps: frequent classes at once, rare ones by clusters.

Mirrors: torch/nn/modules/adaptive.py
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.container import ModuleList, Sequential
from reftorch.nn.modules.linear import Linear
from reftorch.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log-probabilities of the targets, and their negative mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """An approximation of softmax for many classes, some of them much more frequent than others.

    The classes are sorted by frequency, most frequent first. The first ones have a score of their own in the head; the
    others are divided into clusters, and the head has one score for each cluster. The log-probability of a class in a
    cluster is that of the cluster plus that of the class within the cluster, which is only computed where it is needed,
    and of fewer features, the rarer the classes are.

    Args:
        in_features: the number of features, :math:`I`.
        n_classes: the number of classes, :math:`C`.
        cutoffs: the first class of each cluster, in increasing order.
        div_value: each cluster divides the number of features by a further factor of this number (default 4).
        head_bias: whether the head has a bias.
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        Input :math:`(N, I)` or :math:`(I)`; target :math:`(N)` or :math:`()`; ``output``, the log-probabilities of the
        targets, of the shape of the target; ``loss``, their negative mean, :math:`()`.

    Raises:
        ValueError: the cutoffs are not unique positive integers in increasing order below ``n_classes``.
        RuntimeError: (from a call) the sizes do not fit, or a target is out of range.

    Example:
        >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 10, cutoffs=[2, 6])
        >>> x = torch.ones(3, 16)
        >>> output, loss = layer(x, torch.tensor([0, 5, 9]))
        >>> bool(torch.allclose(output, layer.log_prob(x)[[0, 1, 2], [0, 5, 9]]))
        True

    Mirrors torch/nn/modules/adaptive.py, ``AdaptiveLogSoftmaxWithLoss``.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        in_order = all(a < b for a, b in pairwise([0, *cutoffs, n_classes]))
        if not in_order or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **factory)
        self.tail = ModuleList()
        for i, (start, end) in enumerate(pairwise(self.cutoffs)):
            features = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, features, bias=False, **factory),
                    Linear(features, end - start, bias=False, **factory),
                )
            )

    def reset_parameters(self) -> None:
        """Draw new parameters."""
        self.head.reset_parameters()
        for projection in self.tail:
            for layer in projection.children():
                layer.reset_parameters()

    def _check(self, input_: Tensor, target_: Tensor) -> None:
        dims = target_.dim()
        if dims > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if dims == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != dims + 1:
            raise RuntimeError(
                f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with size {input_.size()}"
            )

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        self._check(input_, target_)
        is_batched = target_.dim() > 0
        input = input_ if is_batched else input_.unsqueeze(0)
        target = target_ if is_batched else target_.unsqueeze(0)
        if bool(((target < 0) | (target >= self.n_classes)).any().item()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        # The column of the head for each target, and the log-probability within its cluster, which is 0 for the head.
        columns, within = target.clone(), input.new_zeros(target.size(0))
        for i, (start, end) in enumerate(pairwise(self.cutoffs)):
            rows = ((target >= start) & (target < end)).nonzero().flatten()
            if rows.numel() > 0:
                columns.index_fill_(0, rows, self.shortlist_size + i)
                scores = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
                own = scores.gather(1, (target.index_select(0, rows) - start).unsqueeze(1))
                within.index_copy_(0, rows, own.squeeze(1))
        head = F.log_softmax(self.head(input), dim=1)
        output = within + head.gather(1, columns.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if is_batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            of_cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + of_cluster)
        return _VF.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log-probabilities of all classes.

        Args:
            input: :math:`(N, I)`.

        Returns:
            :math:`(N, C)`.
        """
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable class of each row.

        If a class of the head has the highest score there, it is the answer; only the other rows need the clusters.

        Args:
            input: :math:`(N, I)`.

        Returns:
            :math:`(N)`.
        """
        head_output = self.head(input)
        output = head_output.argmax(1)
        in_cluster = output >= self.shortlist_size
        if bool(in_cluster.any().item()):
            output[in_cluster] = self._get_full_log_prob(input[in_cluster], head_output[in_cluster]).argmax(1)
        return output
