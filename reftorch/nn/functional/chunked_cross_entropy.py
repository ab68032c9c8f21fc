r"""The cross entropy of a linear layer in chunks of the batch, so that the scores of all examples never exist together.

For a chunk with inputs X (B, I), weights W (C, I) and scores S = X W\ :sup:`T` + b, the gradient of a weighted sum of
losses with respect to S is G = w (softmax(S) - onehot(target)), with one weight w for each example. From G follow the
other gradients: of X it is G W, of W it is G\ :sup:`T` X, and of b the sum of the rows of G.

Mirrors: torch/nn/modules/linear_cross_entropy.py
Leaves out: the policies that keep some intermediate results in 16 bits, second derivatives, and torch.compile.
"""

from __future__ import annotations

from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.autograd.function import Function

__all__: list[str] = []


def _scale_of_examples(target: Tensor, weight: Tensor | None, ignore_index: int, dtype: Any) -> Tensor:
    """(N): the weight of each example's class, and 0 where the class is ignored."""
    kept = target != ignore_index
    return kept.to(dtype) if weight is None else weight.to(dtype).gather(0, target.where(kept, 0)) * kept


def _scores(input: Tensor, linear_weight: Tensor, bias: Tensor | None, dtype: Any) -> Tensor:
    scores = input.to(dtype) @ linear_weight.to(dtype).T
    return scores if bias is None else scores.add_(bias.to(dtype))


def _add_gradients(grads: list[Tensor | None], chunk: slice, G: Tensor, input: Tensor, linear_weight: Tensor) -> None:
    """Add what the gradient of a chunk's scores, G, contributes to the gradients of input, weight and bias."""
    if grads[0] is not None:
        grads[0][chunk] = G @ linear_weight.to(G.dtype)
    if grads[1] is not None:
        grads[1].addmm_(G.T, input.to(G.dtype))
    if grads[2] is not None:
        grads[2].add_(G.sum(0))


def _zeros_for(ctx: Any, tensors: tuple[Tensor | None, ...], dtype: Any) -> list[Tensor | None]:
    """Where the gradients are added up; None for a tensor that needs none."""
    return [
        _VF.zeros(t.shape, dtype=dtype, device=t.device) if t is not None and needed else None
        for t, needed in zip(tensors, ctx.needs_input_grad, strict=False)
    ]


def _loss_and_gradient(scores: Tensor, target: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """The losses of the examples of a chunk, (B), and the gradient of their sum, (B, C)."""
    log_probabilities = scores.log_softmax(1)
    column = target.unsqueeze(1)
    losses = -log_probabilities.gather(1, column).squeeze(1) * scale
    gradient = log_probabilities.exp_().mul_(scale.unsqueeze(1))
    return losses, gradient.scatter_add_(1, column, -scale.unsqueeze(1))


class _Chunked(Function):
    """The mean or sum. Forward computes the gradients too, so that backward only multiplies them by a number."""

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, linear_weight: Tensor, bias: Tensor | None, target: Tensor, weight: Tensor | None,
        reduction: str, ignore_index: int, options: Any,
    ) -> Tensor:  # fmt: skip
        dtype, size = options.acc_dtype, options.batch_chunk_size
        scale = _scale_of_examples(target, weight, ignore_index, dtype)
        total = scale.sum()
        factor = scale / total if reduction == "mean" else scale
        classes = target.where(target != ignore_index, 0)
        grads = _zeros_for(ctx, (input, linear_weight, bias), dtype)
        loss = _VF.zeros((), dtype=dtype, device=input.device)
        for start in range(0, len(input), size):
            chunk = slice(start, start + size)
            scores = _scores(input[chunk], linear_weight, bias, dtype)
            losses, G = _loss_and_gradient(scores, classes[chunk], factor[chunk])
            loss += losses.sum()
            _add_gradients(grads, chunk, G, input[chunk], linear_weight)
        if reduction == "mean" and len(input) == 0:
            loss.fill_(float("nan"))
        ctx.gradients, ctx.dtypes, ctx.again = grads, (input.dtype, linear_weight.dtype), options.allow_retain_graph
        return loss.to(input.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        if ctx.gradients is None:
            raise RuntimeError(
                "linear_cross_entropy chunked backward called twice; retain_graph=True / double backward are not "
                "supported."
            )
        scaled = [
            None if g is None else (g * grad if ctx.again else g.mul_(grad)).to(ctx.dtypes[place > 0])
            for place, g in enumerate(ctx.gradients)
        ]
        if not ctx.again:
            ctx.gradients = None
        return *scaled, None, None, None, None, None


class _ChunkedNoReduction(Function):
    """The loss of each example. Backward computes the scores again, because only then the weights are known."""

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, linear_weight: Tensor, bias: Tensor | None, target: Tensor, weight: Tensor | None,
        ignore_index: int, options: Any,
    ) -> Tensor:  # fmt: skip
        ctx.save_for_backward(input, linear_weight, bias, target, weight)
        ctx.ignore_index, ctx.options = ignore_index, options
        dtype, size = options.acc_dtype, options.batch_chunk_size
        scale = _scale_of_examples(target, weight, ignore_index, dtype)
        classes = target.where(target != ignore_index, 0)
        losses = _VF.zeros(len(input), dtype=dtype, device=input.device)
        for start in range(0, len(input), size):
            chunk = slice(start, start + size)
            scores = _scores(input[chunk], linear_weight, bias, dtype)
            losses[chunk] = _loss_and_gradient(scores, classes[chunk], scale[chunk])[0]
        return losses.to(input.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        input, linear_weight, bias, target, weight = ctx.saved_tensors
        dtype, size = ctx.options.acc_dtype, ctx.options.batch_chunk_size
        scale = _scale_of_examples(target, weight, ctx.ignore_index, dtype) * grad.to(dtype)
        classes = target.where(target != ctx.ignore_index, 0)
        grads = _zeros_for(ctx, (input, linear_weight, bias), dtype)
        for start in range(0, len(input), size):
            chunk = slice(start, start + size)
            scores = _scores(input[chunk], linear_weight, bias, dtype)
            G = _loss_and_gradient(scores, classes[chunk], scale[chunk])[1]
            _add_gradients(grads, chunk, G, input[chunk], linear_weight)
        found = [None if g is None else g.to(input.dtype if place == 0 else linear_weight.dtype)
                 for place, g in enumerate(grads)]  # fmt: skip
        return *found, None, None, None, None
